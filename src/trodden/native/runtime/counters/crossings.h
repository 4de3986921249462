/* Paths that extend over calls and returns: counts by a key of four parts (TZG04 3.3). */
#ifndef TRODDEN_COUNTERS_CROSSINGS_H
#define TRODDEN_COUNTERS_CROSSINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trodden.h"

struct trodden_lost_page;
struct trodden_module;

/* ---- as in the live file, and an entry as in the raw file ---- */
struct trodden_crossing {
    uint64_t callee; /* 0: free; TRODDEN_CROSSING_RESERVED: being filled */
    uint64_t site, in_callee, in_caller, count;
};

#define TRODDEN_CROSSING_RESERVED UINT64_MAX

/* A hash table with open addressing.  Entries never move; when it is full, a larger one is put in front of it. */
struct trodden_crossing_array {
    struct trodden_crossing_array *older;
    uint64_t used;
    uint64_t shift; /* the upper 64 - shift bits of a hash are the index */
    struct trodden_crossing entries[];
};

/* The counts of one thread, or of several, one after the other. */
struct trodden_crossing_table {
    struct trodden_crossing_array *array;
    uintptr_t tp; /* the thread pointer of its thread; 0: it is free */
    struct trodden_crossing_table *next;
};

/* ---- in memory ---- */
#define TRODDEN_CROSSING_BUCKETS 256

/* All tables of the process, by a hash of the thread pointer. */
struct trodden_crossings {
    struct trodden_crossing_table *buckets[TRODDEN_CROSSING_BUCKETS];
    /* The accessor of the calling thread's channel, from some unit that has one; NULL: there is none. */
    struct trodden_channel *(*channel)(void);
    bool lost; /* some counts, for lack of memory */
};

struct trodden_crossing_list {
    struct trodden_crossing *entries;
    uint64_t count;
    size_t bytes;
    bool lost;
};

void trodden_crossings_rebuild(const struct trodden_lost_page *page); /* as of an empty table that may be used */

/* ---- crossing_tables.c; the callers hold the lock ---- */
struct trodden_crossing_list trodden_crossings_collect(void);
void trodden_crossings_find_accessor(void); /* modules have been loaded or unloaded */
void trodden_crossings_release_thread(uintptr_t tp); /* the calling thread exits */
void trodden_crossings_reset(uintptr_t tp); /* zeroes all counts, in a forked child that has only this thread */

/* ---- for signal handlers, which must not disturb what they have interrupted ---- */
struct trodden_channel_copy {
    struct trodden_channel *channel; /* NULL: the thread has none */
    struct trodden_channel saved;
};
void trodden_channel_save(struct trodden_channel_copy *copy);
void trodden_channel_restore(const struct trodden_channel_copy *copy);

static inline size_t trodden_crossing_capacity(const struct trodden_crossing_array *array) {
    return (size_t)1 << (64 - array->shift);
}

static inline unsigned trodden_crossing_bucket(uintptr_t tp) { return (tp >> 12) % TRODDEN_CROSSING_BUCKETS; }

#endif
