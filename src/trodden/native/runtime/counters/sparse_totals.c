/* The sparse path tables of all modules and threads, summed up for the raw file. */
#include "counters/sparse_paths.h"
#include "platform/system.h"
#include "process/process.h"

enum { INITIAL_CAPACITY = 1 << 10 };

static struct trodden_sparse_total *probe_totals(struct trodden_sparse_totals *totals, uint32_t unit, uint64_t key,
                                                 uint64_t value) {
    uint64_t hash = (key ^ (uint64_t)unit << 40) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32 ^ value) * 0xd6e8feb86659fd93u;
    uint64_t index = (hash >> 24) & (totals->capacity - 1);
    while (totals->entries[index].occupied &&
           (totals->entries[index].value != value || totals->entries[index].key != key ||
            totals->entries[index].unit != unit))
        index = (index + 1) & (totals->capacity - 1);
    return &totals->entries[index];
}

static void add_amount(struct trodden_sparse_totals *totals, uint32_t unit, uint64_t key, uint64_t value,
                       uint64_t amount);

static void add_all(struct trodden_sparse_totals *totals, const struct trodden_sparse_totals *from) {
    for (uint64_t i = 0; i < from->capacity; i++)
        if (from->entries[i].occupied)
            add_amount(totals, from->entries[i].unit, from->entries[i].key, from->entries[i].value,
                       from->entries[i].amount);
    totals->lost = totals->lost || from->lost;
}

static bool ensure_capacity(struct trodden_sparse_totals *totals) {
    if (totals->used < totals->capacity / 4 * 3)
        return true;
    struct trodden_sparse_totals larger = {NULL, totals->capacity ? totals->capacity * 2 : INITIAL_CAPACITY, 0,
                                           false};
    larger.entries = trodden_map(larger.capacity * sizeof *larger.entries);
    if (!larger.entries)
        return totals->used + 1 < totals->capacity; /* one entry has to stay free */
    add_all(&larger, totals);
    trodden_sparse_free_totals(totals);
    *totals = larger;
    return true;
}

static void add_amount(struct trodden_sparse_totals *totals, uint32_t unit, uint64_t key, uint64_t value,
                       uint64_t amount) {
    if (!ensure_capacity(totals)) {
        totals->lost = true;
        return;
    }
    struct trodden_sparse_total *total = probe_totals(totals, unit, key, value);
    if (!total->occupied) {
        *total = (struct trodden_sparse_total){unit, 1, key, value, 0};
        totals->used++;
    }
    total->amount += amount;
}

void trodden_sparse_free_totals(struct trodden_sparse_totals *totals) {
    trodden_unmap(totals->entries, totals->capacity * sizeof *totals->entries);
    *totals = (struct trodden_sparse_totals){NULL, 0, 0, false};
}

static void add_array(struct trodden_sparse_totals *totals, const struct trodden_sparse_array *array) {
    for (size_t i = 0; i < trodden_sparse_capacity(array); i++) {
        const struct trodden_sparse_entry *entry = &array->entries[i];
        uint64_t unit = __atomic_load_n(&entry->unit_number, __ATOMIC_ACQUIRE);
        uint64_t amount = __atomic_load_n(&entry->amount, __ATOMIC_RELAXED);
        if (amount && unit != TRODDEN_SPARSE_RESERVED)
            add_amount(totals, (uint32_t)unit - 1, entry->key, entry->value, amount);
    }
}

/* The tables of a module, whether it is loaded now or not. */
static struct trodden_sparse_paths *sparse_paths_of(const struct trodden_module *module) {
    return module->sparse_paths ? module->sparse_paths : module->saved_sparse_paths;
}

/* The threads of these tables may be running. */
static void add_module(struct trodden_sparse_totals *totals, const struct trodden_sparse_paths *paths) {
    for (unsigned i = 0; i < TRODDEN_SPARSE_BUCKETS; i++) {
        const struct trodden_sparse_table *table = __atomic_load_n(&paths->buckets[i], __ATOMIC_ACQUIRE);
        for (; table; table = table->next) {
            const struct trodden_sparse_array *array = __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
            for (; array; array = array->older)
                add_array(totals, array);
        }
    }
    totals->lost = totals->lost || paths->lost;
}

void trodden_sparse_sum(struct trodden_sparse_totals *totals) {
    for (const struct trodden_module *module = trodden_process.modules; module; module = module->next)
        if (sparse_paths_of(module))
            add_module(totals, sparse_paths_of(module));
}

/* The tables lie in the live file and stay there; a module that is loaded again continues with them. */
void trodden_sparse_save_module(struct trodden_module *module) {
    if (!module->sparse_paths)
        return;
    if (!module->saved_sparse_paths &&
        !(module->saved_sparse_paths = trodden_alloc(sizeof *module->saved_sparse_paths)))
        return;
    *module->saved_sparse_paths = *module->sparse_paths;
    for (unsigned i = 0; i < TRODDEN_SPARSE_BUCKETS; i++) {
        for (struct trodden_sparse_table *table = module->saved_sparse_paths->buckets[i]; table; table = table->next)
            table->tp = 0;
        module->sparse_paths->buckets[i] = NULL;
    }
}

void trodden_sparse_restore_module(struct trodden_module *module, struct trodden_sparse_paths *own) {
    if (module->saved_sparse_paths)
        *own = *module->saved_sparse_paths;
    module->sparse_paths = own;
}

void trodden_sparse_release_thread(uintptr_t tp) {
    for (const struct trodden_module *module = trodden_process.modules; module; module = module->next) {
        if (!module->sparse_paths)
            continue;
        struct trodden_sparse_table **bucket = &module->sparse_paths->buckets[trodden_sparse_bucket(tp)];
        struct trodden_sparse_table *table = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
        for (; table; table = table->next)
            if (__atomic_load_n(&table->tp, __ATOMIC_RELAXED) == tp)
                __atomic_store_n(&table->tp, 0, __ATOMIC_RELEASE);
    }
}

/* Only amounts are changed: fork may have been called by a signal handler, in the middle of an update. */
void trodden_sparse_reset(uintptr_t tp) {
    for (const struct trodden_module *module = trodden_process.modules; module; module = module->next) {
        struct trodden_sparse_paths *paths = sparse_paths_of(module);
        for (unsigned i = 0; paths && i < TRODDEN_SPARSE_BUCKETS; i++)
            for (struct trodden_sparse_table *table = paths->buckets[i]; table; table = table->next) {
                for (struct trodden_sparse_array *array = table->array; array; array = array->older)
                    for (size_t k = 0; k < trodden_sparse_capacity(array); k++)
                        if (array->entries[k].amount)
                            array->entries[k].amount = 0;
                if (table->tp != tp)
                    table->tp = 0;
            }
    }
}
