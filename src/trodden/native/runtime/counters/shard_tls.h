/* Shards and the static TLS of their threads (shard_tls.c).  The callers of all these hold the lock, except for a thread
 * that handles a SIGBUS. */
#ifndef TRODDEN_COUNTERS_SHARD_TLS_H
#define TRODDEN_COUNTERS_SHARD_TLS_H

#include <stdbool.h>
#include <stdint.h>

struct trodden_shard;

/* From now on what the thread counts is in the shard.  False: its counters stay in its own memory. */
bool trodden_shard_map_over_tls(struct trodden_shard *shard);
void trodden_shard_unmap_from_tls(struct trodden_shard *shard);
/* Adds the counters in the thread's own memory to the shard, and zeroes them. */
void trodden_shard_fold_tls(struct trodden_shard *shard);
/* Zeroes the counters in the thread's own memory. */
void trodden_shard_clear_tls(const struct trodden_shard *shard);
/* The thread itself calls this, before it counts anything. */
void trodden_shard_touch(const struct trodden_shard *shard);

/* From a page of a thread's TLS to the page of the shard that is mapped over it, and back; NULL: there is none. */
void *trodden_shard_page_of(uintptr_t address);
void *trodden_tls_page_of(uintptr_t address);

#endif
