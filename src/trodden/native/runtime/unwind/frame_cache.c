/* The frame cache: frames that non-local exits have left before.
 *
 * Most frames are simple: the CFA lies at a fixed offset from the stack or frame pointer, the return address and the
 * caller's frame pointer lie at fixed offsets from the CFA, and the function's path-register slot lies at a fixed
 * offset from the CFA or the frame pointer.  Programs jump from few locations again and again.  Therefore these
 * offsets are cached by return address, together with the record that counts such frames.  A jump over cached frames
 * alone takes no lock, makes no system call and reads no unwinding table.
 *
 * Entries are made under the lock.  An entry is published when it is complete, and does not change until the whole
 * cache is cleared.  A reader without the lock checks, before it uses what it has read, whether the cache has been
 * cleared since. */
#include <string.h>

#include "platform/attributes.h"
#include "platform/system.h"
#include "process/process.h"
#include "unwind/frame_cache.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define SLOW_PATH TRODDEN_PRESERVE_MOST __attribute__((noinline))

enum { INITIAL_CAPACITY = 1 << 10, GROWTH_FACTOR = 4 };

struct cached_frame {
    uintptr_t key;                               /* 0: empty */
    struct trodden_nonlocal_exit *shared_record; /* the record of all frames with this key, if there is only one */
    struct trodden_nonlocal_exit *last_record;   /* otherwise: the record of the last such frame, or NULL */
    struct cached_frame *caller;                 /* the entry of the last such frame's caller, or this entry itself */
    int32_t cfa_offset;    /* from the stack pointer, or from the frame pointer if `cfa_from_fp` */
    int32_t return_offset; /* of the return address, from the CFA */
    int32_t fp_offset;     /* of the saved frame pointer, from the CFA; 0: it was not saved */
    bool cfa_from_fp;
    bool in_own_module; /* its code is in this module: should that be unloaded, the cache goes with it */
    uint8_t slot_base, slot_pushed;
    int32_t slot_displacement;
    uint32_t slot_alignment;
    const struct trodden_module *module; /* NULL: it has no units */
};

_Static_assert(sizeof(struct cached_frame) == 64, "a row takes one line of the cache");

enum { NO_CACHED_SLOT, SLOT_BY_CFA, SLOT_BY_FP };

struct cache_table {
    uint64_t mask; /* its capacity less one; at most half of the entries are used */
    uint64_t used;
    _Alignas(64) struct cached_frame entries[];
};

static struct cache_table *current_table;
static uint64_t clears;     /* odd while the cache is being cleared */
static uint64_t generation; /* of the images that the entries describe */

static inline uint64_t hash_of(uintptr_t key) { return key * 0x61c88647u >> 32; }

static inline bool has_key(const struct cached_frame *entry, uintptr_t key) {
    return __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) == key;
}

SLOW_PATH static struct cached_frame *find_by_probing(struct cache_table *table, uintptr_t key) {
    for (uint64_t index = hash_of(key);; index++) {
        struct cached_frame *entry = &table->entries[index & table->mask];
        if (has_key(entry, key))
            return entry;
        if (has_key(entry, 0))
            return NULL;
    }
}

static inline struct cached_frame *find(struct cache_table *table, uintptr_t key) {
    struct cached_frame *entry = &table->entries[hash_of(key) & table->mask];
    return LIKELY(has_key(entry, key)) ? entry : find_by_probing(table, key);
}

/* Resume points are cached beside frames, with a key that is no return address. */
static inline uintptr_t resume_key(uintptr_t pc) { return ~pc; }

