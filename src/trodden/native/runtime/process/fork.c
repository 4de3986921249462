/* fork, observed by pthread_atfork.  It happens with the lock held, so that the child finds all lists consistent. */
#define _GNU_SOURCE
#include <pthread.h>

#include "counters/call_paths.h"
#include "counters/live_regions.h"
#include "counters/sparse_paths.h"
#include "platform/system.h"
#include "process/fatal_signal.h"
#include "process/fork.h"
#include "process/process.h"
#include "process/stop_threads.h"
#include "unwind/nonlocal_exits.h"

static uint64_t fork_mask;

static void before_fork(void) {
    struct trodden_images *images = trodden_images_snapshot();
    uint64_t mask = trodden_lock();
    fork_mask = mask;
    trodden_set_images(images);
    trodden_live_before_fork();
}

static void after_fork_in_parent(void) {
    trodden_live_wait_for_child();
    trodden_trace_forked(trodden_process.live ? trodden_process.live->child_started : 0);
    trodden_unlock(fork_mask);
}

/* The child starts with zero counts, in the middle of the functions that called fork.  Their frames are saved: they
 * will be left without having been entered. */
static void after_fork_in_child(void) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    trodden_process.pid = trodden_pid();
    trodden_lock_init(trodden_process.pid);
    trodden_process.start_time = trodden_now();
    trodden_live_after_fork();
    trodden_threads_after_fork();
    trodden_sparse_reset(trodden_thread_pointer());
    trodden_calls_reset(trodden_thread_pointer());
    trodden_crossings_reset(trodden_thread_pointer());
    trodden_nonlocal_exits_reset();
    trodden_trace_after_fork(&regs);
    trodden_fatal_signal_after_fork();
    trodden_stop_after_fork();
    trodden_frames_free(&trodden_process.fork_frames);
    trodden_process.fork_frames = trodden_collect_frames(&regs, trodden_thread_number(), false, NULL);
    trodden_live_save_frames(TRODDEN_REGION_FORK_FRAMES, &trodden_process.fork_frames, trodden_thread_number(), 0);
    trodden_restore_signals(fork_mask);
}

void trodden_fork_init(void) { pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child); }
