/* Walks over frames of the frame cache, from longjmp to the frame that it jumps to.
 *
 * They take no lock: what was read of an entry is used only if the cache has not been cleared since the walk began. */
#include <string.h>

#include "platform/attributes.h"
#include "process/process.h"
#include "unwind/frame_cache.h"
#include "unwind/frame_table.h"

static inline bool not_cleared(uint64_t clears_before) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&trodden_frame_table.clears, __ATOMIC_RELAXED) == clears_before;
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
        walk->images_current =
            trodden_images_generation() == __atomic_load_n(&trodden_frame_table.generation, __ATOMIC_ACQUIRE);
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

/* The CFA of a frame.  False: what would be read of the frame is not above its stack pointer. */
static inline bool find_cached_cfa(const struct cached_frame *entry, uint64_t sp, uint64_t fp, uint64_t *cfa) {
    int64_t return_offset = entry->return_offset, fp_offset = entry->fp_offset;
    *cfa = (entry->cfa_from_fp ? fp : sp) + (uint64_t)(int64_t)entry->cfa_offset;
    return !entry->cfa_from_fp ||
           (int64_t)*cfa + (return_offset < fp_offset ? return_offset : fp_offset) >= (int64_t)sp;
}

/* All memory that is read here is stack in use. */
bool trodden_walk_cached(struct trodden_cached_walk *walk) {
    /* Before the table, since only the newest one is cleared. */
    uint64_t clears_before = __atomic_load_n(&trodden_frame_table.clears, __ATOMIC_ACQUIRE);
    struct cache_table *table = __atomic_load_n(&trodden_frame_table.newest, __ATOMIC_ACQUIRE);
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
        uint64_t cfa;
        if (!find_cached_cfa(entry, sp, fp, &cfa) || !not_cleared(clears_before))
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

int trodden_cached_frames(struct trodden_cached_walk *walk, uintptr_t *pcs, int most) {
    uint64_t clears_before = __atomic_load_n(&trodden_frame_table.clears, __ATOMIC_ACQUIRE);
    struct cache_table *table = __atomic_load_n(&trodden_frame_table.newest, __ATOMIC_ACQUIRE);
    uint64_t sp = walk->frame_sp, fp = walk->frame_fp, target_sp = walk->target_sp;
    uintptr_t pc = walk->pc;
    if (!table || clears_before & 1 || target_sp < sp)
        return -1;
    for (int count = 0;; count++) {
        struct cached_frame *found = find(table, pc);
        struct cached_frame entry = found ? *found : (struct cached_frame){0};
        uint64_t cfa;
        if (!found || !find_cached_cfa(&entry, sp, fp, &cfa) || !is_current(&entry, walk) || !not_cleared(clears_before))
            return -1;
        if (cfa > target_sp)
            return count - 1;
        if (count > most)
            return -1;
        if (count)
            pcs[count - 1] = pc;
        pc = trodden_strip_pointer_auth(*(const uint64_t *)(cfa + (uint64_t)(int64_t)entry.return_offset));
        if (entry.fp_offset)
            fp = *(const uint64_t *)(cfa + (uint64_t)(int64_t)entry.fp_offset);
        sp = cfa;
    }
}

bool trodden_record_cached_frame(struct trodden_cached_walk *walk) {
    uint64_t clears_before = __atomic_load_n(&trodden_frame_table.clears, __ATOMIC_ACQUIRE);
    struct cache_table *table = __atomic_load_n(&trodden_frame_table.newest, __ATOMIC_ACQUIRE);
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