/* ---- filling; the callers hold the lock ---- */
static void clear_table(void) {
    if (!current_table)
        return;
    __atomic_store_n(&clears, clears + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memset(current_table->entries, 0, (current_table->mask + 1) * sizeof *current_table->entries);
    current_table->used = 0;
    __atomic_store_n(&clears, clears + 1, __ATOMIC_RELEASE);
}

void trodden_frame_cache_clear(void) { clear_table(); }

void trodden_frame_cache_validate(void) {
    uint64_t now = trodden_process.images ? trodden_process.images->generation : 0;
    if (generation == now)
        return;
    clear_table();
    __atomic_store_n(&generation, now, __ATOMIC_RELEASE);
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
    uint64_t capacity = current_table ? current_table->mask + 1 : 0;
    if (current_table && current_table->used < capacity / 2)
        return current_table;
    uint64_t new_capacity = current_table ? capacity * GROWTH_FACTOR : INITIAL_CAPACITY;
    struct cache_table *larger = trodden_map(sizeof *larger + new_capacity * sizeof *larger->entries);
    if (!larger)
        return NULL;
    larger->mask = new_capacity - 1;
    for (uint64_t i = 0; i < capacity; i++)
        if (current_table->entries[i].key)
            insert(larger, &current_table->entries[i]);
    __atomic_store_n(&current_table, larger, __ATOMIC_RELEASE);
    return larger;
}

static bool is_cached(uintptr_t key) { return current_table && find(current_table, key); }

/* Finds the record of frames that return to `pc`. */
static void resolve_record(struct cached_frame *entry, uintptr_t pc, const struct trodden_image *image) {
    entry->module = trodden_module_of(pc);
    entry->in_own_module = image && trodden_image_contains(image, (uintptr_t)&current_table, sizeof current_table);
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

/* ---- walking ---- */
static inline bool not_cleared(uint64_t clears_before) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&clears, __ATOMIC_RELAXED) == clears_before;
}

static bool read_slot(const struct cached_frame *entry, const struct trodden_cached_walk *walk, uint64_t cfa,
                      uint64_t *value) {
    uint64_t address = walk->frame_fp + (uint64_t)(int64_t)entry->slot_displacement;
    if (entry->slot_base == SLOT_BY_CFA)
        address = trodden_slot_address(cfa, entry->slot_pushed, entry->slot_alignment, entry->slot_displacement);
    if (entry->slot_base == NO_CACHED_SLOT || address < walk->frame_sp || address >= cfa || cfa - address < 8)
        return false;
    memcpy(value, (const void *)address, sizeof *value);
    return true;
}

/* The generation of images is asked for at most once in a walk, and not at all for code in the leader's own
 * module. */
static bool is_current(const struct cached_frame *entry, struct trodden_cached_walk *walk) {
    if (!entry->in_own_module && !walk->images_current)
        walk->images_current = trodden_images_generation() == __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    return entry->in_own_module || walk->images_current;
}

/* A thread may set `last_record` of an entry that was cleared after the thread had read it, when another frame uses
 * the entry by now. */
static bool is_record_of(const struct trodden_nonlocal_exit *record, const struct cached_frame *entry, uintptr_t pc,
                         bool slot_known, uint64_t slot_value) {
    return record->slot_value == slot_value && record->slot_known == slot_known &&
           record->address == pc - entry->module->bias && record->module == entry->module->index;
}

/* The record differs from that of the last such frame.  False: it cannot be found without the lock. */
SLOW_PATH static bool record_uncached(struct cached_frame *shared_entry, struct trodden_cached_walk *walk,
                                      uint64_t cfa, int64_t amount) {
    struct cached_frame entry = *shared_entry;
    if (!is_current(&entry, walk) || !not_cleared(walk->clear_count))
        return false;
    if (!entry.module)
        return true;
    uint64_t slot_value = 0;
    bool slot_known = read_slot(&entry, walk, cfa, &slot_value);
    struct trodden_nonlocal_exit *record = trodden_nonlocal_exit_at(
        entry.module->index, walk->pc - entry.module->bias, slot_known, slot_value, walk->holds_lock);
    if (!record)
        return false;
    __atomic_store_n(&shared_entry->last_record, record, __ATOMIC_RELEASE);
    __atomic_fetch_add(&record->count, amount, __ATOMIC_RELAXED);
    return true;
}

/* The record depends on the path register. */
SLOW_PATH static bool record_frame(struct cached_frame *shared_entry, struct trodden_cached_walk *walk, uint64_t cfa,
                                   int64_t amount) {
    struct trodden_nonlocal_exit *record = __atomic_load_n(&shared_entry->last_record, __ATOMIC_ACQUIRE);
    struct cached_frame entry = *shared_entry;
    uint64_t slot_value = 0;
    if (record && entry.module && (entry.in_own_module || walk->images_current) && not_cleared(walk->clear_count)) {
        bool slot_known = read_slot(&entry, walk, cfa, &slot_value);
        if (is_record_of(record, &entry, walk->pc, slot_known, slot_value)) {
            __atomic_fetch_add(&record->count, amount, __ATOMIC_RELAXED);
            return true;
        }
    }
    TAIL_CALL return record_uncached(shared_entry, walk, cfa, amount);
}

