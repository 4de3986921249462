/* Non-local exits: frames that are left without returning (BL94 3.2, dynamically computed interprocedural jumps).
 *
 * Before a jump the stack is walked up to the frame that it goes to.  Each frame on the way, and that one too, is in
 * the middle of a block, at a call that will not return: one more exit from the block of that call.  Control resumes
 * where setjmp returns: one exit fewer from the block of that call, which is left more often than it is entered.
 * Both are summed up by address and written with the counts.  Exceptions, thread exit, vfork and switches between
 * stacks are recorded in the same way.
 *
 * The records are hash tables with open addressing, at most half full.  Entries are made under the lock and never
 * move, so that whoever finds one may add to it without the lock: a program that jumps all the time makes no system
 * call for it.  A table that is full is followed by a larger one, and both are searched. */
#include <errno.h>

#include "counters/live_regions.h"
#include "platform/system.h"
#include "process/process.h"
#include "unwind/abandoned_frames.h"
#include "unwind/frame_cache.h"
#include "unwind/nonlocal_exits.h"

enum { INITIAL_CAPACITY = 1 << 9, GROWTH_FACTOR = 4 };

static size_t table_bytes(uint64_t capacity) {
    return sizeof(struct trodden_nonlocal_exit_table) + capacity * sizeof(struct trodden_nonlocal_exit);
}

/* The entry, or the free one that it would use. */
static struct trodden_nonlocal_exit *probe_table(struct trodden_nonlocal_exit_table *table,
                                                 const struct trodden_nonlocal_exit *key) {
    uint64_t hash = (key->address ^ (uint64_t)key->module << 48) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32 ^ key->slot_value) * 0xd6e8feb86659fd93u;
    uint64_t index = (hash >> 32) & (table->capacity - 1);
    for (;; index = (index + 1) & (table->capacity - 1)) {
        struct trodden_nonlocal_exit *slot = &table->entries[index];
        if (!__atomic_load_n(&slot->used, __ATOMIC_ACQUIRE) ||
            (slot->address == key->address && slot->slot_value == key->slot_value && slot->module == key->module &&
             slot->slot_known == key->slot_known))
            return slot;
    }
}

static struct trodden_nonlocal_exit *find_entry(const struct trodden_nonlocal_exit *key) {
    struct trodden_nonlocal_exit_table *table =
        __atomic_load_n(&trodden_process.nonlocal_exits.newest, __ATOMIC_ACQUIRE);
    for (; table; table = table->older) {
        struct trodden_nonlocal_exit *slot = probe_table(table, key);
        if (slot->used)
            return slot;
    }
    return NULL;
}

void trodden_nonlocal_exits_rebuild(const struct trodden_lost_page *page) {
    struct trodden_nonlocal_exit_table *table = page->memory;
    if (page->offset)
        return;
    table->capacity = INITIAL_CAPACITY;
    while (table_bytes(table->capacity * GROWTH_FACTOR) <= page->region_bytes)
        table->capacity *= GROWTH_FACTOR;
}

static struct trodden_nonlocal_exit *add_entry(const struct trodden_nonlocal_exit *key) {
    struct trodden_nonlocal_exits *exits = &trodden_process.nonlocal_exits;
    struct trodden_nonlocal_exit_table *table = exits->newest;
    if (!table || table->used >= table->capacity / 2) {
        uint64_t capacity = table ? table->capacity * GROWTH_FACTOR : INITIAL_CAPACITY;
        struct trodden_nonlocal_exit_table *larger =
            trodden_live_alloc(TRODDEN_REGION_NONLOCAL_EXITS, 0, table_bytes(capacity));
        if (!larger)
            return NULL;
        larger->older = table;
        larger->capacity = capacity;
        __atomic_store_n(&exits->newest, larger, __ATOMIC_RELEASE);
        table = larger;
    }
    struct trodden_nonlocal_exit *slot = probe_table(table, key);
    slot->module = key->module;
    slot->slot_known = key->slot_known;
    slot->address = key->address;
    slot->slot_value = key->slot_value;
    slot->count = 0;
    __atomic_store_n(&slot->used, true, __ATOMIC_RELEASE);
    table->used++;
    return slot;
}

struct trodden_nonlocal_exit *trodden_nonlocal_exit_at(uint32_t module, uint64_t address, bool slot_known,
                                                       uint64_t slot_value, bool create) {
    struct trodden_nonlocal_exit key = {
        .module = module, .slot_known = slot_known, .address = address, .slot_value = slot_value};
    struct trodden_nonlocal_exit *found = find_entry(&key);
    return found || !create ? found : add_entry(&key);
}

static void record_exit(const struct trodden_frame_state *frame, int64_t amount) {
    const struct trodden_module *module = trodden_module_of(frame->pc);
    if (!module)
        return;
    struct trodden_nonlocal_exit *entry = trodden_nonlocal_exit_at(
        module->index, frame->pc - module->bias, frame->slot_known, frame->slot_known ? frame->slot_value : 0, true);
    if (entry)
        __atomic_fetch_add(&entry->count, amount, __ATOMIC_RELAXED);
    else
        trodden_mark_incomplete();
}

