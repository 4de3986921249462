/* The active frames of a thread, for the header of a chunk and for SYNC records. */
#include <string.h>

#include "platform/system.h"
#include "process/process.h"
#include "trace/streams.h"
#include "unwind/frame_step.h"

struct trodden_walk *trodden_trace_walk(struct trodden_trace_stream *stream) {
    if (!stream->walk)
        stream->walk = trodden_map(sizeof *stream->walk);
    return stream->walk;
}

uint32_t trodden_trace_most_frames(void) {
    size_t fit = trodden_trace_segment_bytes() / 2 / sizeof(struct trodden_trace_frame);
    return fit < TRODDEN_TRACE_MAX_FRAMES ? (uint32_t)fit : TRODDEN_TRACE_MAX_FRAMES;
}

static bool append(struct trodden_trace_stream *stream, uintptr_t pc, uint32_t most) {
    const struct trodden_module *module = trodden_module_of(pc);
    if (!module)
        return true;
    if (stream->frame_count == most)
        return false;
    stream->frames[stream->frame_count++] = (struct trodden_trace_frame){module->index, 0, pc - module->bias};
    return true;
}

uint32_t trodden_trace_find_frames(struct trodden_trace_stream *stream, const struct trodden_regs *regs, bool innermost,
                                   uint32_t skip, uint32_t most) {
    struct trodden_walk *walk = trodden_trace_walk(stream);
    bool own = true;
    stream->frame_count = 0;
    stream->stack = 0;
    if (!walk)
        return TRODDEN_TRACE_FRAMES_CUT;
    trodden_walk_start(walk, regs);
    walk->interrupted = !innermost;
    for (uint32_t depth = innermost; depth < TRODDEN_MAX_FRAMES; depth++) {
        if (depth > 1 && walk->interrupted && stream->level)
            own = false;
        if (own && depth > skip && !append(stream, walk->regs.pc, most))
            return TRODDEN_TRACE_FRAMES_CUT;
        enum trodden_step step = trodden_walk_describe(walk);
        if (step == TRODDEN_STEPPED)
            step = trodden_walk_step(walk);
        else if (step == TRODDEN_OUTERMOST && own && stream->frame_count && depth > skip &&
                 trodden_module_of(walk->regs.pc))
            stream->frame_count--; /* it started the program or the thread */
        if (step == TRODDEN_OUTERMOST) {
            stream->stack = walk->regs.r[TRODDEN_SP];
            return 0;
        }
        if (step != TRODDEN_STEPPED)
            break;
    }
    return own ? TRODDEN_TRACE_FRAMES_CUT : 0;
}

void trodden_trace_sync(struct trodden_trace_stream *stream, const struct trodden_regs *regs, bool innermost,
                        uint32_t skip, uint64_t left) {
    uint32_t cut = 0;
    stream->frame_count = 0;
    stream->stack = 0;
    if (!stream->levels[stream->level].segment)
        return;
    if (regs)
        cut = trodden_trace_find_frames(stream, regs, innermost, skip, trodden_trace_most_frames())
                  ? TRODDEN_TRACE_CUT_OFF
                  : 0;
    size_t bytes = TRODDEN_TRACE_SYNC_BYTES + (size_t)12 * stream->frame_count;
    uint8_t *at = trodden_trace_reserve(stream, bytes);
    if (!at)
        return;
    uint32_t count = stream->frame_count | cut;
    uint64_t stacks[] = {left == TRODDEN_TRACE_SAME_STACK ? stream->stack : left, stream->stack};
    memcpy(at + 1, &count, sizeof count);
    memcpy(at + 5, stacks, sizeof stacks);
    for (uint32_t i = 0; i < stream->frame_count; i++) {
        memcpy(at + TRODDEN_TRACE_SYNC_BYTES + (size_t)12 * i, &stream->frames[i].module, sizeof(uint32_t));
        memcpy(at + TRODDEN_TRACE_SYNC_BYTES + (size_t)12 * i + 4, &stream->frames[i].address, sizeof(uint64_t));
    }
    trodden_trace_commit(stream, TRODDEN_TRACE_SYNC, bytes);
}
