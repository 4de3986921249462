/* The last paths of each thread, in ring buffers (last_paths.c).  The callers of all these hold the lock. */
#ifndef TRODDEN_COUNTERS_LAST_PATHS_H
#define TRODDEN_COUNTERS_LAST_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct trodden_lost_page;
struct trodden_module;
struct trodden_thread;

/* As in the raw file. */
struct trodden_last_path_record {
    uint32_t thread, tag, function, reserved;
    uint64_t path;
};

struct trodden_last_paths {
    struct trodden_last_path_record *entries;
    uint32_t count;
    size_t bytes;
};

void trodden_rings_attach_module(struct trodden_module *module);
void trodden_rings_attach_thread(struct trodden_thread *thread);
void trodden_rings_detach_thread(struct trodden_thread *thread, bool forked);
void trodden_rings_after_fork(struct trodden_thread *own);
struct trodden_last_paths trodden_collect_last_paths(void);
void trodden_rings_rebuild(const struct trodden_lost_page *page); /* as of an empty ring; needs no lock */

#endif
