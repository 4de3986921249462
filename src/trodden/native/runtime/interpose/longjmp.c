/* Interposers of longjmp and its variants.
 *
 * A jump that restores the signal mask, or that was recorded under the lock, goes to a landing first (landing.c).
 *
 * The frames that a jump leaves are recorded before the jump (unwind/nonlocal_exits.c).  The real function is found
 * - with glibc in a dynamic program, as the next of that name in lookup order.  It is looked up before it is needed:
 *   a signal handler may jump, but must not call the dynamic linker;
 * - with glibc in a static program, under the name __libc_siglongjmp, of which libc.a makes the others weak aliases.
 *   The reference is weak, too, so that the link line has to request it: -Wl,-u,__libc_siglongjmp;
 * - with musl, right here: its object file defines the names that this one defines, and cannot be linked with it. */
#undef _FORTIFY_SOURCE /* it would rename longjmp */
#define _GNU_SOURCE
#include <errno.h>
#include <features.h>
#include <setjmp.h>
#include <string.h>
#include <unistd.h>

#include "counters/call_paths.h"
#include "interpose/interpose.h"
#include "interpose/landing.h"
#include "interpose/next_function.h"
#include "interpose/saved_mask.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/process.h"
#include "unwind/frame_cache.h"
#include "unwind/nonlocal_exits.h"

#if defined(__x86_64__)
enum { SAVED_RBX = 0, SAVED_SP = 6, SAVED_PC = 7 };
#else
enum { SAVED_SP = 13, SAVED_PC = 11 };
#endif

typedef void jump_function(struct __jmp_buf_tag *, int);

/* ---- jmp_buf, as the C libraries fill it ---- */
#ifdef __GLIBC__

extern jump_function __libc_siglongjmp __attribute__((weak, visibility("hidden")));
TRODDEN_INTERCEPTOR(jump_function, siglongjmp);
TRODDEN_INTERCEPTOR(jump_function, __longjmp_chk);

static jump_function *real, *real_checked;

#ifdef __x86_64__
#include "interpose/pointer_guard.h"

enum { MANGLED_FP = 1 };

static void learn_guard(void) {}
#else
enum { MANGLED_FP = 0 };

static uint64_t guard;

static uint64_t demangle(uint64_t value) { return value ^ guard; }

/* The location of the pointer guard is not documented, but setjmp combines it with a return address that is known
 * here. */
static void learn_guard(void) {
    jmp_buf probe;
    register void *argument __asm__("x0") = probe;
    register uint64_t expected __asm__("x19");
    __asm__ volatile("adr x19, 0f\n\tbl _setjmp\n0:"
                     : "+r"(argument), "=r"(expected)
                     :
                     : "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12", "x13", "x14", "x15",
                       "x16", "x17", "x30", "v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18",
                       "v19", "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29", "v30", "v31",
                       "cc", "memory");
    guard = ((const uint64_t *)probe)[SAVED_PC] ^ expected;
}
#endif

void trodden_longjmp_init(void) {
    learn_guard();
    jump_function *jump = __libc_siglongjmp, *checked = NULL;
    if (!jump) {
        *(void **)&jump = TRODDEN_NEXT(siglongjmp);
        *(void **)&checked = TRODDEN_NEXT(__longjmp_chk);
    }
    __atomic_store_n(&real_checked, checked ? checked : jump, __ATOMIC_RELAXED);
    __atomic_store_n(&real, jump, __ATOMIC_RELEASE);
}

/* The constructor of a library may jump before that of this module has run. */
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

#define REAL_LONGJMP(env) call_real(real, env, value)
#define REAL_LONGJMP_CHK(env) call_real(real_checked, env, value)

#else /* musl */

#pragma weak sigsetjmp

static bool ready;
static uint64_t inner_return; /* the return address of setjmp in sigsetjmp */

enum { MANGLED_FP = 0 };

static uint64_t demangle(uint64_t value) { return value; }

/* sigsetjmp saves its own return address, and calls setjmp. */
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

/* All callee-saved registers, as setjmp has stored them; the second return value of setjmp is never zero.  The signal
 * mask is restored by sigsetjmp, when it returns for the second time. */
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

#define REAL_LONGJMP(env) restore_registers(env, value)
#define REAL_LONGJMP_CHK(env) restore_registers(env, value)

#endif

/* The registers that a jump restores. */
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

/* All signals are blocked. */
static __attribute__((noinline)) void record_jump_slowly(const struct trodden_regs *regs,
                                                         struct trodden_cached_walk *walk,
                                                         const struct __jmp_buf_tag *env, uint64_t mask) {
    struct trodden_regs to = regs_of(env, walk->resume_pc);
    trodden_record_jump(regs, walk, &to, mask);
}

/* Frames in the cache are recorded without the lock.  Not so once a thread has switched stacks, since records may
 * then be taken back: whoever writes the raw file has to see one consistent state.  False: some were not in it. */
