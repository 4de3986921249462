/* The end of a thread's trace, and of all of them: what is still in segments is spooled. */
#include "platform/system.h"
#include "process/process.h"
#include "trace/streams.h"

/* In the order in which they began. */
static void spool_ring(struct trodden_trace_stream *stream, bool keep) {
    for (uint64_t from = 0;;) {
        struct trodden_trace_chunk *next = NULL;
        for (uint32_t i = 0; i < stream->segment_count; i++) {
            struct trodden_trace_chunk *each = stream->segments[i].chunk;
            if (each && each->magic[0] && each->ended && each->sequence >= from &&
                (!next || each->sequence < next->sequence))
                next = each;
        }
        if (!next)
            return;
        from = next->sequence + 1;
        trodden_trace_spool(next, ((size_t)(trodden_trace_records(next) - (uint8_t *)next) + next->length + 7) & ~(size_t)7);
        if (!keep)
            trodden_trace_clear(next, trodden_trace_records(next) + next->length);
    }
}

/* Where the records of a level end: of the innermost one, the cursor is in use. */
static uint8_t *next_of(const struct trodden_trace_stream *stream, uint32_t level) {
    const struct trodden_trace_level *own = &stream->levels[level];
    return trodden_trace_true_end(own, level == stream->level ? stream->cursor->next : own->interrupted.next);
}

void trodden_trace_close(struct trodden_trace_stream *stream) {
    for (uint32_t level = stream->level + 1; level-- > 0;)
        trodden_trace_end_chunk(stream, &stream->levels[level], next_of(stream, level), level ? 0 : TRODDEN_TRACE_LAST);
    if (trodden_process.trace.ring)
        spool_ring(stream, false);
}

/* A thread that could not be stopped may be in the middle of the runtime. */
static void copy_chunks(struct trodden_trace_stream *stream, bool stopped) {
    for (uint32_t level = 0; level <= stream->level; level++) {
        struct trodden_trace_level *own = &stream->levels[level];
        if (own->segment && stopped)
            trodden_trace_copy_chunk(own, next_of(stream, level));
    }
    if (trodden_process.trace.ring && stopped)
        spool_ring(stream, true);
}

void trodden_trace_write(bool final) {
    uintptr_t own_tp = trodden_thread_pointer();
    if (!trodden_process.trace.active)
        return;
    for (const struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next) {
        struct trodden_trace_stream *stream = thread->trace;
        bool stopped = thread->tp == own_tp || thread->stopped_at || thread->ending;
        if (!stream || !stream->cursor)
            continue;
        if (!stopped)
            trodden_process.trace.lost = 1;
        if (final && stopped) {
            trodden_trace_close(stream);
            stream->finished = true;
            /* A thread that is resumed may have its cursor in a register: it finds that there is no more room. */
            __atomic_store_n(&stream->cursor->end, NULL, __ATOMIC_RELEASE);
        } else {
            copy_chunks(stream, stopped);
        }
    }
}
