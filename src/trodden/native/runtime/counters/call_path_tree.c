/* Call paths: which chain of functions led to each call, counted exactly (BL96 1.2).
 *
 * BL96 would number the paths of the call graph.  Here files are compiled one at a time, calls go through pointers
 * and into libraries, and the graph is not known.  Therefore the paths are discovered as they are taken, as a tree.
 * A function that is called recursively returns to its node on the current path, so that no path is longer than the
 * number of functions.
 *
 * Instrumented code keeps the current node of its tree in a thread-local variable.  If the function that it calls is
 * in the node's cache of recent callees, it continues by itself; otherwise it calls __trodden_call.  Each thread has
 * a tree of its own.  A signal handler continues in the tree of the thread that it has interrupted, perhaps in the
 * middle of the functions below.  Therefore, as in sparse_paths.c,
 * - a node is published only when it is complete, and it never moves nor disappears;
 * - a node that exists but is not found is made a second time, and the two are added up in the end
 *   (call_path_records.c).
 *
 * There are no locks, and no system calls except for memory. */
#include <errno.h>

#include "counters/call_path_tree.h"
#include "counters/early_counts.h"
#include "counters/live_regions.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/process.h"

enum { TREE_BYTES = 16 << 10, INITIAL_BITS = 8, CHUNK_BYTES = 64 << 10, LARGEST_CHUNK = 1 << 20 };

_Static_assert(sizeof(struct trodden_call_node) == 128 && offsetof(struct trodden_call_node, cache) == 40,
               "instrumented code uses these offsets");

struct trodden_call_node trodden_outside = {
    .target = &trodden_outside,
    .cache = {[0 ... TRODDEN_CALLEE_CACHE - 1] = &trodden_outside},
};

/* The current node of a thread that has no tree, for lack of memory. */
static struct trodden_call_node no_memory_node = {.target = &trodden_outside, .parent = &trodden_outside};

static inline uint64_t hash_of(const struct trodden_call_node *parent, const struct trodden_function_key *key) {
    return ((uintptr_t)parent * 0x9e3779b97f4a7c15u ^ (uintptr_t)key) * 0xd6e8feb86659fd93u;
}

/* The node; or NULL, with `*slot` where it would go. */
static inline struct trodden_call_node *find(struct trodden_call_node_table *table,
                                             const struct trodden_call_node *parent,
                                             const struct trodden_function_key *key,
                                             struct trodden_call_node ***slot) {
    for (size_t index = hash_of(parent, key) >> table->shift;; index = (index + 1) & table->mask) {
        struct trodden_call_node *node = __atomic_load_n(&table->entries[index], __ATOMIC_RELAXED);
        *slot = &table->entries[index];
        if (!node || (node->parent == parent && node->key == key))
            return node;
    }
}

static struct trodden_call_node_table *init_table(void *memory, unsigned bits) {
    struct trodden_call_node_table *table = memory;
    table->shift = 64 - bits;
    table->mask = ((size_t)1 << bits) - 1;
    return table;
}

static size_t table_bytes(unsigned bits) {
    return sizeof(struct trodden_call_node_table) + (sizeof(struct trodden_call_node *) << bits);
}

