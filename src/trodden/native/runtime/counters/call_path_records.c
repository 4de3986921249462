/* The call-path trees of all threads: how they are written, and what becomes of them when threads exit, modules are
 * unloaded and processes fork.  The caller holds the lock, but threads continue to add nodes. */
#include "counters/call_path_tree.h"
#include "process/process.h"

typedef void visitor(struct trodden_call_node *call, void *context);

static void visit_oldest_first(struct trodden_call_path_tree *tree, visitor *visit, void *context) {
    struct trodden_call_node_chunk *chunk = tree->oldest;
    for (; chunk; chunk = __atomic_load_n(&chunk->newer, __ATOMIC_ACQUIRE))
        for (size_t i = 0, end = trodden_nodes_in(chunk); i < end; i++)
            visit(&chunk->nodes[i], context);
}

static void visit_newest_first(struct trodden_call_path_tree *tree, visitor *visit, void *context) {
    struct trodden_call_node_chunk *chunk = __atomic_load_n(&tree->newest, __ATOMIC_ACQUIRE);
    for (; chunk; chunk = chunk->older)
        for (size_t i = trodden_nodes_in(chunk); i-- > 0;)
            visit(&chunk->nodes[i], context);
}

static void visit_trees(void (*visit)(struct trodden_call_path_tree *tree, void *context), void *context) {
    for (unsigned i = 0; i < TRODDEN_CALL_BUCKETS; i++) {
        struct trodden_call_path_tree *tree =
            __atomic_load_n(&trodden_process.call_paths.buckets[i], __ATOMIC_ACQUIRE);
        for (; tree; tree = tree->next)
            visit(tree, context);
    }
}

static bool module_contains(const struct trodden_module *module, const void *address) {
    uintptr_t at = (uintptr_t)address;
    return module->instance && (!module->high || (at >= module->low && at < module->high));
}

/* ---- writing: nodes with a count, and their ancestors ---- */
static void clear_record_number(struct trodden_call_node *node, void *context) {
    (void)context;
    node->record_number = 0;
}

static void mark(struct trodden_call_node *node, void *context) {
    uint32_t *records = context;
    const struct trodden_function_key *key = __atomic_load_n(&node->key, __ATOMIC_ACQUIRE);
    if (!key || (!node->record_number && !__atomic_load_n(&node->count, __ATOMIC_RELAXED)))
        return;
    node->record_number = node->parent->record_number = 1;
    if (node->unit == TRODDEN_NO_UNIT)
        trodden_process.call_paths.lost = true;
    else
        ++*records;
}

static void mark_tree(struct trodden_call_path_tree *tree, void *context) {
    uint32_t *records = context;
    tree->root.record_number = 0;
    visit_oldest_first(tree, clear_record_number, NULL);
    visit_newest_first(tree, mark, records);
    *records += tree->root.record_number;
}

uint32_t trodden_calls_mark(void) {
    uint32_t records = 0;
    visit_trees(mark_tree, &records);
    return records;
}

struct record_sink {
    trodden_call_path_visitor *visit;
    void *context;
    uint32_t written;
};

/* From here on `record_number` is the index of the record, plus one. */
static void visit_record(struct trodden_call_node *node, void *context) {
    struct record_sink *sink = context;
    if (!node->record_number)
        return;
    node->record_number = node->parent->record_number;
    if (node->unit == TRODDEN_NO_UNIT)
        return; /* its module is not known: its callees are attributed to its caller */
    struct trodden_call_path_record record = {
        .unit = node->unit,
        .function = node->function,
        .parent = node->parent->record_number - 1,
        .flags = node->target == node ? 0 : TRODDEN_CALL_RECURSIVE,
        .count = __atomic_load_n(&node->count, __ATOMIC_RELAXED),
    };
    sink->visit(&record, sink->context);
    node->record_number = ++sink->written;
}

static void visit_tree_records(struct trodden_call_path_tree *tree, void *context) {
    struct record_sink *sink = context;
    if (!tree->root.record_number)
        return;
    sink->visit(&(struct trodden_call_path_record){.unit = TRODDEN_NO_UNIT}, sink->context);
    tree->root.record_number = ++sink->written;
    visit_oldest_first(tree, visit_record, sink);
}

void trodden_calls_visit_records(trodden_call_path_visitor *visit, void *context) {
    struct record_sink sink = {visit, context, 0};
    visit_trees(visit_tree_records, &sink);
}

/* ---- modules, threads and forks ---- */
static void forget_key(struct trodden_call_node *node, void *context) {
    const struct trodden_module *module = context;
    const struct trodden_function_key *key = __atomic_load_n(&node->key, __ATOMIC_ACQUIRE);
    if (!key || key == TRODDEN_UNLOADED_KEY || !module_contains(module, key))
        return;
    __atomic_store_n(&node->key, TRODDEN_UNLOADED_KEY, __ATOMIC_RELEASE);
}

static void forget_keys(struct trodden_call_path_tree *tree, void *context) {
    visit_oldest_first(tree, forget_key, context);
}

/* Any loaded module can tell the current nodes of threads. */
void trodden_calls_find_accessor(void) {
    struct trodden_call_node **(*found)(void) = NULL;
    for (const struct trodden_module *module = trodden_process.modules; module && !found; module = module->next)
        for (uint32_t i = 0; i < module->unit_count && trodden_module_may_count(module) && !found; i++)
            found = module->units[i].unit->caller;
    __atomic_store_n(&trodden_process.call_paths.current, found, __ATOMIC_RELEASE);
}

void trodden_calls_forget_module(struct trodden_module *module) { visit_trees(forget_keys, module); }

void trodden_calls_release_thread(uintptr_t tp) {
    if (trodden_process.call_paths.current)
        *trodden_process.call_paths.current() = &trodden_outside;
    struct trodden_call_path_tree *tree =
        __atomic_load_n(&trodden_process.call_paths.buckets[trodden_call_bucket(tp)], __ATOMIC_ACQUIRE);
    for (; tree; tree = tree->next)
        if (__atomic_load_n(&tree->tp, __ATOMIC_RELAXED) == tp)
            __atomic_store_n(&tree->tp, 0, __ATOMIC_RELEASE);
}

static void clear_count(struct trodden_call_node *node, void *context) {
    (void)context;
    if (node->count)
        node->count = 0;
}

static void clear_tree(struct trodden_call_path_tree *tree, void *context) {
    visit_oldest_first(tree, clear_count, NULL);
    if (tree->tp != *(const uintptr_t *)context)
        tree->tp = 0;
}

void trodden_calls_reset(uintptr_t tp) { visit_trees(clear_tree, &tp); }
