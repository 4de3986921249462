/* The trace of a forked child, whose segments and spool file are its own.
 *
 * The thread that has forked goes on with a chunk that has its active frames.  If it forked in a signal handler, what
 * the handler has interrupted finds its segment as it was, with what the parent had recorded there. */
#include <string.h>

#include "process/process.h"
#include "trace/streams.h"

static struct trodden_trace_segment *own_segment_at(const struct trodden_trace_stream *stream, const void *memory) {
    for (uint32_t i = 0; stream && i < stream->segment_count; i++)
        if (stream->segments[i].chunk == memory)
            return &stream->segments[i];
    return NULL;
}

/* Is it the segment of an interrupted level? */
static bool is_interrupted(const struct trodden_trace_stream *stream, const struct trodden_trace_segment *segment) {
    for (uint32_t level = 0; level < stream->level; level++)
        if (stream->levels[level].segment == segment)
            return true;
    return false;
}

bool trodden_trace_keeps(const void *memory) { return own_segment_at(trodden_trace_own(), memory); }

bool trodden_trace_is_empty(const void *memory) {
    const struct trodden_trace_stream *stream = trodden_trace_own();
    const struct trodden_trace_segment *segment = own_segment_at(stream, memory);
    return !segment || !is_interrupted(stream, segment);
}

static void forget_segments(struct trodden_trace_stream *stream) {
    for (uint32_t i = 0; i < stream->segment_count; i++)
        stream->segments[i] = (struct trodden_trace_segment){.chunk = NULL};
}

static void inherit(struct trodden_trace_stream *stream, struct trodden_trace_level *level) {
    struct trodden_trace_chunk *chunk = level->segment->chunk;
    chunk->sequence = stream->sequence++;
    chunk->flags = (chunk->flags & ~(uint32_t)TRODDEN_TRACE_FIRST) | TRODDEN_TRACE_CHILD |
                   (stream->begun ? 0 : TRODDEN_TRACE_FIRST);
    chunk->parent = stream->begun ? stream->sequence - 2 : UINT64_MAX;
    chunk->inherited =
        (uint32_t)(trodden_trace_true_end(level, level->interrupted.next) - trodden_trace_records(chunk));
    stream->begun = true;
}

void trodden_trace_after_fork(const struct trodden_regs *regs) {
    struct trodden_trace_process *trace = &trodden_process.trace;
    struct trodden_trace_stream *own = trodden_trace_own();
    if (!trace->active)
        return;
    trace->stopped = trace->lost = 0;
    trace->spooled = 0;
    trodden_trace_spool_after_fork();
    for (struct trodden_trace_stream *stream = trace->streams; stream; stream = stream->next)
        if (stream != own) {
            stream->cursor = NULL;
            forget_segments(stream);
        }
    if (!own)
        return;
    struct trodden_trace_level *level = &own->levels[own->level];
    own->sequence = 0;
    own->begun = own->lost = false;
    for (uint32_t below = 0; below < own->level; below++)
        if (own->levels[below].segment)
            inherit(own, &own->levels[below]);
    for (uint32_t i = 0; i < own->segment_count; i++) {
        struct trodden_trace_segment *segment = &own->segments[i];
        if (segment->chunk && !is_interrupted(own, segment)) {
            segment->in_use = false;
            if (segment->chunk->magic[0]) /* there was no memory for another mapping */
                memset(segment->chunk, 0, trodden_trace_segment_bytes());
        }
    }
    level->segment = NULL;
    if ((size_t)(own->cursor->next - level->scratch) < sizeof level->scratch)
        return;
    struct trodden_trace_start start = {.function = TRODDEN_TRACE_NO_FUNCTION, .flags = TRODDEN_TRACE_CHILD};
    start.flags |= trodden_trace_find_frames(own, regs, false, 0, trodden_trace_most_frames());
    start.frames = own->frame_count;
    trodden_trace_turn(own, &start);
}

void trodden_trace_forked(uint32_t child) {
    struct trodden_trace_stream *stream = child ? trodden_trace_own() : NULL;
    if (stream)
        trodden_trace_event(stream, TRODDEN_TRACE_FORKED, child);
}