static void insert(struct trodden_call_node_table *table, struct trodden_call_node *node) {
    struct trodden_call_node **slot, *expected;
    do {
        if (find(table, node->parent, node->key, &slot))
            return;
        expected = NULL;
    } while (!__atomic_compare_exchange_n(slot, &expected, node, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    __atomic_fetch_add(&table->used, 1, __ATOMIC_RELAXED);
}

/* The smaller table stays mapped: whoever has been interrupted may be reading it. */
static struct trodden_call_node_table *table_with_capacity(struct trodden_call_path_tree *tree) {
    struct trodden_call_node_table *table = __atomic_load_n(&tree->table, __ATOMIC_ACQUIRE);
    size_t capacity = table->mask + 1, used = __atomic_load_n(&table->used, __ATOMIC_RELAXED);
    if (used < capacity / 2)
        return table;
    unsigned bits = 64 - table->shift + 1;
    size_t bytes = table_bytes(bits);
    void *memory = trodden_live_alloc(TRODDEN_REGION_CALL_TABLE, 0, bytes);
    if (!memory)
        return used < capacity / 16 * 15 ? table : NULL; /* probing must terminate */
    struct trodden_call_node_table *larger = init_table(memory, bits);
    for (size_t i = 0; i < capacity; i++)
        if (table->entries[i] && table->entries[i]->key != TRODDEN_UNLOADED_KEY)
            insert(larger, table->entries[i]);
    if (__atomic_compare_exchange_n(&tree->table, &table, larger, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return larger;
    trodden_live_free(memory, bytes);
    return table;
}

static struct trodden_call_node *allocate_node(struct trodden_call_path_tree *tree) {
    for (;;) {
        struct trodden_call_node_chunk *chunk = __atomic_load_n(&tree->newest, __ATOMIC_ACQUIRE), *expected = chunk;
        if (trodden_nodes_in(chunk) < chunk->capacity) {
            size_t index = __atomic_fetch_add(&chunk->used, 1, __ATOMIC_RELAXED);
            if (index < chunk->capacity)
                return &chunk->nodes[index];
        }
        size_t bytes = 2 * (sizeof *chunk + chunk->capacity * sizeof *chunk->nodes);
        bytes = bytes < CHUNK_BYTES ? CHUNK_BYTES : bytes > LARGEST_CHUNK ? LARGEST_CHUNK : bytes;
        struct trodden_call_node_chunk *fresh = trodden_live_alloc(TRODDEN_REGION_CALL_NODES, 0, bytes);
        if (!fresh)
            return NULL;
        fresh->older = chunk;
        fresh->capacity = (bytes - sizeof *fresh) / sizeof *fresh->nodes;
        if (__atomic_compare_exchange_n(&tree->newest, &expected, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            __atomic_store_n(&chunk->newer, fresh, __ATOMIC_RELEASE);
        else
            trodden_live_free(fresh, bytes);
    }
}

/* Every cache entry is the root, which has no key and therefore never matches. */
static void clear_callee_cache(struct trodden_call_node *node, struct trodden_call_path_tree *tree) {
    node->tree = tree;
    for (unsigned i = 0; i < TRODDEN_CALLEE_CACHE; i++)
        node->cache[i] = &tree->root;
}

static struct trodden_call_node_chunk *first_chunk(struct trodden_call_path_tree *tree) {
    return (struct trodden_call_node_chunk *)((uint8_t *)(tree + 1) + table_bytes(INITIAL_BITS));
}

/* `home` is where it will be; only its first page is written. */
static void init_tree(struct trodden_call_path_tree *tree, struct trodden_call_path_tree *home) {
    struct trodden_call_node_chunk *chunk = first_chunk(home);
    init_table(tree + 1, INITIAL_BITS);
    tree->table = (struct trodden_call_node_table *)(home + 1);
    tree->oldest = tree->newest = chunk;
    first_chunk(tree)->capacity = ((uintptr_t)home + TREE_BYTES - (uintptr_t)chunk->nodes) / sizeof *chunk->nodes;
    tree->root = (struct trodden_call_node){.target = &home->root, .sp = UINT64_MAX};
    clear_callee_cache(&tree->root, home);
}

/* Nodes that are not in the tree, and lead outside of it. */
static void fill_with_outside(const struct trodden_lost_page *page, size_t first_node) {
    struct trodden_call_node outside = trodden_outside;
    outside.parent = &trodden_outside;
    const uint64_t *words = (const uint64_t *)&outside;
    uint64_t *target = page->memory;
    for (size_t i = 0; i < page->bytes / sizeof *words; i++) {
        size_t offset = page->offset + i * sizeof *words;
        if (offset >= first_node)
            target[i] = words[(offset - first_node) % sizeof outside / sizeof *words];
    }
}

void trodden_calls_rebuild(const struct trodden_lost_page *page) {
    if (page->kind == TRODDEN_REGION_CALL_TABLE) {
        unsigned bits = INITIAL_BITS;
        while (table_bytes(bits + 1) <= page->region_bytes)
            bits++;
        if (!page->offset)
            init_table(page->memory, bits);
        return;
    }
    bool is_tree = page->kind == TRODDEN_REGION_CALL_TREE;
    struct trodden_call_node_chunk *chunk = is_tree ? first_chunk(page->memory) : page->memory;
    fill_with_outside(page, (uintptr_t)chunk->nodes - (uintptr_t)page->memory);
    if (page->offset)
        return;
    if (is_tree)
        init_tree(page->memory, (struct trodden_call_path_tree *)page->region);
    else
        chunk->capacity = (page->region_bytes - sizeof *chunk) / sizeof *chunk->nodes;
    chunk->used = chunk->capacity; /* no node is added there */
}

static struct trodden_call_path_tree *own_tree(struct trodden_call_paths *paths) {
    uintptr_t tp = trodden_thread_pointer(), expected = 0;
    struct trodden_call_path_tree **bucket = &paths->buckets[trodden_call_bucket(tp)];
    struct trodden_call_path_tree *tree = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
    for (struct trodden_call_path_tree *each = tree; each; each = each->next)
        if (__atomic_load_n(&each->tp, __ATOMIC_RELAXED) == tp)
            return each;
    for (; tree; tree = tree->next, expected = 0)
        if (__atomic_compare_exchange_n(&tree->tp, &expected, tp, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return tree;
    tree = trodden_live_alloc(TRODDEN_REGION_CALL_TREE, 0, TREE_BYTES);
    if (!tree)
        return NULL;
    tree->tp = tp;
    init_tree(tree, tree);
    tree->next = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
    do {
        /* A signal handler may have done the same meanwhile. */
        for (struct trodden_call_path_tree *each = tree->next; each; each = each->next)
            if (__atomic_load_n(&each->tp, __ATOMIC_RELAXED) == tp) {
                trodden_live_free(tree, TREE_BYTES);
                return each;
            }
    } while (!__atomic_compare_exchange_n(bucket, &tree->next, tree, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return tree;
}

/* A function that is on the path already is called recursively. */
static struct trodden_call_node *ancestor_with_key(struct trodden_call_node *from,
                                                   const struct trodden_function_key *key) {
    while (from && from->key != key)
        from = from->parent;
    return from;
}

static struct trodden_call_node *make_node(const struct trodden_function_key *key, struct trodden_call_node *parent) {
    struct trodden_call_path_tree *tree = parent->tree;
    struct trodden_call_node_table *table = table_with_capacity(tree);
    struct trodden_call_node **slot, *node = table ? find(table, parent, key, &slot) : NULL;
    if (node)
        return node;
    if (!table || !(node = allocate_node(tree)))
        return NULL;
    struct trodden_call_node *ancestor = ancestor_with_key(parent, key);
    clear_callee_cache(node, tree);
    node->target = ancestor ? ancestor : node;
    node->parent = parent;
    node->unit = (uint32_t)key->unit->number - 1;
    node->function = (uint32_t)key->function;
    __atomic_store_n(&node->key, key, __ATOMIC_RELEASE);
    insert(table, node);
    return node;
}

#define SLOW_PATH TRODDEN_PRESERVE_MOST __attribute__((noinline))

SLOW_PATH static struct trodden_call_node *enter_new_node(const struct trodden_function_key *key,
                                                          struct trodden_call_node *parent) {
    struct trodden_call_node *early = trodden_early_call_node();
    if (early)
        return early;
    int saved_errno = errno;
    struct trodden_call_paths *paths = &__trodden_leader()->call_paths;
    struct trodden_call_path_tree *tree = parent->tree ? parent->tree : own_tree(paths);
    struct trodden_call_node *node = NULL;
    if (tree) {
        parent = parent->tree ? parent : &tree->root;
        if ((node = make_node(key, parent)))
            parent->cache[key->function % TRODDEN_CALLEE_CACHE] = node;
        else {
            node = &tree->spare;
            node->target = node->parent = parent;
        }
    }
    if (!node || node == &tree->spare)
        paths->lost = true, trodden_mark_incomplete();
    errno = saved_errno;
    return node ? node : &no_memory_node;
}

TRODDEN_PRESERVE_MOST struct trodden_call_node *__trodden_call(const struct trodden_function_key *key,
                                                               struct trodden_call_node *parent) {
    struct trodden_call_node **slot, *node = NULL;
    if (parent->tree && (node = find(parent->tree->table, parent, key, &slot))) {
        parent->cache[key->function % TRODDEN_CALLEE_CACHE] = node;
        return node;
    }
    TAIL_CALL return enter_new_node(key, parent);
}

/* Code without probes may run in the target frame, and its calls would be attributed to the function that jumped. */
void trodden_calls_unwind_to(uint64_t sp) {
    struct trodden_call_node **(*current)(void) =
        __atomic_load_n(&trodden_process.call_paths.current, __ATOMIC_ACQUIRE);
    if (!current)
        return;
    struct trodden_call_node *node = *current();
    while (node->parent && node->sp < sp)
        node = node->parent;
    *current() = node;
}

/* The node comes from the function's slot; without one, the frame's stack pointer tells, as for a jump beyond it. */
void trodden_calls_leave_frame(uint64_t call_node, uint64_t sp) {
    struct trodden_call_node **(*current)(void) =
        __atomic_load_n(&trodden_process.call_paths.current, __ATOMIC_ACQUIRE);
    if (current && call_node)
        *current() = (struct trodden_call_node *)call_node;
    else
        trodden_calls_unwind_to(sp + 1);
}

uint64_t trodden_calls_current(void) {
    struct trodden_process *process = __trodden_leader();
    struct trodden_call_node **(*current)(void) = __atomic_load_n(&process->call_paths.current, __ATOMIC_ACQUIRE);
    return current ? (uint64_t)*current() : 0;
}

void trodden_calls_resume(uint64_t node) {
    struct trodden_call_node **(*current)(void) =
        __atomic_load_n(&trodden_process.call_paths.current, __ATOMIC_ACQUIRE);
    if (current)
        *current() = node ? (struct trodden_call_node *)node : &trodden_outside;
}
