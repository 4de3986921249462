/* The traces of threads: which of them there are, and numbers for functions.
 *
 * A thread that is known has a stream from its start; it gets a segment with its first record.  The stream of a thread
 * that has exited is used again with the record of the thread (process/threads.c).  One whose start was not observed
 * writes to a sink. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "counters/live_file.h"
#include "platform/system.h"
#include "process/output_file.h"
#include "process/process.h"
#include "trace/streams.h"

uint8_t trodden_no_trace[2 * TRODDEN_TRACE_MARGIN];

enum { MIN_RING = 4, FULL_BACKLOG = 256 << 20 };
#define MOST_BYTES ((uint64_t)1 << 62)

struct trodden_trace_stream *trodden_trace_own(void) {
    struct trodden_thread *thread = trodden_process.trace.active ? trodden_own_thread() : NULL;
    return thread && thread->trace && thread->trace->cursor ? thread->trace : NULL;
}

static void set_cursor(struct trodden_trace_stream *stream, uint8_t *next, uint8_t *end) {
    __atomic_store_n(&stream->cursor->end, end, __ATOMIC_RELAXED);
    __atomic_store_n(&stream->cursor->next, next, __ATOMIC_RELEASE);
}

void trodden_trace_to_sink(struct trodden_trace_stream *stream) {
    set_cursor(stream, stream->sink, stream->sink + TRODDEN_TRACE_SINK - TRODDEN_TRACE_TAIL);
}

void trodden_trace_to_scratch(struct trodden_trace_stream *stream) {
    uint8_t *scratch = stream->levels[stream->level].scratch;
    memset(scratch, 0, sizeof stream->levels->scratch);
    set_cursor(stream, scratch, scratch);
}

/* ---- what the environment asks for ---- */
static unsigned shift_of(char unit) {
    switch (unit | 0x20) {
    case 'k': return 10;
    case 'm': return 20;
    case 'g': return 30;
    default: return 0;
    }
}

/* A number of bytes, perhaps with a unit: K, M or G.  0: there is none. */
static uint64_t number_in(const char *name) {
    const char *value = secure_getenv(name);
    char *end = NULL;
    if (!value || !*value)
        return 0;
    uint64_t number = *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : UINT64_MAX;
    unsigned shift = end ? shift_of(*end) : 0;
    if (number < MOST_BYTES >> shift && !end[shift != 0])
        return number << shift;
    trodden_output_say((const char *[]){name, "=", value, " is no size, such as 16M; the trace is kept as without it\n"}, 4);
    return 0;
}

static void read_settings(void) {
    struct trodden_trace_process *trace = &trodden_process.trace;
    uint64_t ring = number_in("TRODDEN_TRACE_RING"), drained = number_in("TRODDEN_TRACE_DRAINED");
    trace->limit = number_in("TRODDEN_TRACE_LIMIT");
    if (ring)
        trace->ring = ring / TRODDEN_TRACE_RING_SEGMENT > MIN_RING ? ring / TRODDEN_TRACE_RING_SEGMENT : MIN_RING;
    if (ring && ring < MIN_RING * TRODDEN_TRACE_RING_SEGMENT)
        trodden_output_say((const char *[]){"TRODDEN_TRACE_RING is too small; each thread keeps 256K\n"}, 1);
    trace->backlog = drained == 1 ? FULL_BACKLOG : drained;
}

/* ---- modules ---- */
/* Functions keep their numbers when their library is loaded again. */
static void number_functions(struct trodden_module_unit *unit) {
    struct trodden_trace_process *trace = &trodden_process.trace;
    uint64_t count = unit->unit->functions;
    if (!unit->traced) {
        if (count > TRODDEN_TRACE_MAX_FUNCTIONS - trace->functions)
            return;
        unit->traced = true;
        unit->first_function = trace->functions;
        trace->functions += (uint32_t)count;
    }
    for (uint64_t i = 0; i < count; i++)
        unit->unit->tokens[i] = trodden_trace_token(unit->first_function + (uint32_t)i);
}

/* The module has been loaded by the calling thread, perhaps not for the first time.  Where two modules have variables
 * of their own, no thread has one trace: then the later one records none. */
void trodden_trace_attach_module(struct trodden_module *module) {
    struct trodden_trace_process *trace = &trodden_process.trace;
    for (uint32_t i = 0; i < module->unit_count; i++) {
        struct trodden_module_unit *unit = &module->units[i];
        if (!unit->unit->trace)
            continue;
        intptr_t offset = (intptr_t)((uintptr_t)unit->unit->trace() - trodden_thread_pointer());
        if (!trace->active) {
            read_settings();
            trace->cursor_offset = offset;
            trace->active = true;
            trodden_trace_spool_open();
        }
        if (offset != trace->cursor_offset) {
            trace->lost = 1;
            continue;
        }
        module->has_trace = true;
        number_functions(unit);
        if (module->live)
            module->live->units[i].first_function = unit->traced ? unit->first_function + 1 : 0;
    }
    for (struct trodden_thread *thread = trodden_process.threads; module->has_trace && thread; thread = thread->next)
        if (thread->tp)
            trodden_trace_attach_thread(thread);
}

/* ---- threads ---- */
static struct trodden_trace_stream *new_stream(void) {
    struct trodden_trace_process *trace = &trodden_process.trace;
    uint64_t count = trace->ring ? trace->ring : TRODDEN_TRACE_LEVELS;
    struct trodden_trace_stream *stream = trodden_map(sizeof *stream + count * sizeof *stream->segments);
    if (!stream)
        return NULL;
    stream->segments = (struct trodden_trace_segment *)(stream + 1);
    stream->segment_count = (uint32_t)count;
    stream->next = trace->streams;
    trace->streams = stream;
    return stream;
}

void trodden_trace_attach_thread(struct trodden_thread *thread) {
    if (!trodden_process.trace.active || (thread->trace && thread->trace->cursor))
        return;
    if (!thread->trace && !(thread->trace = new_stream())) {
        trodden_process.trace.lost = 1;
        return;
    }
    struct trodden_trace_stream *stream = thread->trace;
    stream->thread = thread->number;
    stream->level = 0;
    stream->sequence = 0;
    stream->begun = stream->lost = stream->finished = false;
    memset(stream->levels, 0, sizeof stream->levels);
    stream->cursor =
        (struct trodden_trace_cursor *)(thread->tp + (uintptr_t)trodden_process.trace.cursor_offset);
    trodden_trace_to_scratch(stream);
}

void trodden_trace_detach_thread(struct trodden_thread *thread) {
    struct trodden_trace_stream *stream = thread->trace;
    if (!stream || !stream->cursor)
        return;
    trodden_trace_close(stream);
    *stream->cursor = (struct trodden_trace_cursor){trodden_no_trace, trodden_no_trace};
    stream->cursor = NULL;
}