SLOW_PATH static struct cached_frame *find_caller(struct cache_table *table, struct cached_frame *entry,
                                                  uintptr_t pc) {
    struct cached_frame *caller = find(table, pc);
    if (caller)
        __atomic_store_n(&entry->caller, caller, __ATOMIC_RELAXED);
    return caller;
}

static bool record_resume(struct cache_table *table, struct trodden_cached_walk *walk) {
    struct cached_frame *entry = find(table, resume_key(walk->resume_pc));
    struct trodden_nonlocal_exit *shared = entry ? entry->shared_record : NULL;
    walk->pc = walk->resume_pc;
    if (!shared || !not_cleared(walk->clear_count))
        return entry && record_frame(entry, walk, 0, -1);
    __atomic_fetch_sub(&shared->count, 1, __ATOMIC_RELAXED);
    return true;
}

/* All memory that is read here is stack in use. */
bool trodden_walk_cached(struct trodden_cached_walk *walk) {
    uint64_t clears_before =
        __atomic_load_n(&clears, __ATOMIC_ACQUIRE); /* before the table, since only the newest one is cleared */
    struct cache_table *table = __atomic_load_n(&current_table, __ATOMIC_ACQUIRE);
    uint64_t sp = walk->frame_sp, fp = walk->frame_fp, target_sp = walk->target_sp;
    uint32_t frames_walked = walk->frames_walked;
    if (!table || clears_before & 1 || target_sp < sp)
        return false;
    walk->clear_count = clears_before;
    uintptr_t pc = walk->pc;
    struct cached_frame *entry = find(table, pc);
    if (!entry)
        return false;
    for (;;) {
        struct trodden_nonlocal_exit *shared = entry->shared_record;
        struct cached_frame *caller = __atomic_load_n(&entry->caller, __ATOMIC_RELAXED);
        int64_t return_offset = entry->return_offset, fp_offset = entry->fp_offset;
        uint64_t cfa = sp + (uint64_t)(int64_t)entry->cfa_offset;
        if (entry->cfa_from_fp) {
            cfa = fp + (uint64_t)(int64_t)entry->cfa_offset;
            if ((int64_t)cfa + (return_offset < fp_offset ? return_offset : fp_offset) < (int64_t)sp)
                break;
        }
        if (!not_cleared(clears_before))
            break;
        if (LIKELY(shared)) {
            __atomic_fetch_add(&shared->count, 1, __ATOMIC_RELAXED);
        } else if (frames_walked) {
            walk->pc = pc;
            walk->frame_sp = sp;
            walk->frame_fp = fp;
            if (!record_frame(entry, walk, cfa, 1))
                break;
        }
        if (cfa > target_sp) {
            walk->at_target = frames_walked > 0;
            return walk->at_target && record_resume(table, walk);
        }
        frames_walked++;
        pc = trodden_strip_pointer_auth(*(const uint64_t *)(cfa + (uint64_t)return_offset));
        if (fp_offset)
            fp = *(const uint64_t *)(cfa + (uint64_t)fp_offset);
        sp = cfa;
        if (LIKELY(has_key(caller, pc)))
            entry = caller;
        else if (!(entry = find_caller(table, entry, pc)))
            break;
    }
    walk->pc = pc;
    walk->frame_sp = sp;
    walk->frame_fp = fp;
    walk->frames_walked = frames_walked;
    return false;
}

bool trodden_record_cached_frame(struct trodden_cached_walk *walk) {
    uint64_t clears_before = __atomic_load_n(&clears, __ATOMIC_ACQUIRE);
    struct cache_table *table = __atomic_load_n(&current_table, __ATOMIC_ACQUIRE);
    struct cached_frame *entry = table && !(clears_before & 1) ? find(table, walk->pc) : NULL;
    if (!entry)
        return false;
    struct trodden_nonlocal_exit *shared = entry->shared_record;
    uint64_t cfa = (entry->cfa_from_fp ? walk->frame_fp : walk->frame_sp) + (uint64_t)(int64_t)entry->cfa_offset;
    if (!not_cleared(clears_before))
        return false;
    walk->clear_count = clears_before;
    if (!shared)
        return record_frame(entry, walk, cfa, 1);
    __atomic_fetch_add(&shared->count, 1, __ATOMIC_RELAXED);
    return true;
}
