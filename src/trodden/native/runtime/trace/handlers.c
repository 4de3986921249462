/* Signal handlers of the program: each records into a chunk of its own.
 *
 * The interrupted code may be about to store a record, and may even keep its cursor in a register.  Therefore it finds
 * everything as it was when the handler returns.  A handler that has recorded nothing costs no chunk. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <ucontext.h>

#include "platform/system.h"
#include "process/process.h"
#include "trace/streams.h"
#include "unwind/registers.h"

static void describe_handler(struct trodden_trace_level *level, int number, const ucontext_t *context,
                             const struct trodden_trace_gate *gate) {
    struct trodden_regs regs;
    uintptr_t stack = (uintptr_t)context->uc_stack.ss_sp, here = (uintptr_t)gate;
    trodden_regs_from_ucontext(context, &regs);
    level->segment = NULL;
    level->begun = false;
    level->pc = regs.pc;
    level->sp = regs.r[TRODDEN_SP];
    level->signal = (uint32_t)number;
    level->low = here - stack < context->uc_stack.ss_size ? stack : 0;
    level->high = here;
}

void trodden_trace_enter_handler(struct trodden_trace_gate *gate, int number, const void *context) {
    struct trodden_trace_stream *stream = gate->stream;
    if (!stream->cursor) {
        gate->stream = NULL;
        return;
    }
    int saved_errno = errno;
    uint64_t mask = trodden_block_signals();
    gate->interrupted = *stream->cursor;
    gate->level = stream->level + 1 < TRODDEN_TRACE_LEVELS ? stream->level + 1 : 0;
    if (gate->level) {
        stream->levels[stream->level].interrupted = gate->interrupted;
        describe_handler(&stream->levels[gate->level], number, context, gate);
        stream->level = gate->level;
        trodden_trace_to_scratch(stream);
    } else {
        stream->lost = true;
        trodden_process.trace.lost = 1;
        trodden_trace_to_sink(stream);
    }
    trodden_restore_signals(mask);
    errno = saved_errno;
}

/* Ends the chunks of all handlers above that level. */
static void end_handlers(struct trodden_trace_stream *stream, uint32_t level) {
    for (uint8_t *next = stream->cursor->next; stream->level > level; next = stream->levels[stream->level].interrupted.next) {
        struct trodden_trace_level *own = &stream->levels[stream->level];
        trodden_trace_end_chunk(stream, own, trodden_trace_true_end(own, next), 0);
        stream->level--;
    }
}

/* The handler has returned, perhaps in another thread, or after one that had interrupted it and has switched to another
 * stack: then it is not known what the interrupted code will store, and where. */
void trodden_trace_leave_handler(const struct trodden_trace_gate *gate) {
    struct trodden_trace_stream *stream = gate->stream;
    int saved_errno = errno;
    uint64_t mask = trodden_block_signals();
    if (stream != trodden_trace_own() || stream->level < gate->level) {
        stream->lost = true;
        trodden_process.trace.lost = 1;
    } else {
        if (gate->level)
            end_handlers(stream, gate->level - 1);
        *stream->cursor = gate->interrupted;
    }
    trodden_restore_signals(mask);
    errno = saved_errno;
}

/* What the interrupted code had begun to store must not be taken for records that follow. */
void trodden_trace_to_true_end(struct trodden_trace_stream *stream) {
    const struct trodden_trace_level *own = &stream->levels[stream->level];
    if (!own->segment) {
        trodden_trace_to_scratch(stream);
        return;
    }
    uint8_t *next = trodden_trace_true_end(own, stream->cursor->next);
    const uint8_t *limit = (uint8_t *)own->segment->chunk + trodden_trace_segment_bytes();
    memset(next, 0, limit - next < TRODDEN_TRACE_MARGIN ? (size_t)(limit - next) : TRODDEN_TRACE_MARGIN);
    stream->cursor->next = next;
}

void trodden_trace_land(struct trodden_trace_stream *stream, uint32_t level, bool exactly) {
    if (level == stream->level)
        return;
    end_handlers(stream, level);
    *stream->cursor = stream->levels[level].interrupted;
    if (!exactly)
        trodden_trace_to_true_end(stream);
}
