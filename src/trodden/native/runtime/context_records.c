/* The call paths of all threads, as they are written; and what becomes of them when threads, modules and processes
 * come to an end.  The caller holds the lock, but threads go on calling. */
#include "contexts.h"

typedef void visitor(struct trodden_call *call, void *context);

static void each_forth(struct trodden_call_tree *tree, visitor *visit, void *context) {
    struct trodden_call_chunk *chunk = tree->oldest;
    for (; chunk; chunk = __atomic_load_n(&chunk->newer, __ATOMIC_ACQUIRE))
        for (size_t i = 0, end = trodden_calls_in(chunk); i < end; i++)
            visit(&chunk->at[i], context);
}

static void each_back(struct trodden_call_tree *tree, visitor *visit, void *context) {
    struct trodden_call_chunk *chunk = __atomic_load_n(&tree->newest, __ATOMIC_ACQUIRE);
    for (; chunk; chunk = chunk->older)
        for (size_t i = trodden_calls_in(chunk); i-- > 0;)
            visit(&chunk->at[i], context);
}

static void each_tree(void (*visit)(struct trodden_call_tree *tree, void *context), void *context) {
    for (unsigned i = 0; i < TRODDEN_CALL_BUCKETS; i++) {
        struct trodden_call_tree *tree = __atomic_load_n(&trodden_lead.calls.buckets[i], __ATOMIC_ACQUIRE);
        for (; tree; tree = tree->next)
            visit(tree, context);
    }
}

/* ---- who is called ---- */
static bool holds(const struct trodden_module *module, const void *place) {
    uintptr_t at = (uintptr_t)place;
    return module->copy && (!module->high || (at >= module->low && at < module->high));
}

/* ---- what is written: calls that were made, and those that lead to them ---- */
static void forget_record(struct trodden_call *call, void *context) {
    (void)context;
    call->record = 0;
}

static void mark(struct trodden_call *call, void *context) {
    uint32_t *records = context;
    const struct trodden_key *key = __atomic_load_n(&call->key, __ATOMIC_ACQUIRE);
    if (!key || (!call->record && !__atomic_load_n(&call->count, __ATOMIC_RELAXED)))
        return;
    call->record = call->parent->record = 1;
    if (call->unit == TRODDEN_NO_UNIT)
        trodden_lead.calls.lost = true;
    else
        ++*records;
}

static void mark_tree(struct trodden_call_tree *tree, void *context) {
    uint32_t *records = context;
    tree->root.record = 0;
    each_forth(tree, forget_record, NULL);
    each_back(tree, mark, records);
    *records += tree->root.record;
}

uint32_t trodden_mark_calls(void) {
    uint32_t records = 0;
    each_tree(mark_tree, &records);
    return records;
}

struct telling {
    void (*tell)(const struct trodden_call_record *record, void *context);
    void *context;
    uint32_t told;
};

/* From here on `record` is the number of the record, plus one. */
static void tell(struct trodden_call *call, void *context) {
    struct telling *telling = context;
    if (!call->record)
        return;
    call->record = call->parent->record;
    if (call->unit == TRODDEN_NO_UNIT)
        return; /* a module that nobody knows: what it has called is taken as called by its caller */
    struct trodden_call_record record = {
        .unit = call->unit,
        .function = call->function,
        .parent = call->parent->record - 1,
        .flags = call->to == call ? 0 : TRODDEN_RECURSION,
        .count = __atomic_load_n(&call->count, __ATOMIC_RELAXED),
    };
    telling->tell(&record, telling->context);
    call->record = ++telling->told;
}

static void tell_tree(struct trodden_call_tree *tree, void *context) {
    struct telling *telling = context;
    if (!tree->root.record)
        return;
    telling->tell(&(struct trodden_call_record){.unit = TRODDEN_NO_UNIT}, telling->context);
    tree->root.record = ++telling->told;
    each_forth(tree, tell, telling);
}

void trodden_tell_calls(void (*visit)(const struct trodden_call_record *record, void *context), void *context) {
    struct telling telling = {visit, context, 0};
    each_tree(tell_tree, &telling);
}

/* ---- ends ---- */
static void let_go(struct trodden_call *call, void *context) {
    const struct trodden_module *module = context;
    const struct trodden_key *key = __atomic_load_n(&call->key, __ATOMIC_ACQUIRE);
    if (!key || key == TRODDEN_GONE || !holds(module, key))
        return;
    __atomic_store_n(&call->key, TRODDEN_GONE, __ATOMIC_RELEASE);
}

static void let_go_tree(struct trodden_call_tree *tree, void *context) { each_forth(tree, let_go, context); }

/* Any module that is loaded can tell where threads are in their trees. */
void trodden_find_caller(void) {
    struct trodden_call **(*found)(void) = NULL;
    for (const struct trodden_module *module = trodden_lead.modules; module && !found; module = module->next)
        for (uint32_t i = 0; i < module->unit_count && module->copy && (!module->left || module->stays) && !found; i++)
            found = module->units[i].unit->caller;
    __atomic_store_n(&trodden_lead.calls.caller, found, __ATOMIC_RELEASE);
}

void trodden_keep_calls(struct trodden_module *module) { each_tree(let_go_tree, module); }

void trodden_retire_calls(uintptr_t tp) {
    if (trodden_lead.calls.caller)
        *trodden_lead.calls.caller() = &trodden_outside;
    struct trodden_call_tree *tree =
        __atomic_load_n(&trodden_lead.calls.buckets[trodden_call_bucket(tp)], __ATOMIC_ACQUIRE);
    for (; tree; tree = tree->next)
        if (__atomic_load_n(&tree->tp, __ATOMIC_RELAXED) == tp)
            __atomic_store_n(&tree->tp, 0, __ATOMIC_RELEASE);
}

static void forget_count(struct trodden_call *call, void *context) {
    (void)context;
    if (call->count)
        call->count = 0;
}

static void forget_tree(struct trodden_call_tree *tree, void *context) {
    each_forth(tree, forget_count, NULL);
    if (tree->tp != *(const uintptr_t *)context)
        tree->tp = 0;
}

void trodden_forget_calls(uintptr_t tp) { each_tree(forget_tree, &tp); }
