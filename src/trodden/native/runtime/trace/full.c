/* What instrumented code calls when its cursor is at the end.
 *
 * It may be anywhere in the program, also in a signal handler.  While it waits, for the lock or for whoever reads the
 * spool file, signals are those of the program; a handler may jump out, or fork.  Only then does anything change. */
#include <errno.h>

#include "counters/early_counts.h"
#include "platform/system.h"
#include "process/process.h"
#include "trace/streams.h"

static uint8_t shared_sink[TRODDEN_TRACE_SINK]; /* of threads without a trace */

static bool is_full(const struct trodden_trace_cursor *cursor) { return cursor->next >= cursor->end; }

/* A thread that forks holds the lock, and handlers of the program for that may run meanwhile. */
static bool forks(void) {
    return __atomic_load_n(&trodden_process.region_owner, __ATOMIC_RELAXED) == trodden_thread_pointer();
}

/* Blocks all signals; returns the mask to restore.  The first chunk of a thread or a handler has no frames. */
static uint64_t find_start(struct trodden_trace_stream *stream, const struct trodden_regs *regs,
                           struct trodden_trace_start *start) {
    if (!stream->levels[stream->level].segment)
        return trodden_block_signals();
    if (forks()) {
        start->function = TRODDEN_TRACE_NO_FUNCTION;
        start->flags = TRODDEN_TRACE_DEPENDENT;
        return trodden_block_signals();
    }
    uint64_t mask = trodden_lock_with_images(trodden_images_generation());
    if (is_full(stream->cursor)) {
        start->flags = trodden_trace_find_frames(stream, regs, false, 1, TRODDEN_TRACE_USUAL_FRAMES);
        start->frames = stream->frame_count;
    }
    trodden_unlock_blocked();
    return mask;
}

static void turn_chunk(struct trodden_trace_stream *stream, const struct trodden_regs *regs, uint32_t function,
                       uint64_t location) {
    struct trodden_trace_start start = {.function = function, .location = (uint32_t)location};
    uint64_t mask = find_start(stream, regs, &start);
    if (!stream->levels[stream->level].segment)
        start = (struct trodden_trace_start){.function = TRODDEN_TRACE_NO_FUNCTION};
    if (is_full(stream->cursor))
        trodden_trace_turn(stream, &start);
    trodden_restore_signals(mask);
}

void __trodden_trace_next(struct trodden_trace_cursor *cursor, const struct trodden_regs *regs, uint32_t function,
                          uint64_t location) {
    int saved_errno = errno;
    struct trodden_trace_stream *stream = trodden_trace_own();
    if (!stream || stream->cursor != cursor) {
        trodden_process.trace.lost = 1;
        *cursor = (struct trodden_trace_cursor){shared_sink, shared_sink + sizeof shared_sink - TRODDEN_TRACE_TAIL};
    } else if (__atomic_load_n(&trodden_process.trace.stopped, __ATOMIC_ACQUIRE) &&
               !stream->levels[stream->level].segment) {
        trodden_trace_to_sink(stream);
    } else {
        trodden_trace_wait_for_drainer();
        turn_chunk(stream, regs, function, location);
    }
    errno = saved_errno;
}

/* A function that is called before its unit is registered has no number yet; while an ifunc resolver runs, nothing of
 * its unit can be read. */
TRODDEN_PRESERVE_MOST void __trodden_trace_full(const struct trodden_unit *unit, uint64_t function, uint64_t location) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    if (trodden_early_trace_full())
        return;
    uint64_t token = unit->tokens[function];
    struct trodden_trace_cursor *cursor = unit->trace();
    if (token == TRODDEN_TRACE_UNKNOWN_TOKEN && cursor->end == trodden_no_trace)
        cursor->next = trodden_no_trace;
    else
        __trodden_trace_next(cursor, &regs, trodden_trace_number(token), location);
}
