/* Call paths: which chain of functions led to each call, counted exactly (BL96 1.2).
 *
 * BL96 would number the paths of the call graph.  Here files are compiled one by one, calls go through pointers
 * and into libraries, and nobody knows the graph; so the paths are found as they are walked, as a tree.  A
 * function that is called again by what it has called itself goes back to where it stands in the tree, so no
 * path is longer than there are functions.
 *
 * Instrumented code keeps in a thread-local variable where the thread is in its tree.  If a function is called from
 * there that was the last one before, it goes on by itself; otherwise it asks here.  A thread has a tree of
 * its own.  A signal handler goes on in the tree of the thread that it has interrupted, perhaps in the middle of the
 * functions below.  Therefore, as in notes.c,
 * - a call is shown only when it is whole, and never moves nor goes away;
 * - what is not found though it is there is made again, and added up in the end (context_records.c).
 * There are no locks, and no system calls but for memory. */
#include <errno.h>

#include "contexts.h"

enum { TREE_BYTES = 16 << 10, FIRST_BITS = 8, CHUNK_BYTES = 64 << 10, LARGEST_CHUNK = 1 << 20 };

_Static_assert(sizeof(struct trodden_call) == 128 && offsetof(struct trodden_call, last) == 40,
               "instrumented code knows the places");

struct trodden_call trodden_outside = {
    .to = &trodden_outside,
    .last = {[0 ... TRODDEN_CALL_WAYS - 1] = &trodden_outside},
};

/* Where a thread is that has no tree and gets no memory for one. */
static struct trodden_call nowhere = {.to = &trodden_outside, .parent = &trodden_outside};

static inline uint64_t hash_of(const struct trodden_call *parent, const struct trodden_key *key) {
    return ((uintptr_t)parent * 0x9e3779b97f4a7c15u ^ (uintptr_t)key) * 0xd6e8feb86659fd93u;
}

/* The call, or NULL and the place that it would take. */
static inline struct trodden_call *find(struct trodden_call_table *table, const struct trodden_call *parent,
                                        const struct trodden_key *key, struct trodden_call ***place) {
    for (size_t index = hash_of(parent, key) >> table->shift;; index = (index + 1) & table->mask) {
        struct trodden_call *call = __atomic_load_n(&table->at[index], __ATOMIC_RELAXED);
        *place = &table->at[index];
        if (!call || (call->parent == parent && call->key == key))
            return call;
    }
}

static struct trodden_call_table *table_in(void *memory, unsigned bits) {
    struct trodden_call_table *table = memory;
    table->shift = 64 - bits;
    table->mask = ((size_t)1 << bits) - 1;
    return table;
}

static size_t table_bytes(unsigned bits) {
    return sizeof(struct trodden_call_table) + (sizeof(struct trodden_call *) << bits);
}

