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

/* From a page of a thread's TLS to the page of the shard that is mapped over it, and back; NULL: there is none. */
void *trodden_shard_page_of(uintptr_t address);
void *trodden_tls_page_of(uintptr_t address);

/* The sums over all threads of `count` counters of a unit, which may lie in `buffer`; NULL: all are zero. */
const uint64_t *trodden_sum_counters(const struct trodden_module *module, const struct trodden_module_unit *unit,
                                     uint32_t first, uint32_t count, uint64_t *buffer);

/* The index of the next counter that is not zero, or `end`: path tables are mostly zero. */
static inline uint32_t trodden_skip_zeros(const uint64_t *counts, uint32_t k, uint32_t end) {
    while (k < end) {
        bool eight = k + 8 <= end && !(counts[k] | counts[k + 1] | counts[k + 2] | counts[k + 3] | counts[k + 4] |
                                       counts[k + 5] | counts[k + 6] | counts[k + 7]);
        if (!eight && counts[k])
            break;
        k += eight ? 8 : 1;
    }
    return k;
}

#endif
