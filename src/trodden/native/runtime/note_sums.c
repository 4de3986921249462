/* The notes of all modules and threads, added up for the result. */
#include "notes.h"

enum { FIRST_ROOM = 1 << 10 };

static struct trodden_note_sum *sum_of(struct trodden_note_sums *sums, uint32_t unit, uint64_t key, uint64_t value) {
    uint64_t hash = (key ^ (uint64_t)unit << 40) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32 ^ value) * 0xd6e8feb86659fd93u;
    uint64_t index = (hash >> 24) & (sums->room - 1);
    while (sums->at[index].used &&
           (sums->at[index].value != value || sums->at[index].key != key || sums->at[index].unit != unit))
        index = (index + 1) & (sums->room - 1);
    return &sums->at[index];
}

static void add_sum(struct trodden_note_sums *sums, uint32_t unit, uint64_t key, uint64_t value, uint64_t amount);

static void add_all(struct trodden_note_sums *sums, const struct trodden_note_sums *from) {
    for (uint64_t i = 0; i < from->room; i++)
        if (from->at[i].used)
            add_sum(sums, from->at[i].unit, from->at[i].key, from->at[i].value, from->at[i].amount);
    sums->lost = sums->lost || from->lost;
}

static bool has_room(struct trodden_note_sums *sums) {
    if (sums->used < sums->room / 4 * 3)
        return true;
    struct trodden_note_sums larger = {NULL, sums->room ? sums->room * 2 : FIRST_ROOM, 0, false};
    larger.at = trodden_map(larger.room * sizeof *larger.at);
    if (!larger.at)
        return sums->used + 1 < sums->room; /* an empty one has to remain */
    add_all(&larger, sums);
    trodden_free_sums(sums);
    *sums = larger;
    return true;
}

static void add_sum(struct trodden_note_sums *sums, uint32_t unit, uint64_t key, uint64_t value, uint64_t amount) {
    if (!has_room(sums)) {
        sums->lost = true;
        return;
    }
    struct trodden_note_sum *sum = sum_of(sums, unit, key, value);
    if (!sum->used) {
        *sum = (struct trodden_note_sum){unit, 1, key, value, 0};
        sums->used++;
    }
    sum->amount += amount;
}

void trodden_free_sums(struct trodden_note_sums *sums) {
    trodden_unmap(sums->at, sums->room * sizeof *sums->at);
    *sums = (struct trodden_note_sums){NULL, 0, 0, false};
}

static void add_array(struct trodden_note_sums *sums, const struct trodden_module *module, uint32_t first_unit,
                      const struct trodden_note_array *array) {
    const struct trodden_unit *units = module->units[0].unit;
    for (size_t i = 0; i < trodden_note_room(array); i++) {
        const struct trodden_note_entry *entry = &array->at[i];
        const struct trodden_unit *unit = __atomic_load_n(&entry->unit, __ATOMIC_ACQUIRE);
        uint64_t amount = __atomic_load_n(&entry->amount, __ATOMIC_RELAXED);
        if (amount && unit >= units && unit < units + module->unit_count)
            add_sum(sums, first_unit + (uint32_t)(unit - units), entry->key, entry->value, amount);
    }
}

/* The threads of these tables may be running. */
static void add_module(struct trodden_note_sums *sums, const struct trodden_module *module, uint32_t first_unit) {
    for (unsigned i = 0; i < TRODDEN_NOTE_BUCKETS; i++) {
        const struct trodden_note_table *table = __atomic_load_n(&module->notes->buckets[i], __ATOMIC_ACQUIRE);
        for (; table; table = table->next) {
            const struct trodden_note_array *array = __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
            for (; array; array = array->older)
                add_array(sums, module, first_unit, array);
        }
    }
    sums->lost = sums->lost || module->notes->lost;
}

/* How many units are written before those of the module: this does not change when more modules come. */
static uint32_t first_unit_of(const struct trodden_module *module) {
    uint32_t count = 0;
    for (const struct trodden_module *other = trodden_lead.modules; other != module; other = other->next)
        count += other->unit_count;
    return count;
}

void trodden_sum_notes(struct trodden_note_sums *sums) {
    add_all(sums, &trodden_lead.notes);
    for (const struct trodden_module *module = trodden_lead.modules; module; module = module->next)
        if (module->notes)
            add_module(sums, module, first_unit_of(module));
}

void trodden_keep_notes(struct trodden_module *module) {
    if (!module->notes)
        return;
    add_module(&trodden_lead.notes, module, first_unit_of(module));
    for (unsigned i = 0; i < TRODDEN_NOTE_BUCKETS; i++) {
        struct trodden_note_table *next;
        for (struct trodden_note_table *table = module->notes->buckets[i]; table; table = next) {
            struct trodden_note_array *older;
            next = table->next;
            for (struct trodden_note_array *array = table->array; array->bytes; array = older) {
                older = array->older;
                trodden_unmap(array, array->bytes);
            }
            trodden_unmap(table, table->bytes);
        }
        module->notes->buckets[i] = NULL;
    }
}

void trodden_retire_notes(uintptr_t tp) {
    for (const struct trodden_module *module = trodden_lead.modules; module; module = module->next) {
        if (!module->notes)
            continue;
        struct trodden_note_table **bucket = &module->notes->buckets[trodden_note_bucket(tp)];
        struct trodden_note_table *table = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
        for (; table; table = table->next)
            if (__atomic_load_n(&table->tp, __ATOMIC_RELAXED) == tp)
                __atomic_store_n(&table->tp, 0, __ATOMIC_RELEASE);
    }
}

/* Nothing but amounts is touched: fork may have been called by a handler, in the middle of a note. */
void trodden_forget_notes(uintptr_t tp) {
    trodden_free_sums(&trodden_lead.notes);
    for (const struct trodden_module *module = trodden_lead.modules; module; module = module->next)
        for (unsigned i = 0; module->notes && i < TRODDEN_NOTE_BUCKETS; i++)
            for (struct trodden_note_table *table = module->notes->buckets[i]; table; table = table->next) {
                for (struct trodden_note_array *array = table->array; array; array = array->older)
                    for (size_t k = 0; k < trodden_note_room(array); k++)
                        if (array->at[k].amount)
                            array->at[k].amount = 0;
                if (table->tp != tp)
                    table->tp = 0;
            }
}
