/* What is in the raw file: header, modules, units, frames, non-local exits, sparse paths, call paths, saved registers,
 * last paths, paths over calls and returns, a trace's end, trailer; all little-endian and aligned to 8 bytes (docs/formats.md).
 *
 * Path tables are mostly zero, so that a unit's counters are written as runs of those that are not. */
#define _GNU_SOURCE
#include <string.h>
#include <unistd.h>

#include "counters/call_paths.h"
#include "counters/counter_sums.h"
#include "counters/live_regions.h"
#include "platform/system.h"
#include "process/process.h"
#include "process/raw_content.h"
#include "process/raw_format.h"
#include "unwind/abandoned_frames.h"

/* Other threads may be jumping, and add to existing records without the lock: the records are read once. */
static struct trodden_raw_exits collect_exits(void) {
    struct trodden_raw_exits found = {NULL, 0, 0, false};
    for (const struct trodden_nonlocal_exit_table *table = trodden_process.nonlocal_exits.newest; table;
         table = table->older)
        for (uint64_t i = 0; i < table->capacity; i++)
            found.bytes += table->entries[i].used ? sizeof *found.entries : 0;
    if (found.bytes && !(found.entries = trodden_map(found.bytes)))
        found.lost = true;
    for (const struct trodden_nonlocal_exit_table *table = trodden_process.nonlocal_exits.newest;
         table && found.entries; table = table->older)
        for (uint64_t i = 0; i < table->capacity; i++) {
            const struct trodden_nonlocal_exit *exit = &table->entries[i];
            int64_t count = exit->used ? __atomic_load_n(&exit->count, __ATOMIC_RELAXED) : 0;
            if (count)
                found.entries[found.count++] = (struct raw_nonlocal_exit){exit->module, exit->slot_known,
                                                                          exit->address, exit->slot_value, count};
        }
    return found;
}

struct trodden_raw_content trodden_raw_collect(const struct trodden_regs *regs, uint32_t unstopped, bool complete) {
    struct trodden_raw_content content = {.snapshots = trodden_snapshot_threads(regs, unstopped), .complete = complete};
    trodden_live_notice_truncation();
    trodden_sparse_sum(&content.sparse);
    content.exits = collect_exits();
    content.call_records = trodden_calls_mark();
    content.abandoned = trodden_abandoned_count();
    content.last_paths = trodden_collect_last_paths();
    content.crossings = trodden_crossings_collect();
    return content;
}

void trodden_raw_free_content(struct trodden_raw_content *content) {
    trodden_snapshots_free(&content->snapshots);
    trodden_sparse_free_totals(&content->sparse);
    trodden_unmap(content->exits.entries, content->exits.bytes);
    trodden_unmap(content->last_paths.entries, content->last_paths.bytes);
    trodden_unmap(content->crossings.entries, content->crossings.bytes);
}

static size_t padding(uint32_t length) { return -length & 7u; }

static void put_modules(struct trodden_raw_writer *writer) {
    for (struct trodden_module *module = trodden_process.modules; module; module = module->next) {
        struct raw_module header = {module->bias, module->path_length, 0};
        trodden_raw_put(writer, &header, sizeof header);
        trodden_raw_put(writer, module->path, module->path_length);
        trodden_raw_put(writer, "\0\0\0\0\0\0\0", padding(module->path_length));
    }
}

static void put_runs(struct trodden_raw_writer *writer, const uint64_t *sums, uint32_t first, uint32_t count) {
    for (uint32_t i = trodden_skip_zeros(sums, 0, count), end; i < count; i = trodden_skip_zeros(sums, end, count)) {
        end = i + 1;
        while (end < count && sums[end])
            end++;
        struct raw_run run = {first + i, end - i};
        trodden_raw_put(writer, &run, sizeof run);
        trodden_raw_put(writer, &sums[i], (end - i) * sizeof *sums);
    }
}

