/* The raw file: header, modules, units, frames, non-local exits, sparse paths, call paths, saved registers, last
 * paths, trailer; all little-endian and aligned to 8 bytes (docs/formats.md).
 *
 * Path tables are mostly zero, so that a unit's counters are written as runs of those that are not.
 *
 * The file is streamed through one buffer into a temporary file beside the output file, which it then replaces:
 * nobody ever sees half of it.  Any failure is reported in one line; the exit status of the program does not
 * change. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "counters/call_paths.h"
#include "counters/last_paths.h"
#include "counters/live_regions.h"
#include "counters/shards.h"
#include "counters/sparse_paths.h"
#include "platform/system.h"
#include "process/fatal_signal.h"
#include "process/output_file.h"
#include "process/process.h"
#include "process/raw_file.h"
#include "process/raw_format.h"
#include "process/raw_writer.h"
#include "process/stop_threads.h"
#include "process/thread_snapshots.h"
#include "unwind/abandoned_frames.h"

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

/* Other threads may be jumping, and add to existing records without the lock: the records are read once. */
struct nonlocal_exit_records {
    struct raw_nonlocal_exit *entries;
    uint32_t count;
    size_t bytes;
    bool lost;
};

static struct nonlocal_exit_records collect_exits(void) {
    struct nonlocal_exit_records found = {NULL, 0, 0, false};
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

/* What is written beside the counters; it does not change any more. */
struct raw_content {
    struct trodden_thread_snapshots snapshots;
    struct trodden_sparse_totals sparse;
    struct nonlocal_exit_records exits;
    struct trodden_last_paths last_paths;
    uint32_t call_records, abandoned;
    bool complete;
};

static uint32_t losses(void) {
    uint32_t flags = trodden_process.live ? trodden_process.live->flags : 0;
    return (flags & TRODDEN_LIVE_COUNTS_LOST ? RAW_COUNTS_LOST : 0) | (flags & TRODDEN_LIVE_NO_SPACE ? RAW_NO_SPACE : 0);
}

static void put_everything(struct trodden_raw_writer *writer, const struct raw_content *content) {
    const struct trodden_frames *start = &trodden_process.fork_frames;
    bool incomplete = trodden_snapshots_incomplete(&content->snapshots) || start->incomplete ||
                      trodden_process.nonlocal_exits.incomplete || content->exits.lost || content->sparse.lost ||
                      trodden_process.call_paths.lost;
    struct raw_header header = {.version = RAW_VERSION,
                                .flags = (incomplete ? RAW_INCOMPLETE : 0) | losses(),
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
    struct raw_trailer trailer = {
        .size = writer->size + sizeof trailer, .crc = writer->crc, .end = {'D', 'O', 'N', 'E'}};
    trodden_raw_put(writer, &trailer, sizeof trailer);
}

/* `bytes`: how long it will be, 0 if that is not known. */
static int write_file(struct trodden_raw_writer *writer, const struct raw_content *content, bool final,
                      uint64_t bytes) {
    bool by_rename;
    int file = trodden_output_open(&by_rename);
    if (file < 0)
        return errno;
    trodden_raw_begin(writer, file, bytes);
    if (!writer->error)
        put_everything(writer, content);
    trodden_raw_flush(writer);
    return trodden_output_close(by_rename, file, writer->error, final);
}

/* The live file has all counts.  With the frames it is equivalent to the raw file that could not be written. */
static bool save_in_live_file(const struct raw_content *content) {
    struct trodden_live_header *live = trodden_process.live;
    if (!live || !trodden_live_exists())
        return false;
    trodden_live_set_state(content->complete ? TRODDEN_STATE_EXITED : TRODDEN_STATE_RUNNING, 0);
    for (uint32_t i = 0; i < content->snapshots.count; i++) {
        const struct trodden_frames *frames = &content->snapshots.threads[i];
        trodden_live_save_frames(TRODDEN_REGION_END_FRAMES, frames, frames->count ? frames->entries[0].thread : 0, 0);
    }
    if (content->snapshots.unstopped || trodden_process.nonlocal_exits.incomplete || trodden_process.call_paths.lost)
        __trodden_incomplete();
    return !(live->flags & TRODDEN_LIVE_INCOMPLETE);
}

enum { WAITS = 200 }; /* about two seconds */

/* A full disk may have space again when other processes end.  Space is first reserved for the whole file: the part of
 * a file would take it from others that need less. */
static int wait_for_space(struct trodden_raw_writer *writer, const struct raw_content *content) {
    uint64_t bytes = writer->size;
    int error = ENOSPC;
    for (unsigned i = 0; error == ENOSPC && i < WAITS; i++) {
        trodden_sleep(5000000 + (trodden_process.pid + i) % 11 * 1000000);
        error = write_file(writer, content, true, bytes);
    }
    return error;
}

/* The last write of the process: what has no space in a raw file stays in the live file. */
static int write_last(struct trodden_raw_writer *writer, const struct raw_content *content) {
    int error = write_file(writer, content, true, 0);
    if (error == ENOSPC) {
        trodden_live_free_zero_pages();
        error = write_file(writer, content, true, 0);
    }
    if (error && save_in_live_file(content))
        return 0;
    return error == ENOSPC ? wait_for_space(writer, content) : error;
}

/* There is only one final write. */
void trodden_write_raw_file(const struct trodden_regs *regs, bool complete, bool final) {
    int saved_errno = errno;
    /* A child of vfork, or of a clone that bypassed pthread_atfork, runs on its parent's counters. */
    if (trodden_process.init_state != TRODDEN_INITIALIZED || trodden_pid() != trodden_process.pid ||
        !trodden_output_wanted()) {
        errno = saved_errno;
        return;
    }
    struct trodden_images *images = trodden_images_snapshot();
    uint64_t mask = trodden_lock();
    if (!trodden_process.final_written) {
        trodden_set_images(images);
        images = NULL;
        trodden_process.final_written = final;
        uint32_t unstopped = trodden_stop_threads();
        struct raw_content content = {.snapshots = trodden_snapshot_threads(regs, unstopped), .complete = complete};
        trodden_sparse_sum(&content.sparse);
        content.exits = collect_exits();
        content.call_records = trodden_calls_mark();
        content.abandoned = trodden_abandoned_count();
        content.last_paths = trodden_collect_last_paths();
        struct trodden_raw_writer *writer = trodden_map(sizeof *writer);
        if (writer) {
            int error = final ? write_last(writer, &content) : write_file(writer, &content, false, 0);
            if (error)
                trodden_output_report(writer->message, error);
        }
        trodden_unmap(writer, sizeof *writer);
        if (final)
            trodden_keep_stopped();
        else
            trodden_resume_threads();
        trodden_snapshots_free(&content.snapshots);
        trodden_sparse_free_totals(&content.sparse);
        trodden_unmap(content.exits.entries, content.exits.bytes);
        trodden_unmap(content.last_paths.entries, content.last_paths.bytes);
    }
    trodden_unlock(mask);
    trodden_images_free(images);
    errno = saved_errno;
}