/* The tables stay mapped: a signal handler that forks may have interrupted a thread that is about to add to an
 * entry. */
void trodden_nonlocal_exits_reset(void) {
    for (struct trodden_nonlocal_exit_table *table = trodden_process.nonlocal_exits.newest; table;
         table = table->older)
        for (uint64_t i = 0; i < table->capacity; i++)
            if (table->entries[i].count)
                table->entries[i].count = 0;
    trodden_process.nonlocal_exits.incomplete = trodden_process.nonlocal_exits.stack_switched = false;
    trodden_abandoned_reset();
}

/* ---- walks ---- */
struct exit_recorder {
    int64_t amount;
    uint32_t skip; /* how many of the first frames have been recorded already */
};

/* The state of that frame is not known. */
static void mark_incomplete_at(uintptr_t pc) {
    if (trodden_module_of(pc))
        trodden_mark_incomplete();
}

static void record_frame(const struct trodden_frame_state *frame, void *context) {
    struct exit_recorder *recorder = context;
    if (recorder->skip)
        recorder->skip--;
    else if (!frame->interrupted)
        record_exit(frame, recorder->amount);
    else if (recorder->amount < 0 || !trodden_abandoned_record(frame))
        mark_incomplete_at(frame->pc);
}

/* A stack is resumed whose frames have been recorded as left. */
static void record_reentry(const struct trodden_regs *to) {
    struct exit_recorder recorder = {-1, 0};
    if (trodden_walk_stack(to, 0, true, false, record_frame, &recorder) == TRODDEN_WALK_LOST)
        trodden_mark_incomplete();
}

/* The first frames may have been recorded already.  False: the jump goes to another stack.  The frames of this stack
 * are left then, too; should it be resumed, they are recorded as resumed. */
static bool record_frames(const struct trodden_regs *regs, const struct trodden_cached_walk *walk) {
    struct exit_recorder recorder = {1, walk->frames_walked ? walk->frames_walked - 1 : 0};
    enum trodden_walk_result result = trodden_walk_to(regs, walk->target_sp, record_frame, &recorder);
    if (result == TRODDEN_WALK_LOST)
        trodden_mark_incomplete();
    if (result == TRODDEN_WALK_OTHER_STACK)
        __atomic_store_n(&trodden_process.nonlocal_exits.stack_switched, true, __ATOMIC_RELAXED);
    return result != TRODDEN_WALK_OTHER_STACK;
}

/* All signals are blocked; while it waits, they are those of the mask. */
static void lock_with_images_blocked(uint64_t generation, uint64_t mask) {
    trodden_lock_blocked(mask);
    if (!trodden_process.images || trodden_process.images->generation != generation) {
        trodden_unlock_blocked();
        struct trodden_images *images = trodden_images_snapshot();
        trodden_lock_blocked(mask);
        trodden_set_images(images);
    }
    trodden_frame_cache_validate();
}

uint64_t trodden_lock_with_images(uint64_t generation) {
    uint64_t mask = trodden_block_signals();
    lock_with_images_blocked(generation, mask);
    return mask;
}

void trodden_record_jump(const struct trodden_regs *regs, struct trodden_cached_walk *walk,
                         const struct trodden_regs *to, uint64_t mask) {
    int saved_errno = errno;
    /* A thread that has recorded some of its frames must not be stopped before it has left them all. */
    lock_with_images_blocked(trodden_images_generation(), walk->frames_walked > 1 ? ~(uint64_t)0 : mask);
    walk->holds_lock = walk->images_current = true;
    trodden_trace_jump(regs, walk->target_sp, to);
    if (walk->at_target || !trodden_walk_cached(walk)) {
        if (!walk->at_target && !record_frames(regs, walk) && trodden_cfa_of(to)) {
            record_reentry(to);
        } else {
            trodden_cache_resume_point(walk->resume_pc);
            record_exit(&(struct trodden_frame_state){.pc = walk->resume_pc}, -1);
        }
    }
    trodden_unlock_blocked();
    errno = saved_errno;
}

void trodden_record_exits_to(const struct trodden_regs *regs, uint64_t sp, uint64_t resume_pc, int64_t amount) {
    int saved_errno = errno;
    struct exit_recorder recorder = {amount, 0};
    uint64_t mask = trodden_lock_with_images(trodden_images_generation());
    if (trodden_walk_to(regs, sp, record_frame, &recorder) != TRODDEN_WALK_FOUND)
        trodden_mark_incomplete();
    if (amount > 0)
        trodden_trace_exits_to(regs, sp);
    else
        trodden_trace_exec_failed(regs, true);
    record_exit(&(struct trodden_frame_state){.pc = resume_pc}, -amount);
    trodden_unlock(mask);
    errno = saved_errno;
}

