/* longjmp and its kin: the ways out of functions that neither return nor unwind (BL94 3.2, dynamically
 * computed interprocedural jumps).
 *
 * Before the jump the stack is walked up to the frame that it goes to.  Each frame on the way, and that
 * one too, is in the middle of a block, at a call that will not come back: one more way out of the block
 * of that call.  Control comes back where setjmp returns: one way out fewer of the block of that call,
 * since more leave it than have entered.  Both are added up by address, and written with the counts.
 *
 * The real function is found
 * - with glibc in a dynamic program as the next of that name in lookup order, before it is needed: a
 *   signal handler may jump, but must not ask the dynamic linker;
 * - with glibc in a static program under the name __libc_siglongjmp, of which libc.a makes the others weak
 *   aliases.  The reference is weak too, so the link line has to fetch it: -Wl,-u,__libc_siglongjmp;
 * - with musl right here: its object defines the names that we define, and cannot be linked beside ours. */
#undef _FORTIFY_SOURCE /* it would rename longjmp */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <features.h>
#include <setjmp.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

#if defined(__x86_64__)
enum { SAVED_SP = 6, SAVED_PC = 7 };
#else
enum { SAVED_SP = 13, SAVED_PC = 11 };
#endif

typedef void jump_function(struct __jmp_buf_tag *, int);

/* ---- what the C library knows ---- */
#ifdef __GLIBC__

#pragma weak dlsym
extern jump_function __libc_siglongjmp __attribute__((weak, visibility("hidden")));

static jump_function *real, *real_checked;

#ifdef __x86_64__
enum { MANGLED_FP = 1 };

static uint64_t demangle(uint64_t value) {
    __asm__("rorq $17, %0\n\txorq %%fs:0x30, %0" : "+r"(value) : : "cc");
    return value;
}

static void learn_guard(void) {}
#else
enum { MANGLED_FP = 0 };

static uint64_t guard;

static uint64_t demangle(uint64_t value) { return value ^ guard; }

/* The guard lies at no known place, but setjmp lays it over an address that is known here. */
static void learn_guard(void) {
    jmp_buf probe;
    register void *argument __asm__("x0") = probe;
    register uint64_t expected __asm__("x19");
    __asm__ volatile("adr x19, 0f\n\tbl _setjmp\n0:"
                     : "+r"(argument), "=r"(expected)
                     :
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13",
                       "x14", "x15", "x16", "x17", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7",
                       "v16", "v17", "v18", "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27",
                       "v28", "v29", "v30", "v31", "cc", "memory");
    guard = ((const uint64_t *)probe)[SAVED_PC] ^ expected;
}
#endif

static jump_function *next_symbol(const char *name) {
    jump_function *found = NULL;
    if (dlsym)
        *(void **)&found = dlsym(RTLD_NEXT, name);
    return found;
}

void trodden_longjmp_init(void) {
    learn_guard();
    jump_function *jump = __libc_siglongjmp ? __libc_siglongjmp : next_symbol("siglongjmp");
    jump_function *checked = __libc_siglongjmp ? NULL : next_symbol("__longjmp_chk");
    __atomic_store_n(&real_checked, checked ? checked : jump, __ATOMIC_RELAXED);
    __atomic_store_n(&real, jump, __ATOMIC_RELEASE);
}

/* A library's constructor may jump before ours has run. */
static void ensure_initialized(void) {
    if (!__atomic_load_n(&real, __ATOMIC_ACQUIRE))
        trodden_longjmp_init();
}

static uint64_t return_address(const struct __jmp_buf_tag *env) {
    return demangle(((const uint64_t *)env)[SAVED_PC]);
}

static _Noreturn void call_real(jump_function *jump, struct __jmp_buf_tag *env, int value) {
    static const char message[] = "trodden: no longjmp; link with -Wl,-u,__libc_siglongjmp\n";
    if (jump)
        jump(env, value);
    _exit(write(STDERR_FILENO, message, sizeof message - 1) < 0 ? 126 : 127);
}

#define REAL_LONGJMP call_real(real, env, value)
#define REAL_LONGJMP_CHK call_real(real_checked, env, value)

#else /* musl */

#pragma weak sigsetjmp

static bool ready;
static uint64_t inner_return; /* where setjmp returns to inside sigsetjmp */

enum { MANGLED_FP = 0 };

static uint64_t demangle(uint64_t value) { return value; }

/* sigsetjmp keeps the address that it returns to itself, and calls setjmp. */
void trodden_longjmp_init(void) {
    if (sigsetjmp) {
        sigjmp_buf probe;
        sigsetjmp(probe, 1);
        inner_return = ((const uint64_t *)probe)[SAVED_PC];
    }
    __atomic_store_n(&ready, true, __ATOMIC_RELEASE);
}