static bool record_cached_jump(const struct trodden_regs *regs, const struct __jmp_buf_tag *env,
                               struct trodden_cached_walk *walk) {
    *walk = (struct trodden_cached_walk){.pc = regs->pc,
                                         .frame_sp = regs->r[TRODDEN_SP],
                                         .frame_fp = regs->r[TRODDEN_FP],
                                         .target_sp = demangle(((const uint64_t *)env)[SAVED_SP]),
                                         .resume_pc = return_address(env)};
    trodden_calls_unwind_to(walk->target_sp);
    return !__atomic_load_n(&trodden_process.nonlocal_exits.stack_switched, __ATOMIC_RELAXED) &&
           (trodden_process.trace.active ? trodden_trace_jump_cached(walk) : trodden_walk_cached(walk));
}

/* Only the leader is ever initialized. */
static inline bool is_initialized_leader(void) {
    return __atomic_load_n(&trodden_process.init_state, __ATOMIC_ACQUIRE) == TRODDEN_INITIALIZED ||
           trodden_is_leader();
}

/* All signals are blocked.  The copy of a jump goes to a landing, where they are unblocked; a jump that cannot land
 * leaves its frames a moment later. */
static struct __jmp_buf_tag *with_landing(struct __jmp_buf_tag *env, struct __jmp_buf_tag *copy, uint64_t mask) {
#ifdef TRODDEN_LANDS
    struct trodden_thread *thread = trodden_own_thread();
    if (trodden_can_land(thread)) {
        uint64_t *words = (uint64_t *)copy;
        memcpy(copy->__jmpbuf, env->__jmpbuf, sizeof copy->__jmpbuf);
        if (env->__mask_was_saved)
            mask = trodden_keep_faults(thread, trodden_saved_mask(env));
        thread->landing =
            (struct trodden_landing){.pc = demangle(words[SAVED_PC]), .rbx = words[SAVED_RBX], .mask = mask};
        copy->__mask_was_saved = 0;
        words[SAVED_RBX] = (uint64_t)&thread->landing;
        words[SAVED_PC] = mangle((uint64_t)trodden_land);
        return copy;
    }
#endif
    (void)copy;
    trodden_restore_signals(mask);
    return env;
}

/* Will the C library restore the mask before it jumps, unless the jump goes to a landing? */
static inline bool restores_mask_too_early(const struct __jmp_buf_tag *env) {
#ifdef TRODDEN_LANDS
    return env->__mask_was_saved && trodden_can_land(trodden_own_thread());
#else
    (void)env;
    return false;
#endif
}

/* The C library gives the mask to the kernel; which signals of faults are in it is kept here. */
static inline void keep_faults_of(const struct __jmp_buf_tag *env) {
#ifdef __GLIBC__
    struct trodden_thread *thread = env->__mask_was_saved ? trodden_own_thread() : NULL;
    if (thread)
        trodden_keep_faults(thread, trodden_saved_mask(env));
#else
    (void)env;
#endif
}

/* Records the jump; returns what the real function is to be called with, which may be the copy.  Whoever waits for the
 * lock may do so because all threads are being stopped: it is stopped where it has landed. */
static inline struct __jmp_buf_tag *prepare_jump(const struct trodden_regs *regs, struct __jmp_buf_tag *env,
                                                 struct __jmp_buf_tag *copy) {
    struct trodden_cached_walk walk;
    ensure_initialized();
    if (!is_initialized_leader())
        return env;
    if (restores_mask_too_early(env)) {
        uint64_t mask = trodden_block_signals();
        if (!record_cached_jump(regs, env, &walk))
            record_jump_slowly(regs, &walk, env, mask);
        return with_landing(env, copy, mask);
    }
    keep_faults_of(env);
    if (record_cached_jump(regs, env, &walk))
        return env;
    uint64_t mask = trodden_block_signals();
    record_jump_slowly(regs, &walk, env, mask);
    return with_landing(env, copy, mask);
}

EXPORTED _Noreturn void longjmp(jmp_buf env, int value) {
    struct trodden_regs regs;
    struct __jmp_buf_tag copy;
    TRODDEN_CAPTURE_REGS(&regs);
    REAL_LONGJMP(prepare_jump(&regs, env, &copy));
}

EXPORTED _Noreturn void _longjmp(jmp_buf env, int value) __attribute__((alias("longjmp")));
EXPORTED _Noreturn void siglongjmp(sigjmp_buf env, int value) __attribute__((alias("longjmp")));

/* glibc's headers rename longjmp to this with _FORTIFY_SOURCE. */
EXPORTED _Noreturn void __longjmp_chk(struct __jmp_buf_tag *env, int value) {
    struct trodden_regs regs;
    struct __jmp_buf_tag copy;
    TRODDEN_CAPTURE_REGS(&regs);
    REAL_LONGJMP_CHK(prepare_jump(&regs, env, &copy));
}
