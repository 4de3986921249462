/* Frames that an unwinder leaves, one after the other, in the trace; and where control goes on. */
#include <errno.h>

#include "platform/system.h"
#include "process/process.h"
#include "trace/streams.h"
#include "unwind/nonlocal_exits.h"

/* The handlers that the frame with that stack pointer does not belong to have been left. */
static uint32_t level_of(const struct trodden_trace_stream *stream, uint64_t sp) {
    uint32_t level = stream->level;
    while (level && !trodden_trace_contains(&stream->levels[level], sp))
        level--;
    return level;
}

/* A frame that was interrupted by a signal without a handler of the program, such as the one that cancels a thread, may
 * have been about to advance the cursor. */
static void record_sync(struct trodden_trace_stream *stream, const struct trodden_regs *regs, uint32_t level,
                        bool lands) {
    uint64_t mask = trodden_lock_with_images(trodden_images_generation());
    if (level == stream->level)
        trodden_trace_to_true_end(stream);
    trodden_trace_land(stream, level, false);
    trodden_trace_sync(stream, regs, true, lands ? 0 : 1, TRODDEN_TRACE_SAME_STACK);
    trodden_unlock(mask);
}

void trodden_trace_unwound(const struct trodden_regs *regs, bool interrupted, bool lands) {
    struct trodden_trace_stream *stream = trodden_trace_own();
    if (!stream)
        return;
    int saved_errno = errno;
    uint32_t level = level_of(stream, regs->r[TRODDEN_SP]);
    if (level != stream->level || (interrupted && !lands)) {
        record_sync(stream, regs, level, lands);
    } else if (!lands && trodden_trace_has_room(stream, TRODDEN_TRACE_LEFT_BYTES)) {
        trodden_trace_left(stream, regs->pc);
    } else if (!lands) {
        uint64_t mask = trodden_block_signals();
        trodden_trace_left(stream, regs->pc);
        trodden_restore_signals(mask);
    }
    errno = saved_errno;
}
