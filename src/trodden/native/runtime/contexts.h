/* The tree of call paths that instrumented code walks, as it lies in memory (contexts.c). */
#ifndef TRODDEN_CONTEXTS_H
#define TRODDEN_CONTEXTS_H

#include "internal.h"

/* The key of a call whose module has been unloaded. */
#define TRODDEN_UNLOADED_KEY ((const struct trodden_function_key *)1)

#define TRODDEN_NO_UNIT UINT32_MAX

/* Calls lie here in the order in which they were made, so each behind the one that leads to it. */
struct trodden_call_node_chunk {
    struct trodden_call_node_chunk *older, *newer;
    size_t capacity;
    size_t used;
    struct trodden_call_node nodes[];
};

/* Finds calls by where they come from and what they call.  It forgets some if a handler comes in between: they are
 * then made once more, and added up in the end. */
struct trodden_call_node_table {
    uint32_t shift; /* the upper 64 - shift bits of a hash are the index */
    size_t mask;    /* one less than its places */
    size_t used;
    struct trodden_call_node *entries[];
};

/* All call paths of one thread, or of several one after the other. */
struct trodden_call_path_tree {
    struct trodden_call_path_tree *next;
    uintptr_t tp; /* whose it is; 0: anybody's */
    struct trodden_call_node_table *table;
    struct trodden_call_node_chunk *oldest, *newest;
    struct trodden_call_node root;
    struct trodden_call_node spare; /* what a call gets for which there is no memory */
};

static inline unsigned trodden_call_bucket(uintptr_t tp) { return (tp >> 12) % TRODDEN_CALL_BUCKETS; }

static inline size_t trodden_nodes_in(const struct trodden_call_node_chunk *chunk) {
    size_t used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);
    return used < chunk->capacity ? used : chunk->capacity;
}

#endif
