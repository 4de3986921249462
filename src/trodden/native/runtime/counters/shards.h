/* Shards: where counters lie (shards.c).  The callers of all these hold the lock. */
#ifndef TRODDEN_COUNTERS_SHARDS_H
#define TRODDEN_COUNTERS_SHARDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/modules.h"
#include "process/threads.h"

#define TRODDEN_MAX_TABLE_UNITS (1u << 18) /* units that find their counters by a table */

struct trodden_shard {
    struct trodden_shard *next;           /* of the same module */
    struct trodden_shard *next_of_thread; /* of the same thread, or in the module's list of free ones */
    struct trodden_module *module;
    uint64_t *memory;
    uint64_t offset;           /* in the live file */
    uintptr_t tp;              /* the thread pointer of its thread; 0: none */
    bool mapped_over_tls;      /* its pages are also mapped over the thread's static TLS */
    size_t zero_from, zero_to; /* a range that is known to be zero */
};

void trodden_shards_lay_out(struct trodden_module *module);
void trodden_shards_attach_module(struct trodden_module *module);
void trodden_shards_attach_thread(struct trodden_thread *thread);
void trodden_shards_detach_thread(struct trodden_thread *thread, bool forked);
void trodden_shards_after_fork(struct trodden_thread *own);
/* Does the forked child of this thread keep the shard with that memory, or is it another thread's? */
bool trodden_shard_survives_fork(const void *memory);

#endif
