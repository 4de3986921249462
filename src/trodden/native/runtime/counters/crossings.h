/* Paths that extend over calls and returns: counts by a key of four parts (TZG04 3.3).
 *
 * crossings.c is called by the instrumented code of its own module; it asks the leader, whose part is in
 * crossing_rows.c (what is counted where) and crossing_tables.c (everything else). */
#ifndef TRODDEN_COUNTERS_CROSSINGS_H
#define TRODDEN_COUNTERS_CROSSINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/attributes.h"
#include "trodden.h"

struct trodden_lost_page;
struct trodden_module;

/* ---- rows: as in the live file, and an entry as in the raw file ---- */
/* What is counted by `parts` counters from `slot` on, of the unit of the callee, or of that of the call site if the
 * callee has `returned`: with the same callee, call site and `first` part, one counter for each second part.  There are
 * `rows` of them, one behind the other, with as many consecutive first parts.  Without `parts` it is counted in the
 * tables of the threads, by the number of the row, which is in place of the slot.  Without `rows`
 * there was no room, and nothing is counted. */
struct trodden_crossing_row {
    uint64_t callee; /* the index of the function, above its unit's number; TRODDEN_CROSSING_RETURNED */
    uint64_t site;   /* the number of the call site, above its unit's number */
    uint64_t first, slot;
    uint32_t parts, rows;
};

#define TRODDEN_CROSSING_RETURNED ((uint64_t)1 << 63)

struct trodden_crossing_chunk {
    struct trodden_crossing_chunk *next;
    uint64_t used, capacity;
    struct trodden_crossing_row rows[];
};

/* ---- tables, by thread ---- */
struct trodden_crossing {
    uint64_t row; /* its number, from 1 on; 0: free; TRODDEN_CROSSING_RESERVED: being filled */
    uint64_t part, count;
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

/* Rows by a hash of what they are; NULL: free.  It is read without the lock; a larger one takes its place. */
struct trodden_crossing_index {
    uint64_t capacity;
    struct trodden_crossing_row *rows[];
};

struct trodden_target; /* whom an indirect call has called */
struct trodden_prefix; /* of a call that is reached with many */

struct trodden_crossings {
    struct trodden_crossing_table *buckets[TRODDEN_CROSSING_BUCKETS]; /* by a hash of the thread pointer */
    struct trodden_crossing_chunk *first, *last;
    uint64_t row_count;
    struct trodden_crossing_index *index;
    struct trodden_target *targets[TRODDEN_CROSSING_BUCKETS];
    struct trodden_prefix *prefixes[TRODDEN_CROSSING_BUCKETS];
    uint32_t functions; /* how many have got a number */
    /* The accessor of the calling thread's channel, from some unit that has one; NULL: there is none. */
    struct trodden_channel *(*channel)(void);
    bool lost; /* some counts, for lack of memory or of counters */
};

/* ---- crossing_rows.c: for instrumented code of any module ---- */
/* The row for a call that has entered a function of the unit; 0: it was not meant for it. */
PROCESS_WIDE uint64_t __trodden_row_of_call(const struct trodden_unit *unit, uint64_t function, uint64_t published,
                                            uint64_t address, uint64_t token);
/* The row for a return with this path. */
PROCESS_WIDE uint64_t __trodden_row_of_return(const struct trodden_unit *unit, struct trodden_call_record *record,
                                              uint64_t path);
PROCESS_WIDE struct trodden_call_record *__trodden_target_of(const struct trodden_unit *unit, uint64_t site,
                                                             uint64_t address);
PROCESS_WIDE uint64_t __trodden_prefix_of(const struct trodden_unit *unit, struct trodden_call_record *record,
                                          uint64_t prefix);

/* The callers of the following hold the lock. */
void trodden_crossings_attach_module(struct trodden_module *module);
void trodden_crossings_forget_module(struct trodden_module *module); /* it is about to be unloaded */

/* ---- crossing_tables.c ---- */
struct trodden_crossing_list {
    struct trodden_crossing *entries;
    uint64_t count, rows;
    size_t bytes;
    bool lost;
};

struct trodden_crossing_list trodden_crossings_collect(void);
void trodden_crossings_release_thread(uintptr_t tp); /* the calling thread exits */
void trodden_crossings_reset(uintptr_t tp); /* zeroes all counts, in a forked child that has only this thread */

/* Of a page that was lost: as of an empty table that may be used, or of rows that are not known any more. */
void trodden_crossings_rebuild(const struct trodden_lost_page *page);

/* For signal handlers, which must not disturb what they have interrupted.  These need no lock. */
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