/* From now on the frame is taken for one that was left, though the unwinder has not landed.  Frames lie further out, one
 * after the other: one that does not belongs to another exception. */
static void extend_unwinding(uintptr_t pc, uint64_t sp) {
    struct trodden_thread *thread = trodden_own_thread();
    if (!thread)
        return;
    if (sp <= thread->unwinding.last_sp || !thread->unwinding.last_sp)
        thread->unwinding = (struct trodden_unwinding){pc, sp, 0};
    thread->unwinding.last_sp = sp;
}

bool trodden_record_unwound_cached(uintptr_t pc, uint64_t sp, uint64_t fp) {
    struct trodden_cached_walk walk = {.pc = pc, .frame_sp = sp, .frame_fp = fp};
    bool recorded = !__atomic_load_n(&trodden_process.nonlocal_exits.stack_switched, __ATOMIC_RELAXED) &&
                    !__atomic_load_n(&trodden_process.call_paths.current, __ATOMIC_RELAXED) &&
                    trodden_record_cached_frame(&walk);
    if (recorded)
        extend_unwinding(pc, sp);
    return recorded;
}

void trodden_record_unwound(const struct trodden_regs *regs, bool interrupted) {
    uint64_t call_node, mask = trodden_lock_with_images(trodden_images_generation());
    struct trodden_frame_state frame = trodden_frame_state_of(regs, interrupted, &call_node);
    record_frame(&frame, &(struct exit_recorder){1, 0});
    extend_unwinding(regs->pc, regs->r[TRODDEN_SP]);
    trodden_unlock(mask);
    trodden_calls_leave_frame(call_node, regs->r[TRODDEN_SP]);
}

void trodden_record_exit_at(uintptr_t pc) {
    int saved_errno = errno;
    uint64_t mask = trodden_lock();
    record_exit(&(struct trodden_frame_state){.pc = pc}, 1);
    trodden_unlock(mask);
    errno = saved_errno;
}

void trodden_record_resume(const struct trodden_regs *regs, const struct trodden_regs *interrupted, uintptr_t pc) {
    int saved_errno = errno;
    uint64_t call_node, mask = trodden_lock_with_images(trodden_images_generation()), sp = regs->r[TRODDEN_SP];
    struct trodden_frame_state frame = {.pc = 0};
    if (interrupted)
        frame = trodden_frame_state_of(interrupted, true, &call_node);
    if (!interrupted || interrupted->r[TRODDEN_SP] > sp || frame.cfa <= sp)
        frame = trodden_frame_state_of(regs, false, &call_node);
    record_frame(&frame, &(struct exit_recorder){1, 0});
    record_exit(&(struct trodden_frame_state){.pc = pc}, -1);
    trodden_unlock(mask);
    errno = saved_errno;
}

void trodden_record_thread_exit(const struct trodden_regs *regs) {
    uint64_t mask = trodden_lock_with_images(trodden_images_generation());
    if (trodden_walk_to(regs, UINT64_MAX, record_frame, &(struct exit_recorder){1, 0}) == TRODDEN_WALK_LOST)
        trodden_mark_incomplete();
    trodden_trace_thread_exit(regs);
    trodden_unlock(mask);
}

struct switch_recorder {
    uint64_t cfa, pc;         /* where control goes to */
    bool resumes_interrupted; /* a signal handler returns to the frame that it interrupted: no frame is left */
};

static void ignore_frame(const struct trodden_frame_state *frame, void *context) { (void)frame, (void)context; }

static void record_switched_frame(const struct trodden_frame_state *frame, void *context) {
    struct switch_recorder *recorder = context;
    if (frame->interrupted && frame->cfa == recorder->cfa && frame->pc == recorder->pc)
        recorder->resumes_interrupted = true;
    else
        record_frame(frame, &(struct exit_recorder){1, 0});
}

bool trodden_record_stack_switch(const struct trodden_regs *from, const struct trodden_regs *to, uint64_t mask) {
    lock_with_images_blocked(trodden_images_generation(), mask);
    __atomic_store_n(&trodden_process.nonlocal_exits.stack_switched, true, __ATOMIC_RELAXED);
    uint64_t cfa = trodden_cfa_of(to);
    struct switch_recorder recorder = {cfa, to->pc, false};
    bool same = from && cfa && trodden_walk_stack(from, cfa, false, true, ignore_frame, NULL) == TRODDEN_WALK_FOUND;
    if (from && trodden_walk_stack(from, cfa, false, same, record_switched_frame, &recorder) == TRODDEN_WALK_LOST)
        trodden_mark_incomplete();
    if (same && !recorder.resumes_interrupted)
        record_exit(&(struct trodden_frame_state){.pc = to->pc}, -1);
    if (!same && cfa)
        record_reentry(to);
    trodden_trace_switch(from, to, cfa);
    trodden_unlock_blocked();
    return cfa;
}