static void put_units(struct trodden_raw_writer *writer) {
    for (struct trodden_module *module = trodden_process.modules; module; module = module->next)
        for (uint32_t i = 0; i < module->unit_count; i++) {
            const struct trodden_module_unit *unit = &module->units[i];
            struct raw_unit header = {.module = module->index, .slots = unit->slots};
            memcpy(header.id, unit->id, sizeof header.id);
            trodden_raw_put(writer, &header, sizeof header);
            for (uint32_t done = 0, count; done < unit->slots; done += count) {
                count = unit->slots - done < TRODDEN_COUNTERS_PER_PASS ? unit->slots - done : TRODDEN_COUNTERS_PER_PASS;
                const uint64_t *sums = trodden_sum_counters(module, unit, done, count, writer->sums);
                if (sums)
                    put_runs(writer, sums, done, count);
            }
            struct raw_run last = {unit->slots, 0};
            trodden_raw_put(writer, &last, sizeof last);
        }
}

static bool is_counted(const struct trodden_sparse_total *total) { return total->occupied && total->amount; }

static void put_sparse_paths(struct trodden_raw_writer *writer, const struct trodden_sparse_totals *totals) {
    for (uint64_t i = 0; i < totals->capacity; i++) {
        const struct trodden_sparse_total *total = &totals->entries[i];
        struct raw_sparse_path record = {total->unit, 0, total->key, total->value, total->amount};
        if (is_counted(total))
            trodden_raw_put(writer, &record, sizeof record);
    }
}

static uint32_t count_sparse(const struct trodden_sparse_totals *totals) {
    uint32_t count = 0;
    for (uint64_t i = 0; i < totals->capacity; i++)
        count += is_counted(&totals->entries[i]);
    return count;
}

static void put_call_record(const struct trodden_call_path_record *record, void *context) {
    trodden_raw_put(context, record, sizeof *record);
}

static void put_frames(struct trodden_raw_writer *writer, const struct trodden_thread_snapshots *snapshots) {
    for (uint32_t i = 0; i < snapshots->count; i++)
        if (snapshots->threads[i].count)
            trodden_raw_put(writer, snapshots->threads[i].entries,
                snapshots->threads[i].count * sizeof *snapshots->threads[i].entries);
}

static void put_abandoned_frame(const struct trodden_frame *frame, struct trodden_saved_registers *saved,
                                void *context) {
    (void)saved;
    trodden_raw_put(context, frame, sizeof *frame);
}

struct abandoned_sink {
    struct trodden_raw_writer *writer;
    uint32_t next_frame;
};

static void put_abandoned_registers(const struct trodden_frame *frame, struct trodden_saved_registers *saved,
                                    void *context) {
    (void)frame;
    struct abandoned_sink *sink = context;
    saved->frame = sink->next_frame++;
    trodden_raw_put(sink->writer, saved, sizeof *saved);
}

/* Numbers their frames consecutively; returns how many frames there are. */
static uint32_t put_saved_registers(struct trodden_raw_writer *writer, const struct trodden_thread_snapshots *snapshots) {
    uint32_t first = 0;
    for (uint32_t i = 0; i < snapshots->count; i++) {
        for (uint32_t k = 0; k < snapshots->threads[i].saved_count; k++) {
            struct trodden_saved_registers *saved = &snapshots->threads[i].saved[k];
            saved->frame += first;
            trodden_raw_put(writer, saved, sizeof *saved);
        }
        first += snapshots->threads[i].count;
    }
    return first;
}

static uint32_t losses(void) {
    uint32_t flags = trodden_process.live ? trodden_process.live->flags : 0;
    return (flags & TRODDEN_LIVE_COUNTS_LOST ? RAW_COUNTS_LOST : 0) | (flags & TRODDEN_LIVE_NO_SPACE ? RAW_NO_SPACE : 0);
}

static void put_trace(struct trodden_raw_writer *writer) {
    const struct trodden_trace_process *trace = &trodden_process.trace;
    struct raw_trace header = {trace->stopped, trace->lost, trace->spooled};
    trodden_raw_put(writer, &header, sizeof header);
    for (struct trodden_module *module = trodden_process.modules; module; module = module->next)
        for (uint32_t i = 0; i < module->unit_count; i++) {
            struct raw_traced_unit unit = {module->units[i].first_function, module->units[i].traced};
            trodden_raw_put(writer, &unit, sizeof unit);
        }
}

