/* The call-path tree in memory, as instrumented code walks it and as the live file holds it. */
#ifndef TRODDEN_COUNTERS_CALL_PATH_TREE_H
#define TRODDEN_COUNTERS_CALL_PATH_TREE_H

#include <stddef.h>
#include <stdint.h>

#include "counters/call_paths.h"

/* The key of a node whose module has been unloaded. */
#define TRODDEN_UNLOADED_KEY ((const struct trodden_function_key *)1)

#define TRODDEN_NO_UNIT UINT32_MAX

/* Nodes lie in the order in which they were made, so that each lies behind its parent. */
struct trodden_call_node_chunk {
    struct trodden_call_node_chunk *older, *newer;
    size_t capacity;
    size_t used;
    struct trodden_call_node nodes[];
};

/* Finds nodes by parent and key.  It may miss one that a signal handler has added meanwhile: that node is then made
 * twice, and the reader adds the two up. */
struct trodden_call_node_table {
    uint32_t shift; /* the upper 64 - shift bits of a hash are the index */
    size_t mask;    /* its capacity less one */
    size_t used;
    struct trodden_call_node *entries[];
};

/* The call paths of one thread, or of several, one after the other. */
struct trodden_call_path_tree {
    struct trodden_call_path_tree *next;
    uintptr_t tp; /* the thread pointer of its thread; 0: it is free */
    struct trodden_call_node_table *table;
    struct trodden_call_node_chunk *oldest, *newest;
    struct trodden_call_node root;
    struct trodden_call_node spare; /* stands in for a node that there is no memory for */
};

struct trodden_lost_page;
void trodden_calls_rebuild(const struct trodden_lost_page *page); /* as of an empty tree, table or chunk */

static inline unsigned trodden_call_bucket(uintptr_t tp) { return (tp >> 12) % TRODDEN_CALL_BUCKETS; }

static inline size_t trodden_nodes_in(const struct trodden_call_node_chunk *chunk) {
    size_t used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);
    return used < chunk->capacity ? used : chunk->capacity;
}

#endif
