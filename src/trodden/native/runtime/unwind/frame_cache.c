/* The frame cache: frames that non-local exits have left before.
 *
 * Most frames are simple: the CFA lies at a fixed offset from the stack or frame pointer, the return address and the
 * caller's frame pointer lie at fixed offsets from the CFA, and the function's path-register slot lies at a fixed
 * offset from the CFA or the frame pointer.  Programs jump from few locations again and again.  Therefore these
 * offsets are cached by return address, together with the record that counts such frames.  A jump over cached frames
 * alone takes no lock, makes no system call and reads no unwinding table.
 *
 * This file makes the entries and clears them, with the lock held.  cached_walk.c uses them without it. */
#include <string.h>

#include "platform/system.h"
#include "process/process.h"
#include "unwind/frame_cache.h"
#include "unwind/frame_table.h"

enum { INITIAL_CAPACITY = 1 << 10, GROWTH_FACTOR = 4 };

struct frame_table trodden_frame_table;

SLOW_PATH struct cached_frame *trodden_probe_frame_table(struct cache_table *table, uintptr_t key) {
    for (uint64_t index = hash_of(key);; index++) {
        struct cached_frame *entry = &table->entries[index & table->mask];
        if (has_key(entry, key))
            return entry;
        if (has_key(entry, 0))
            return NULL;
    }
}

static void clear_table(void) {
    struct cache_table *table = trodden_frame_table.newest;
    uint64_t clears = trodden_frame_table.clears;
    if (!table)
        return;
    __atomic_store_n(&trodden_frame_table.clears, clears + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memset(table->entries, 0, (table->mask + 1) * sizeof *table->entries);
    table->used = 0;
    __atomic_store_n(&trodden_frame_table.clears, clears + 2, __ATOMIC_RELEASE);
}

void trodden_frame_cache_clear(void) { clear_table(); }

void trodden_frame_cache_validate(void) {
    uint64_t now = trodden_process.images ? trodden_process.images->generation : 0;
    if (trodden_frame_table.generation == now)
        return;
    clear_table();
    __atomic_store_n(&trodden_frame_table.generation, now, __ATOMIC_RELEASE);
}

static void insert(struct cache_table *table, const struct cached_frame *from) {
    uint64_t index = hash_of(from->key);
    while (table->entries[index & table->mask].key)
        index++;
    struct cached_frame *entry = &table->entries[index & table->mask];
    memcpy(&entry->shared_record, &from->shared_record, sizeof *entry - offsetof(struct cached_frame, shared_record));
    entry->caller = entry;
    __atomic_store_n(&entry->key, from->key, __ATOMIC_RELEASE);
    table->used++;
}

/* The smaller table stays mapped: other threads may be reading it. */
static struct cache_table *table_with_capacity(void) {
    struct cache_table *table = trodden_frame_table.newest;
    uint64_t capacity = table ? table->mask + 1 : 0;
    if (table && table->used < capacity / 2)
        return table;
    uint64_t new_capacity = table ? capacity * GROWTH_FACTOR : INITIAL_CAPACITY;
    struct cache_table *larger = trodden_map(sizeof *larger + new_capacity * sizeof *larger->entries);
    if (!larger)
        return NULL;
    larger->mask = new_capacity - 1;
    for (uint64_t i = 0; i < capacity; i++)
        if (table->entries[i].key)
            insert(larger, &table->entries[i]);
    __atomic_store_n(&trodden_frame_table.newest, larger, __ATOMIC_RELEASE);
    return larger;
}

static bool is_cached(uintptr_t key) {
    return trodden_frame_table.newest && find(trodden_frame_table.newest, key);
}

/* Finds the record of frames that return to `pc`. */
static void resolve_record(struct cached_frame *entry, uintptr_t pc, const struct trodden_image *image) {
    entry->module = trodden_module_of(pc);
    entry->in_own_module =
        image && trodden_image_contains(image, (uintptr_t)&trodden_frame_table, sizeof trodden_frame_table);
    if (entry->module && entry->in_own_module && entry->slot_base == NO_CACHED_SLOT)
        entry->shared_record =
            trodden_nonlocal_exit_at(entry->module->index, pc - entry->module->bias, false, 0, true);
}

/* False: the location cannot be cached. */
static bool set_slot(struct cached_frame *entry, struct trodden_slot_location location) {
    entry->slot_base = location.kind == NO_SLOT         ? NO_CACHED_SLOT
                       : location.kind == SLOT_FROM_CFA ? SLOT_BY_CFA
                                                        : SLOT_BY_FP;
    entry->slot_displacement = location.displacement;
    entry->slot_pushed = (uint8_t)location.pushed_bytes;
    entry->slot_alignment = location.alignment;
    return entry->slot_pushed == location.pushed_bytes &&
           (location.kind != SLOT_FROM_REGISTER || location.base == TRODDEN_FP);
}

void trodden_cache_frame(uintptr_t pc, bool innermost, const struct trodden_image *image,
                         const struct trodden_frame_info *info, struct trodden_slot_location slot) {
    const struct trodden_cfi_row *row = &info->row;
    const struct trodden_cfi_rule *ra_rule = &row->columns[info->return_column], *fp_rule = &row->columns[TRODDEN_FP];
    bool cacheable = !info->signal_frame && !row->cfa_expression &&
                     (row->cfa_column == TRODDEN_SP || row->cfa_column == TRODDEN_FP) &&
                     row->columns[TRODDEN_SP].kind == RULE_SAME_VALUE && ra_rule->kind == RULE_OFFSET &&
                     (fp_rule->kind == RULE_SAME_VALUE || fp_rule->kind == RULE_OFFSET);
    int64_t cfa = row->cfa_offset, fp_offset = fp_rule->kind == RULE_OFFSET ? fp_rule->value : 0;
    if (!cacheable || cfa != (int32_t)cfa || ra_rule->value != (int32_t)ra_rule->value || ra_rule->value > -8 ||
        fp_offset != (int32_t)fp_offset || (fp_rule->kind == RULE_OFFSET && fp_offset > -8) || is_cached(pc))
        return;
    struct cached_frame entry = {.key = pc,
                                 .cfa_offset = (int32_t)cfa,
                                 .return_offset = (int32_t)ra_rule->value,
                                 .fp_offset = (int32_t)fp_offset,
                                 .cfa_from_fp = row->cfa_column == TRODDEN_FP};
    if (!entry.cfa_from_fp && (cfa + ra_rule->value < 0 || cfa + fp_offset < 0))
        return;
    struct cache_table *table = set_slot(&entry, slot) ? table_with_capacity() : NULL;
    if (!table)
        return;
    if (!innermost) /* the innermost frame is longjmp itself, which is not recorded */
        resolve_record(&entry, pc, image);
    insert(table, &entry);
}

void trodden_cache_resume_point(uintptr_t pc) {
    struct cached_frame entry = {.key = resume_key(pc)};
    struct cache_table *table = is_cached(entry.key) ? NULL : table_with_capacity();
    if (!table)
        return;
    resolve_record(&entry, pc, trodden_image_of(trodden_process.images, pc));
    insert(table, &entry);
}