static void put_crossings(struct trodden_raw_writer *writer, const struct trodden_crossing_list *list) {
    struct raw_crossings header = {list->rows, list->count};
    trodden_raw_put(writer, &header, sizeof header);
    uint64_t left = list->rows;
    for (const struct trodden_crossing_chunk *chunk = trodden_process.crossings.first; chunk; chunk = chunk->next) {
        uint64_t rows = chunk->used < left ? chunk->used : left;
        trodden_raw_put(writer, chunk->rows, rows * sizeof *chunk->rows);
        left -= rows;
    }
    trodden_raw_put(writer, list->entries, list->count * sizeof *list->entries);
}

void trodden_raw_put_content(struct trodden_raw_writer *writer, const struct trodden_raw_content *content) {
    const struct trodden_frames *start = &trodden_process.fork_frames;
    bool incomplete = trodden_snapshots_incomplete(&content->snapshots) || start->incomplete ||
                      trodden_process.nonlocal_exits.incomplete || content->exits.lost || content->sparse.lost ||
                      content->crossings.lost || trodden_process.call_paths.lost;
    bool traced = trodden_process.trace.active, crossed = content->crossings.rows;
    struct raw_header header = {.version = crossed ? RAW_CROSSINGS_VERSION : traced ? RAW_TRACE_VERSION : RAW_VERSION,
                                .flags = (incomplete ? RAW_INCOMPLETE : 0) | (crossed && traced ? RAW_TRACED : 0) | losses(),
                                .ending = content->complete ? RAW_AT_EXIT : RAW_AT_DUMP,
                                .pid = trodden_process.pid,
                                .parent = (uint64_t)getppid(),
                                .start_time = trodden_process.start_time,
                                .start_ticks = (uint32_t)(trodden_process.live ? trodden_process.live->start_ticks
                                                                    : trodden_process_start_ticks()),
                                .frames = trodden_snapshots_frame_count(&content->snapshots) + content->abandoned,
                                .saved_registers =
                                    trodden_snapshots_saved_count(&content->snapshots) + content->abandoned,
                                .last_paths = content->last_paths.count,
                                .fork_frames = start->count,
                                .nonlocal_exits = content->exits.count,
                                .sparse_paths = count_sparse(&content->sparse),
                                .call_records = content->call_records};
    memcpy(header.magic, RAW_MAGIC, sizeof header.magic);
    for (struct trodden_module *module = trodden_process.modules; module; module = module->next) {
        header.modules++;
        header.units += module->unit_count;
    }
    trodden_raw_put(writer, &header, sizeof header);
    put_modules(writer);
    put_units(writer);
    put_frames(writer, &content->snapshots);
    trodden_abandoned_visit(put_abandoned_frame, writer);
    if (start->count)
        trodden_raw_put(writer, start->entries, start->count * sizeof *start->entries);
    if (content->exits.count)
        trodden_raw_put(writer, content->exits.entries, content->exits.count * sizeof *content->exits.entries);
    put_sparse_paths(writer, &content->sparse);
    trodden_calls_visit_records(put_call_record, writer);
    struct abandoned_sink sink = {writer, put_saved_registers(writer, &content->snapshots)};
    trodden_abandoned_visit(put_abandoned_registers, &sink);
    if (content->last_paths.count)
        trodden_raw_put(writer, content->last_paths.entries, content->last_paths.count * sizeof *content->last_paths.entries);
    if (crossed)
        put_crossings(writer, &content->crossings);
    if (traced)
        put_trace(writer);
    struct raw_trailer trailer = {
        .size = writer->size + sizeof trailer, .crc = writer->crc, .end = {'D', 'O', 'N', 'E'}};
    trodden_raw_put(writer, &trailer, sizeof trailer);
}
