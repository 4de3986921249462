/* Chunks: a segment of the live file holds one, until it is full and is appended to the spool file.
 *
 * Should the process be killed, the chunk is in the live file, in the spool file, or in both.  A thread that keeps its
 * last chunks only has a ring of segments, which are not spooled before it ends. */
#include <string.h>
#include <time.h>

#include "counters/live_internal.h"
#include "counters/live_regions.h"
#include "platform/system.h"
#include "process/process.h"
#include "trace/streams.h"

static uint64_t monotonic(void) {
    struct timespec now = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

size_t trodden_trace_segment_bytes(void) {
    return trodden_process.trace.ring ? TRODDEN_TRACE_RING_SEGMENT : TRODDEN_TRACE_SEGMENT;
}

static bool has_stopped(void) { return __atomic_load_n(&trodden_process.trace.stopped, __ATOMIC_ACQUIRE); }

void trodden_trace_stop(enum trodden_trace_reason reason) {
    uint32_t running = TRODDEN_TRACE_RUNNING;
    if (__atomic_compare_exchange_n(&trodden_process.trace.stopped, &running, reason, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED) &&
        trodden_process.live) {
        trodden_process.live->trace_stopped = reason;
        trodden_live_write_header(trodden_process.live);
    }
}

/* ---- segments ---- */
static bool allocate(struct trodden_trace_stream *stream) {
    size_t bytes = trodden_trace_segment_bytes();
    uint32_t count = trodden_process.trace.ring ? stream->segment_count : 1, i = 0;
    while (i < stream->segment_count && stream->segments[i].chunk)
        i++;
    uint8_t *memory =
        i < stream->segment_count ? trodden_live_alloc_adjacent(TRODDEN_REGION_TRACE, 0, bytes, count) : NULL;
    for (uint32_t k = 0; memory && k < count; k++)
        stream->segments[i + k].chunk = (struct trodden_trace_chunk *)(memory + k * bytes);
    return memory;
}

/* The one that is free, or has the oldest chunk. */
static struct trodden_trace_segment *oldest(struct trodden_trace_stream *stream) {
    struct trodden_trace_segment *found = NULL;
    for (uint32_t i = 0; i < stream->segment_count; i++) {
        struct trodden_trace_segment *each = &stream->segments[i];
        if (each->chunk && !each->in_use && (!found || (found->chunk->magic[0] && (!each->chunk->magic[0] ||
                                                                   each->chunk->sequence < found->chunk->sequence))))
            found = each;
    }
    return found;
}

static struct trodden_trace_segment *take_segment(struct trodden_trace_stream *stream) {
    struct trodden_trace_segment *segment = oldest(stream);
    if (!segment && allocate(stream))
        segment = oldest(stream);
    return segment;
}

void trodden_trace_clear(struct trodden_trace_chunk *chunk, const uint8_t *next) {
    const uint8_t *limit = (uint8_t *)chunk + trodden_trace_segment_bytes();
    const uint8_t *end = next + TRODDEN_TRACE_TAIL < limit ? next + TRODDEN_TRACE_TAIL : limit;
    __atomic_store_n(&chunk->magic[0], 0, __ATOMIC_RELEASE);
    memset(chunk, 0, (size_t)(end - (uint8_t *)chunk));
}

/* ---- the end of a chunk ---- */
uint8_t *trodden_trace_true_end(const struct trodden_trace_level *level, uint8_t *next) {
    return level->segment
               ? trodden_trace_end_of(next, (uint8_t *)level->segment->chunk + trodden_trace_segment_bytes())
               : next;
}

static size_t bytes_of(const struct trodden_trace_chunk *chunk, const uint8_t *next) {
    return ((size_t)(next - (uint8_t *)chunk) + 7) & ~(size_t)7;
}

static bool reaches_limit(size_t bytes) {
    const struct trodden_trace_process *trace = &trodden_process.trace;
    return trace->limit && __atomic_load_n(&trace->spooled, __ATOMIC_RELAXED) + bytes >= trace->limit;
}

static uint8_t *append_event(uint8_t *next, uint8_t kind, uint64_t value) {
    next[1] = kind;
    memcpy(next + 2, &value, sizeof value);
    __atomic_store_n(next, TRODDEN_TRACE_EVENT, __ATOMIC_RELEASE);
    return next + TRODDEN_TRACE_EVENT_BYTES;
}

/* A page that was lost may have taken the header with it. */
static bool is_chunk(const struct trodden_trace_chunk *chunk) {
    return memcmp(chunk->magic, TRODDEN_TRACE_CHUNK_MAGIC, sizeof chunk->magic) == 0;
}

void trodden_trace_end_chunk(struct trodden_trace_stream *stream, struct trodden_trace_level *level, uint8_t *next,
                             uint32_t flags) {
    struct trodden_trace_segment *segment = level->segment;
    struct trodden_trace_process *trace = &trodden_process.trace;
    if (!segment)
        return;
    struct trodden_trace_chunk *chunk = segment->chunk;
    bool usable = is_chunk(chunk);
    level->segment = NULL;
    if (usable && trodden_live_has_lost_pages()) {
        uint8_t *end = trodden_trace_end_of(trodden_trace_records(chunk), next);
        stream->lost = stream->lost || end != next;
        next = end;
    }
    if (!usable) {
        stream->lost = true;
    } else if (!trace->ring && !has_stopped() && !(flags & TRODDEN_TRACE_LAST) && reaches_limit(bytes_of(chunk, next))) {
        trodden_trace_stop(TRODDEN_TRACE_LIMIT);
    }
    if (usable && has_stopped())
        next = append_event(next, TRODDEN_TRACE_STOPPED, trace->stopped);
    chunk->flags |= flags;
    chunk->ended = monotonic();
    chunk->length = (uint32_t)(next - trodden_trace_records(chunk));
    bool kept = trace->ring, spools = usable && !kept && (!has_stopped() || trace->stopped == TRODDEN_TRACE_LIMIT);
    if (spools)
        kept = !trodden_trace_spool(chunk, bytes_of(chunk, next));
    if (!kept && (spools || !usable))
        trodden_trace_clear(chunk, next);
    /* What could not be spooled stays in the live file. */
    segment->in_use = !trace->ring && chunk->magic[0];
}

void trodden_trace_copy_chunk(struct trodden_trace_level *level, const uint8_t *next) {
    struct trodden_trace_chunk *chunk = level->segment ? level->segment->chunk : NULL;
    if (!chunk || !is_chunk(chunk))
        return;
    uint32_t flags = chunk->flags;
    chunk->flags |= TRODDEN_TRACE_PARTIAL;
    chunk->ended = monotonic();
    chunk->length = (uint32_t)(next - trodden_trace_records(chunk));
    trodden_trace_spool(chunk, bytes_of(chunk, next));
    chunk->length = 0;
    chunk->ended = 0;
    chunk->flags = flags;
}

/* ---- the next chunk ---- */
/* The last chunk before the limit is a short one. */
static uint8_t *end_of_cursor(const struct trodden_trace_chunk *chunk) {
    const struct trodden_trace_process *trace = &trodden_process.trace;
    uint8_t *end = (uint8_t *)chunk + trodden_trace_segment_bytes() - TRODDEN_TRACE_TAIL, *records = trodden_trace_records(chunk);
    uint64_t spooled = __atomic_load_n(&trace->spooled, __ATOMIC_RELAXED);
    if (trace->limit && !trace->ring && trace->limit < spooled + (uint64_t)(end - (uint8_t *)chunk)) {
        uint64_t left = trace->limit > spooled ? trace->limit - spooled : 0;
        end = (uint8_t *)chunk + left > records ? (uint8_t *)chunk + left : records;
    }
    return end;
}

static void find_parent(const struct trodden_trace_stream *stream, struct trodden_trace_chunk *chunk) {
    for (uint32_t below = stream->level; below-- > 0;) {
        const struct trodden_trace_level *level = &stream->levels[below];
        if (level->segment) {
            chunk->parent = level->segment->chunk->sequence;
            chunk->offset = (uint64_t)(trodden_trace_true_end(level, level->interrupted.next) -
                                       trodden_trace_records(level->segment->chunk));
            return;
        }
    }
    chunk->parent = UINT64_MAX;
}

static void begin_chunk(struct trodden_trace_stream *stream, struct trodden_trace_segment *segment,
                        const struct trodden_trace_start *start) {
    struct trodden_trace_level *level = &stream->levels[stream->level];
    struct trodden_trace_chunk *chunk = segment->chunk;
    chunk->thread = stream->thread;
    chunk->level = stream->level;
    chunk->sequence = stream->sequence++;
    chunk->began = monotonic();
    chunk->function = start->function;
    chunk->location = start->location;
    chunk->frames = start->frames;
    chunk->flags = start->flags | (stream->lost ? TRODDEN_TRACE_LOST_BEFORE : 0) |
                   (stream->begun ? 0 : TRODDEN_TRACE_FIRST) |
                   (stream->level && !level->begun ? TRODDEN_TRACE_HANDLER : 0);
    if (stream->level) {
        chunk->signal = level->signal;
        chunk->pc = level->pc;
        find_parent(stream, chunk);
    }
    memcpy(chunk + 1, stream->frames, start->frames * sizeof *stream->frames);
    memcpy(chunk->magic + 1, &TRODDEN_TRACE_CHUNK_MAGIC[1], sizeof chunk->magic - 1);
    __atomic_store_n(&chunk->magic[0], TRODDEN_TRACE_CHUNK_MAGIC[0], __ATOMIC_RELEASE);
    segment->in_use = level->begun = stream->begun = true;
    stream->lost = false;
    level->segment = segment;
    level->end = end_of_cursor(chunk);
}

void trodden_trace_turn(struct trodden_trace_stream *stream, const struct trodden_trace_start *start) {
    struct trodden_trace_level *level = &stream->levels[stream->level];
    struct trodden_trace_cursor *cursor = stream->cursor;
    size_t in_scratch = (size_t)(cursor->next - level->scratch);
    uint8_t first[sizeof level->scratch];
    if (level->segment || in_scratch > sizeof first)
        in_scratch = 0;
    memcpy(first, level->scratch, in_scratch);
    trodden_trace_end_chunk(stream, level, cursor->next, 0);
    struct trodden_trace_segment *segment = has_stopped() || stream->finished ? NULL : take_segment(stream);
    if (!segment) {
        stream->lost = true;
        if (!stream->finished)
            trodden_trace_stop(TRODDEN_TRACE_NO_MEMORY);
        trodden_trace_to_sink(stream);
        return;
    }
    if (segment->chunk->magic[0])
        trodden_trace_clear(segment->chunk, trodden_trace_records(segment->chunk) + segment->chunk->length);
    begin_chunk(stream, segment, start);
    uint8_t *records = trodden_trace_records(segment->chunk);
    memcpy(records, first, in_scratch);
    *cursor = (struct trodden_trace_cursor){records + in_scratch, level->end};
}

/* ---- records of the runtime's own ---- */
uint8_t *trodden_trace_reserve(struct trodden_trace_stream *stream, size_t bytes) {
    static const struct trodden_trace_start start = {TRODDEN_TRACE_NO_FUNCTION, 0, 0, TRODDEN_TRACE_DEPENDENT};
    const struct trodden_trace_level *level = &stream->levels[stream->level];
    if (!level->segment || trodden_trace_has_room(stream, bytes))
        return level->segment ? stream->cursor->next : NULL;
    trodden_trace_turn(stream, &start);
    if (level->segment && !trodden_trace_has_room(stream, bytes)) {
        trodden_trace_stop(TRODDEN_TRACE_LIMIT);
        trodden_trace_turn(stream, &start);
    }
    return level->segment ? stream->cursor->next : NULL;
}

void trodden_trace_commit(struct trodden_trace_stream *stream, uint8_t tag, size_t bytes) {
    uint8_t *at = stream->cursor->next;
    __atomic_store_n(at, tag, __ATOMIC_RELEASE);
    __atomic_store_n(&stream->cursor->next, at + bytes, __ATOMIC_RELEASE);
}

void trodden_trace_event(struct trodden_trace_stream *stream, uint8_t kind, uint64_t value) {
    uint8_t *at = trodden_trace_reserve(stream, TRODDEN_TRACE_EVENT_BYTES);
    if (!at)
        return;
    at[1] = kind;
    memcpy(at + 2, &value, sizeof value);
    trodden_trace_commit(stream, TRODDEN_TRACE_EVENT, TRODDEN_TRACE_EVENT_BYTES);
}
