/* Writes the raw file: when, and what happens if that is not possible.
 *
 * The file is streamed through one buffer into a temporary file beside the output file, which it then replaces:
 * nobody ever sees half of it.  Any failure is reported in one line; the exit status of the program does not
 * change. */
#include <errno.h>

#include "counters/live_regions.h"
#include "platform/system.h"
#include "process/fatal_signal.h"
#include "process/output_file.h"
#include "process/process.h"
#include "process/raw_content.h"
#include "process/raw_file.h"
#include "process/raw_writer.h"
#include "process/stop_threads.h"

/* `bytes`: how long it will be, 0 if that is not known. */
static int write_file(struct trodden_raw_writer *writer, const struct trodden_raw_content *content, bool final,
                      uint64_t bytes) {
    bool by_rename;
    int file = trodden_output_open(&by_rename);
    if (file < 0)
        return errno;
    trodden_raw_begin(writer, file, bytes);
    if (!writer->error)
        trodden_raw_put_content(writer, content);
    trodden_raw_flush(writer);
    return trodden_output_close(by_rename, file, writer->error, final);
}

/* The live file has all counts.  With the frames it is equivalent to the raw file that could not be written. */
static bool save_in_live_file(const struct trodden_raw_content *content) {
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
static int wait_for_space(struct trodden_raw_writer *writer, const struct trodden_raw_content *content) {
    uint64_t bytes = writer->size;
    int error = ENOSPC;
    for (unsigned i = 0; error == ENOSPC && i < WAITS; i++) {
        trodden_sleep(5000000 + (trodden_process.pid + i) % 11 * 1000000);
        error = write_file(writer, content, true, bytes);
    }
    return error;
}

/* The last write of the process: what has no space in a raw file stays in the live file. */
static int write_last(struct trodden_raw_writer *writer, const struct trodden_raw_content *content) {
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
void trodden_write_raw_file(const struct trodden_regs *regs, enum trodden_write moment) {
    int saved_errno = errno;
    bool final = moment != TRODDEN_WRITE_SO_FAR;
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
        struct trodden_raw_content content = trodden_raw_collect(regs, unstopped, final);
        trodden_trace_write(final);
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
        trodden_raw_free_content(&content);
    }
    trodden_unlock_blocked();
    if (moment != TRODDEN_WRITE_LAST)
        trodden_restore_signals(mask);
    trodden_images_free(images);
    errno = saved_errno;
}