static void ensure_initialized(void) {
    if (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        trodden_longjmp_init();
}

static uint64_t return_address(const struct __jmp_buf_tag *env) {
    uint64_t pc = ((const uint64_t *)env)[SAVED_PC];
    return inner_return && pc == inner_return ? env->__fl : pc;
}

/* All registers that a callee keeps, as setjmp has stored them; setjmp never returns zero again.  The
 * mask of blocked signals is put back by sigsetjmp, when it returns for the second time. */
static _Noreturn void restore_registers(const struct __jmp_buf_tag *env, int value) {
    uint64_t result_value = value ? (uint32_t)value : 1;
#ifdef __x86_64__
    __asm__ volatile("movq (%0), %%rbx\n\tmovq 8(%0), %%rbp\n\tmovq 16(%0), %%r12\n\t"
                     "movq 24(%0), %%r13\n\tmovq 32(%0), %%r14\n\tmovq 40(%0), %%r15\n\t"
                     "movq 48(%0), %%rsp\n\tjmp *56(%0)"
                     :
                     : "D"(env), "a"(result_value)
                     : "memory");
#else
    register const void *from __asm__("x1") = env;
    register uint64_t result __asm__("x0") = result_value;
    __asm__ volatile("ldp x19, x20, [x1]\n\tldp x21, x22, [x1, #16]\n\tldp x23, x24, [x1, #32]\n\t"
                     "ldp x25, x26, [x1, #48]\n\tldp x27, x28, [x1, #64]\n\tldp x29, x30, [x1, #80]\n\t"
                     "ldr x2, [x1, #104]\n\tmov sp, x2\n\tldp d8, d9, [x1, #112]\n\t"
                     "ldp d10, d11, [x1, #128]\n\tldp d12, d13, [x1, #144]\n\tldp d14, d15, [x1, #160]\n\t"
                     "br x30"
                     :
                     : "r"(from), "r"(result)
                     : "x2", "memory");
#endif
    __builtin_unreachable();
}

#define REAL_LONGJMP restore_registers(env, value)
#define REAL_LONGJMP_CHK restore_registers(env, value)

#endif

/* ---- what has been noted: a table of open addresses, at most half full ----
 *
 * Entries are made under the lock and stay where they are, so that whoever finds one may add to it without:
 * a program that jumps all the time makes no system call for it.  A table that is full is followed by a
 * larger one, and both are searched. */
enum { INITIAL_CAPACITY = 1 << 9, GROWTH_FACTOR = 4 };

static size_t table_bytes(uint64_t capacity) {
    return sizeof(struct trodden_nonlocal_exit_table) + capacity * sizeof(struct trodden_nonlocal_exit);
}

/* The entry, or the empty one that it would take. */
static struct trodden_nonlocal_exit *probe_table(struct trodden_nonlocal_exit_table *table, const struct trodden_nonlocal_exit *key) {
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
    struct trodden_nonlocal_exit_table *table = __atomic_load_n(&trodden_process.nonlocal_exits.newest, __ATOMIC_ACQUIRE);
    for (; table; table = table->older) {
        struct trodden_nonlocal_exit *slot = probe_table(table, key);
        if (slot->used)
            return slot;
    }
    return NULL;
}

static struct trodden_nonlocal_exit *add_entry(const struct trodden_nonlocal_exit *key) {
    struct trodden_nonlocal_exits *exits = &trodden_process.nonlocal_exits;
    struct trodden_nonlocal_exit_table *table = exits->newest;
    if (!table || table->used >= table->capacity / 2) {
        uint64_t capacity = table ? table->capacity * GROWTH_FACTOR : INITIAL_CAPACITY;
        struct trodden_nonlocal_exit_table *larger = trodden_live_alloc(TRODDEN_REGION_NONLOCAL_EXITS, 0, table_bytes(capacity));
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

struct trodden_nonlocal_exit *trodden_nonlocal_exit_at(uint32_t module, uint64_t address, bool slot_known, uint64_t slot_value, bool create) {
    struct trodden_nonlocal_exit key = {.module = module, .slot_known = slot_known, .address = address, .slot_value = slot_value};
    struct trodden_nonlocal_exit *found = find_entry(&key);
    return found || !create ? found : add_entry(&key);
}

static void record_exit(const struct trodden_frame_state *frame, int64_t amount) {
    const struct trodden_module *module = trodden_module_of(frame->pc);
    if (!module)
        return;
    struct trodden_nonlocal_exit *entry = trodden_nonlocal_exit_at(module->index, frame->pc - module->bias, frame->slot_known,
                                                 frame->slot_known ? frame->slot_value : 0, true);
    if (entry)
        __atomic_fetch_add(&entry->count, amount, __ATOMIC_RELAXED);
    else
        trodden_mark_incomplete();
}

/* The tables stay mapped: a handler that forks may have interrupted somebody who is about to add to an entry. */
void trodden_nonlocal_exits_reset(void) {
    for (struct trodden_nonlocal_exit_table *table = trodden_process.nonlocal_exits.newest; table; table = table->older)
        for (uint64_t i = 0; i < table->capacity; i++)
            if (table->entries[i].count)
                table->entries[i].count = 0;
    trodden_process.nonlocal_exits.incomplete = trodden_process.nonlocal_exits.stack_switched = false;
    trodden_abandoned_reset();
}

/* ---- the walk ---- */
struct exit_recorder {
    int64_t amount;
    uint32_t skip; /* so many of the first */
};

/* Nobody can tell where the frame was. */
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

/* What a jump puts into the registers. */
static struct trodden_regs regs_of(const struct __jmp_buf_tag *env, uint64_t pc) {
    const uint64_t *words = (const uint64_t *)env;
    struct trodden_regs regs = {.pc = pc, .known = (uint64_t)1 << TRODDEN_SP};
#if defined(__x86_64__)
    static const uint8_t columns[] = {3, 6, 12, 13, 14, 15};
#else
    static const uint8_t columns[] = {19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29};
#endif
    for (unsigned i = 0; i < sizeof columns; i++) {
        regs.r[columns[i]] = MANGLED_FP && columns[i] == TRODDEN_FP ? demangle(words[i]) : words[i];
        regs.known |= (uint64_t)1 << columns[i];
    }
    regs.r[TRODDEN_SP] = demangle(words[SAVED_SP]);
    return regs;
}

/* A stack goes on whose frames have been noted as left. */
static void record_reentry(const struct trodden_regs *to) {
    struct exit_recorder recorder = {-1, 0};
    if (trodden_walk_stack(to, 0, true, false, record_frame, &recorder) == TRODDEN_WALK_LOST)
        trodden_mark_incomplete();
}

/* The first frames may have been noted before.  False: the jump goes to another stack.  The frames of this one are
 * left then too: should it be gone on with, they are noted as come back to. */
static bool record_frames(const struct trodden_regs *regs, const struct trodden_cached_walk *walk) {
    struct exit_recorder recorder = {1, walk->frames_walked ? walk->frames_walked - 1 : 0};
    enum trodden_walk_result result = trodden_walk_to(regs, walk->target_sp, record_frame, &recorder);
    if (result == TRODDEN_WALK_LOST)
        trodden_mark_incomplete();
    if (result == TRODDEN_WALK_OTHER_STACK)
        __atomic_store_n(&trodden_process.nonlocal_exits.stack_switched, true, __ATOMIC_RELAXED);
    return result != TRODDEN_WALK_OTHER_STACK;
}

uint64_t trodden_lock_with_images(uint64_t generation) {
    uint64_t mask = trodden_lock();
    if (!trodden_process.images || trodden_process.images->generation != generation) {
        trodden_unlock(mask);
        struct trodden_images *images = trodden_images_snapshot();
        mask = trodden_lock();
        trodden_set_images(images);
    }
    trodden_frame_cache_validate();
    return mask;
}

static __attribute__((noinline)) void record_jump_slowly(const struct trodden_regs *regs, struct trodden_cached_walk *walk,
                                                const struct __jmp_buf_tag *env) {
    int saved_errno = errno;
    uint64_t mask = trodden_lock_with_images(trodden_images_generation());
    walk->holds_lock = walk->images_current = true;
    if (walk->at_target || !trodden_walk_cached(walk)) {
        struct trodden_regs to = regs_of(env, walk->resume_pc);
        if (!walk->at_target && !record_frames(regs, walk) && trodden_cfa_of(&to)) {
            record_reentry(&to);
        } else {
            trodden_cache_resume_point(walk->resume_pc);
            record_exit(&(struct trodden_frame_state){.pc = walk->resume_pc}, -1);
        }
    }
    trodden_unlock(mask);
    errno = saved_errno;
}

/* What has been seen before is noted without the lock.  Not so where it may be taken back again: whoever writes the
 * result has to find the same entries in use from first to last. */
static void record_jump(const struct trodden_regs *regs, const struct __jmp_buf_tag *env) {
    struct trodden_cached_walk walk = {.pc = regs->pc,
                                  .frame_sp = regs->r[TRODDEN_SP],
                                  .frame_fp = regs->r[TRODDEN_FP],
                                  .target_sp = demangle(((const uint64_t *)env)[SAVED_SP]),
                                  .resume_pc = return_address(env)};
    trodden_calls_unwind_to(walk.target_sp);
    if (__atomic_load_n(&trodden_process.nonlocal_exits.stack_switched, __ATOMIC_RELAXED) || !trodden_walk_cached(&walk))
        record_jump_slowly(regs, &walk, env);
}

void trodden_record_exits_to(const struct trodden_regs *regs, uint64_t sp, uint64_t resume_pc, int64_t amount) {
    int saved_errno = errno;
    struct exit_recorder recorder = {amount, 0};
    uint64_t mask = trodden_lock_with_images(trodden_images_generation());
    if (trodden_walk_to(regs, sp, record_frame, &recorder) != TRODDEN_WALK_FOUND)
        trodden_mark_incomplete();
    record_exit(&(struct trodden_frame_state){.pc = resume_pc}, -amount);
    trodden_unlock(mask);
    errno = saved_errno;
}

bool trodden_record_unwound_cached(uintptr_t pc, uint64_t sp, uint64_t fp) {
    struct trodden_cached_walk walk = {.pc = pc, .frame_sp = sp, .frame_fp = fp};
    return !__atomic_load_n(&trodden_process.nonlocal_exits.stack_switched, __ATOMIC_RELAXED) &&
           !__atomic_load_n(&trodden_process.call_paths.current, __ATOMIC_RELAXED) && trodden_record_cached_frame(&walk);
}

void trodden_record_unwound(const struct trodden_regs *regs, bool interrupted) {
    uint64_t call_node, mask = trodden_lock_with_images(trodden_images_generation());
    struct trodden_frame_state frame = trodden_frame_state_of(regs, interrupted, &call_node);
    record_frame(&frame, &(struct exit_recorder){1, 0});
    trodden_unlock(mask);
    trodden_calls_leave_frame(call_node, regs->r[TRODDEN_SP]);
}

void trodden_record_resume(const struct trodden_regs *regs, uintptr_t pc) {
    int saved_errno = errno;
    uint64_t call_node, mask = trodden_lock_with_images(trodden_images_generation());
    struct trodden_frame_state frame = trodden_frame_state_of(regs, false, &call_node);
    record_exit(&frame, 1);
    record_exit(&(struct trodden_frame_state){.pc = pc}, -1);
    trodden_unlock(mask);
    errno = saved_errno;
}

void trodden_record_thread_exit(const struct trodden_regs *regs) {
    uint64_t mask = trodden_lock_with_images(trodden_images_generation());
    if (trodden_walk_to(regs, UINT64_MAX, record_frame, &(struct exit_recorder){1, 0}) == TRODDEN_WALK_LOST)
        trodden_mark_incomplete();
    trodden_unlock(mask);
}

struct switch_recorder {
    uint64_t cfa, pc; /* where it goes to */
    bool resumes_interrupted;     /* there a signal came in: nothing was left */
};

static void ignore_frame(const struct trodden_frame_state *frame, void *context) {
    (void)frame, (void)context;
}

static void record_switched_frame(const struct trodden_frame_state *frame, void *context) {
    struct switch_recorder *recorder = context;
    if (frame->interrupted && frame->cfa == recorder->cfa && frame->pc == recorder->pc)
        recorder->resumes_interrupted = true;
    else
        record_frame(frame, &(struct exit_recorder){1, 0});
}

void trodden_record_stack_switch(const struct trodden_regs *from, const struct trodden_regs *to) {
    uint64_t mask = trodden_lock_with_images(trodden_images_generation());
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
    trodden_unlock(mask);
}

/* Only the copy that leads ever begins. */
static inline bool is_initialized_leader(void) {
    return __atomic_load_n(&trodden_process.init_state, __ATOMIC_ACQUIRE) == 2 || trodden_is_leader();
}

EXPORTED _Noreturn void longjmp(jmp_buf env, int value) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    ensure_initialized();
    if (is_initialized_leader())
        record_jump(&regs, env);
    REAL_LONGJMP;
}

EXPORTED _Noreturn void _longjmp(jmp_buf env, int value) __attribute__((alias("longjmp")));
EXPORTED _Noreturn void siglongjmp(sigjmp_buf env, int value) __attribute__((alias("longjmp")));

/* What glibc's headers call longjmp when they are to be careful. */
EXPORTED _Noreturn void __longjmp_chk(struct __jmp_buf_tag *env, int value) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    ensure_initialized();
    if (is_initialized_leader())
        record_jump(&regs, env);
    REAL_LONGJMP_CHK;
}