static void enter_in_table(struct trodden_call_table *table, struct trodden_call *call) {
    struct trodden_call **place, *none;
    do {
        if (find(table, call->parent, call->key, &place))
            return;
        none = NULL;
    } while (!__atomic_compare_exchange_n(place, &none, call, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
    __atomic_fetch_add(&table->used, 1, __ATOMIC_RELAXED);
}

/* The smaller table stays mapped: whoever has been interrupted may be looking at it. */
static struct trodden_call_table *table_with_room(struct trodden_call_tree *tree) {
    struct trodden_call_table *table = __atomic_load_n(&tree->table, __ATOMIC_ACQUIRE);
    size_t room = table->mask + 1, used = __atomic_load_n(&table->used, __ATOMIC_RELAXED);
    if (used < room / 2)
        return table;
    unsigned bits = 64 - table->shift + 1;
    size_t bytes = table_bytes(bits);
    void *memory = trodden_keep(TRODDEN_CALL_TABLE, 0, bytes);
    if (!memory)
        return used < room / 16 * 15 ? table : NULL; /* probing must end somewhere */
    struct trodden_call_table *larger = table_in(memory, bits);
    for (size_t i = 0; i < room; i++)
        if (table->at[i] && table->at[i]->key != TRODDEN_GONE)
            enter_in_table(larger, table->at[i]);
    if (__atomic_compare_exchange_n(&tree->table, &table, larger, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return larger;
    trodden_give_up(memory, bytes);
    return table;
}

static struct trodden_call *free_call(struct trodden_call_tree *tree) {
    for (;;) {
        struct trodden_call_chunk *chunk = __atomic_load_n(&tree->newest, __ATOMIC_ACQUIRE), *known = chunk;
        if (trodden_calls_in(chunk) < chunk->room) {
            size_t index = __atomic_fetch_add(&chunk->used, 1, __ATOMIC_RELAXED);
            if (index < chunk->room)
                return &chunk->at[index];
        }
        size_t bytes = 2 * (sizeof *chunk + chunk->room * sizeof *chunk->at);
        bytes = bytes < CHUNK_BYTES ? CHUNK_BYTES : bytes > LARGEST_CHUNK ? LARGEST_CHUNK : bytes;
        struct trodden_call_chunk *fresh = trodden_keep(TRODDEN_CALL_CHUNK, 0, bytes);
        if (!fresh)
            return NULL;
        fresh->older = chunk;
        fresh->room = (bytes - sizeof *fresh) / sizeof *fresh->at;
        if (__atomic_compare_exchange_n(&tree->newest, &known, fresh, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            __atomic_store_n(&chunk->newer, fresh, __ATOMIC_RELEASE);
        else
            trodden_give_up(fresh, bytes);
    }
}

/* Nobody can be called from here yet: a call without a key equals none. */
static void has_called_nobody(struct trodden_call *call, struct trodden_call_tree *tree) {
    call->tree = tree;
    for (unsigned way = 0; way < TRODDEN_CALL_WAYS; way++)
        call->last[way] = &tree->root;
}

static struct trodden_call_tree *own_tree(struct trodden_calls *calls) {
    uintptr_t tp = trodden_thread_pointer(), nobody = 0;
    struct trodden_call_tree **bucket = &calls->buckets[trodden_call_bucket(tp)];
    struct trodden_call_tree *tree = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
    for (struct trodden_call_tree *each = tree; each; each = each->next)
        if (__atomic_load_n(&each->tp, __ATOMIC_RELAXED) == tp)
            return each;
    for (; tree; tree = tree->next, nobody = 0)
        if (__atomic_compare_exchange_n(&tree->tp, &nobody, tp, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return tree;
    tree = trodden_keep(TRODDEN_CALL_TREE, 0, TREE_BYTES);
    if (!tree)
        return NULL;
    uint8_t *table = (uint8_t *)(tree + 1), *chunk = table + table_bytes(FIRST_BITS);
    tree->tp = tp;
    tree->table = table_in(table, FIRST_BITS);
    tree->oldest = tree->newest = (struct trodden_call_chunk *)chunk;
    tree->newest->room = ((uintptr_t)tree + TREE_BYTES - (uintptr_t)tree->newest->at) / sizeof(struct trodden_call);
    tree->root = (struct trodden_call){.to = &tree->root, .frame = UINT64_MAX};
    has_called_nobody(&tree->root, tree);
    tree->next = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
    do {
        /* A handler may have come here meanwhile. */
        for (struct trodden_call_tree *each = tree->next; each; each = each->next)
            if (__atomic_load_n(&each->tp, __ATOMIC_RELAXED) == tp) {
                trodden_give_up(tree, TREE_BYTES);
                return each;
            }
    } while (!__atomic_compare_exchange_n(bucket, &tree->next, tree, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return tree;
}

/* A function that is on its way already is called by going back to where it stands. */
static struct trodden_call *on_the_way(struct trodden_call *from, const struct trodden_key *key) {
    while (from && from->key != key)
        from = from->parent;
    return from;
}

static struct trodden_call *make_call(const struct trodden_key *key, struct trodden_call *parent) {
    struct trodden_call_tree *tree = parent->tree;
    struct trodden_call_table *table = table_with_room(tree);
    struct trodden_call **place, *call = table ? find(table, parent, key, &place) : NULL;
    if (call)
        return call;
    if (!table || !(call = free_call(tree)))
        return NULL;
    struct trodden_call *again = on_the_way(parent, key);
    has_called_nobody(call, tree);
    call->to = again ? again : call;
    call->parent = parent;
    call->unit = (uint32_t)key->unit->number - 1;
    call->function = (uint32_t)key->function;
    __atomic_store_n(&call->key, key, __ATOMIC_RELEASE);
    enter_in_table(table, call);
    return call;
}

#define STEP TRODDEN_KEEPS_REGISTERS __attribute__((noinline))

STEP static struct trodden_call *call_new(const struct trodden_key *key, struct trodden_call *parent) {
    int saved = errno;
    struct trodden_calls *calls = &__trodden_leader()->calls;
    struct trodden_call_tree *tree = parent->tree ? parent->tree : own_tree(calls);
    struct trodden_call *call = NULL;
    if (tree) {
        parent = parent->tree ? parent : &tree->root;
        if ((call = make_call(key, parent)))
            parent->last[key->function % TRODDEN_CALL_WAYS] = call;
        else {
            call = &tree->spare;
            call->to = call->parent = parent;
        }
    }
    if (!call || call == &tree->spare)
        calls->lost = true, trodden_tell_cut();
    errno = saved;
    return call ? call : &nowhere;
}

TRODDEN_KEEPS_REGISTERS struct trodden_call *__trodden_call(const struct trodden_key *key,
                                                            struct trodden_call *parent) {
    struct trodden_call **place, *call = NULL;
    if (parent->tree && (call = find(parent->tree->table, parent, key, &place))) {
        parent->last[key->function % TRODDEN_CALL_WAYS] = call;
        return call;
    }
    IN_PLACE return call_new(key, parent);
}

/* A longjmp goes to the frame at `sp`; those within it are left behind.  Code without probes may go on there,
 * and would be taken for the function that has jumped. */
void trodden_calls_jump(uint64_t sp) {
    struct trodden_call **(*caller)(void) = __atomic_load_n(&trodden_lead.calls.caller, __ATOMIC_ACQUIRE);
    if (!caller)
        return;
    struct trodden_call *call = *caller();
    while (call->parent && call->frame < sp)
        call = call->parent;
    *caller() = call;
}

/* The function has told what it has found, or only its frame does, as for a jump beyond it. */
void trodden_calls_pass(uint64_t found, uint64_t sp) {
    struct trodden_call **(*caller)(void) = __atomic_load_n(&trodden_lead.calls.caller, __ATOMIC_ACQUIRE);
    if (caller && found)
        *caller() = (struct trodden_call *)found;
    else
        trodden_calls_jump(sp + 1);
}

uint64_t trodden_calls_place(void) {
    struct trodden_lead *lead = __trodden_leader();
    struct trodden_call **(*caller)(void) = __atomic_load_n(&lead->calls.caller, __ATOMIC_ACQUIRE);
    return caller ? (uint64_t)*caller() : 0;
}

void trodden_calls_go_on(uint64_t place) {
    struct trodden_call **(*caller)(void) = __atomic_load_n(&trodden_lead.calls.caller, __ATOMIC_ACQUIRE);
    if (caller)
        *caller() = place ? (struct trodden_call *)place : &trodden_outside;
}
