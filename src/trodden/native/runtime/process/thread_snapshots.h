/* The frames of all threads at one moment (thread_snapshots.c).  The callers hold the lock. */
#ifndef TRODDEN_PROCESS_THREAD_SNAPSHOTS_H
#define TRODDEN_PROCESS_THREAD_SNAPSHOTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "unwind/registers.h"
#include "unwind/stack_walk.h"

struct trodden_thread_snapshots {
    struct trodden_frames *threads; /* the calling thread first */
    uint32_t count, unstopped;      /* threads; those that could not be stopped */
    size_t bytes;
};

/* All other threads have been stopped, except for `unstopped` of them. */
struct trodden_thread_snapshots trodden_snapshot_threads(const struct trodden_regs *regs, uint32_t unstopped);
void trodden_snapshots_free(struct trodden_thread_snapshots *snapshots);
uint32_t trodden_snapshots_frame_count(const struct trodden_thread_snapshots *snapshots);
uint32_t trodden_snapshots_saved_count(const struct trodden_thread_snapshots *snapshots);
bool trodden_snapshots_incomplete(const struct trodden_thread_snapshots *snapshots);

#endif
