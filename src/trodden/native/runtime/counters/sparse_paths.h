/* Sparse path tables: counts by path number, where an array of counters would be too large.
 *
 * sparse_paths.c is called by the instrumented code of its own module, sparse_totals.c by the leader. */
#ifndef TRODDEN_COUNTERS_SPARSE_PATHS_H
#define TRODDEN_COUNTERS_SPARSE_PATHS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "process/modules.h"

/* ---- as in the live file ---- */
struct trodden_sparse_entry {
    uint64_t unit_number; /* 0: free; TRODDEN_SPARSE_RESERVED: being filled */
    uint64_t key, value, amount;
};

#define TRODDEN_SPARSE_RESERVED UINT64_MAX

/* A hash table with open addressing.  Entries never move; when it is full, a larger one is put in front of it. */
struct trodden_sparse_array {
    struct trodden_sparse_array *older;
    size_t bytes;
    uint64_t used;
    uint32_t shift; /* the upper 64 - shift bits of a hash are the index */
    struct trodden_sparse_entry entries[];
};

/* The counts of one thread, or of several, one after the other. */
struct trodden_sparse_table {
    uintptr_t tp; /* the thread pointer of its thread; 0: it is free */
    struct trodden_sparse_entry *last;
    struct trodden_sparse_array *array;
    struct trodden_sparse_table *next;
    size_t bytes;
};

/* ---- in memory ---- */
#define TRODDEN_SPARSE_BUCKETS 256

/* All tables of a module, by a hash of the thread pointer. */
struct trodden_sparse_paths {
    struct trodden_sparse_table *buckets[TRODDEN_SPARSE_BUCKETS];
    bool lost; /* some counts, for lack of memory */
};

static inline unsigned trodden_sparse_bucket(uintptr_t tp) { return (tp >> 12) % TRODDEN_SPARSE_BUCKETS; }

static inline size_t trodden_sparse_capacity(const struct trodden_sparse_array *array) {
    return (size_t)1 << (64 - array->shift);
}

struct trodden_lost_page;
struct trodden_sparse_paths *trodden_own_sparse_paths(void); /* those of this module */

void trodden_sparse_rebuild(const struct trodden_lost_page *page); /* as of an empty table that may be used */

/* ---- sparse_totals.c: the tables of all modules; the callers hold the lock ---- */
/* As in the raw file, except for `occupied`. */
struct trodden_sparse_total {
    uint32_t unit, occupied;
    uint64_t key, value, amount;
};

struct trodden_sparse_totals {
    struct trodden_sparse_total *entries;
    uint64_t capacity, used;
    bool lost; /* some counts, for lack of memory */
};

void trodden_sparse_sum(struct trodden_sparse_totals *totals);
void trodden_sparse_free_totals(struct trodden_sparse_totals *totals);
void trodden_sparse_release_thread(uintptr_t tp);               /* the thread exits */
void trodden_sparse_save_module(struct trodden_module *module); /* it is about to be unloaded */
void trodden_sparse_restore_module(struct trodden_module *module,
                                   struct trodden_sparse_paths *own); /* it has been loaded */
void trodden_sparse_reset(uintptr_t tp); /* zeroes all counts, in a forked child that has only this thread */

#endif
