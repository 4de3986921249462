/* What instrumented code notes beside its counters, as it lies in memory (notes.c). */
#ifndef TRODDEN_NOTES_H
#define TRODDEN_NOTES_H

#include "internal.h"

struct trodden_sparse_entry {
    uint64_t unit_number; /* its number; 0: free; TRODDEN_NOTE_TAKEN: being made */
    uint64_t key, value, amount;
};

#define TRODDEN_SPARSE_RESERVED UINT64_MAX

/* A hash table.  Entries stay where they are; when it is full a larger one comes before it. */
struct trodden_sparse_array {
    struct trodden_sparse_array *older;
    size_t bytes;
    uint64_t used;
    uint32_t shift; /* the upper 64 - shift bits of a hash are the index */
    struct trodden_sparse_entry entries[];
};

/* What one thread has noted, or several one after the other. */
struct trodden_sparse_table {
    uintptr_t tp; /* whose it is; 0: anybody's */
    struct trodden_sparse_entry *last;
    struct trodden_sparse_array *array;
    struct trodden_sparse_table *next;
    size_t bytes;
};

#define TRODDEN_SPARSE_BUCKETS 256

/* All tables of a module, by a hash of their threads. */
struct trodden_sparse_paths {
    struct trodden_sparse_table *buckets[TRODDEN_SPARSE_BUCKETS];
    bool lost; /* there was no memory for some */
};

static inline unsigned trodden_sparse_bucket(uintptr_t tp) { return (tp >> 12) % TRODDEN_SPARSE_BUCKETS; }

static inline size_t trodden_sparse_capacity(const struct trodden_sparse_array *array) {
    return (size_t)1 << (64 - array->shift);
}

#endif
