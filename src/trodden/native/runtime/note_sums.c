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

static void add_array(struct trodden_note_sums *sums, const struct trodden_note_array *array) {
    for (size_t i = 0; i < trodden_note_room(array); i++) {
        const struct trodden_note_entry *entry = &array->at[i];
        uint64_t unit = __atomic_load_n(&entry->unit, __ATOMIC_ACQUIRE);
        uint64_t amount = __atomic_load_n(&entry->amount, __ATOMIC_RELAXED);
        if (amount && unit != TRODDEN_NOTE_TAKEN)
            add_sum(sums, (uint32_t)unit - 1, entry->key, entry->value, amount);
    }
}

/* What a module has noted, whether it is loaded now or not. */
static struct trodden_notes *notes_of(const struct trodden_module *module) {
    return module->notes ? module->notes : module->kept;
}

/* The threads of these tables may be running. */
static void add_module(struct trodden_note_sums *sums, const struct trodden_notes *notes) {
    for (unsigned i = 0; i < TRODDEN_NOTE_BUCKETS; i++) {
        const struct trodden_note_table *table = __atomic_load_n(&notes->buckets[i], __ATOMIC_ACQUIRE);
        for (; table; table = table->next) {
            const struct trodden_note_array *array = __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
            for (; array; array = array->older)
                add_array(sums, array);
        }
    }
    sums->lost = sums->lost || notes->lost;
}

void trodden_sum_notes(struct trodden_note_sums *sums) {
    for (const struct trodden_module *module = trodden_lead.modules; module; module = module->next)
        if (notes_of(module))
            add_module(sums, notes_of(module));
}

/* The tables lie in the live file and stay there; a module that is loaded again goes on with them. */
void trodden_keep_notes(struct trodden_module *module) {
    if (!module->notes)
        return;
    if (!module->kept && !(module->kept = trodden_alloc(sizeof *module->kept)))
        return;
    *module->kept = *module->notes;
    for (unsigned i = 0; i < TRODDEN_NOTE_BUCKETS; i++) {
        for (struct trodden_note_table *table = module->kept->buckets[i]; table; table = table->next)
            table->tp = 0;
        module->notes->buckets[i] = NULL;
    }
}

void trodden_resume_notes(struct trodden_module *module, struct trodden_notes *notes) {
    if (module->kept)
        *notes = *module->kept;
    module->notes = notes;
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
    for (const struct trodden_module *module = trodden_lead.modules; module; module = module->next) {
        struct trodden_notes *notes = notes_of(module);
        for (unsigned i = 0; notes && i < TRODDEN_NOTE_BUCKETS; i++)
            for (struct trodden_note_table *table = notes->buckets[i]; table; table = table->next) {
                for (struct trodden_note_array *array = table->array; array; array = array->older)
                    for (size_t k = 0; k < trodden_note_room(array); k++)
                        if (array->at[k].amount)
                            array->at[k].amount = 0;
                if (table->tp != tp)
                    table->tp = 0;
            }
    }
}
