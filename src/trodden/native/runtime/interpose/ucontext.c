/* Interposers of swapcontext, setcontext and makecontext, for programs that switch between stacks of their own
 * (glibc; musl has none of them).
 *
 * When a thread leaves a stack, it is not known whether that stack will ever be resumed, nor whether its memory will
 * still exist when the process ends.  Therefore all its frames are recorded as left then, and as resumed when it is
 * resumed: what was abandoned stays recorded.  Where a context lies on the stack that is left, switching to it is a
 * jump like longjmp.
 *
 * The real functions are tail-called: they save the context of the program's function, not of the interposer.  When
 * the function of a context returns, glibc itself switches to the context in uc_link.  Therefore makecontext replaces
 * the return address by one of the runtime's, which records that switch and then makes it, or continues at the
 * original return address.
 *
 * A switch goes to a landing first, where the signal mask is restored (landing.c). */
#define _GNU_SOURCE
#include <errno.h>
#include <features.h>

#ifdef __GLIBC__
#include <stdarg.h>
#include <string.h>
#include <ucontext.h>

#include "counters/call_paths.h"
#include "interpose/interpose.h"
#include "interpose/landing.h"
#include "interpose/next_function.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/process.h"
#include "unwind/nonlocal_exits.h"

typedef int swap_function(ucontext_t *, const ucontext_t *);
typedef int set_function(const ucontext_t *);
typedef void make_function(ucontext_t *, void (*)(void), int, ...);

/* The names in a static program, which the link line has to request (runtime_link.py). */
extern swap_function __swapcontext __attribute__((weak, visibility("hidden")));
extern set_function __setcontext __attribute__((weak, visibility("hidden")));
extern make_function __makecontext __attribute__((weak, visibility("hidden")));
TRODDEN_INTERCEPTOR(swap_function, swapcontext);
TRODDEN_INTERCEPTOR(set_function, setcontext);
TRODDEN_INTERCEPTOR(make_function, makecontext);

/* ---- contexts as registers ---- */
static struct trodden_regs regs_of(const ucontext_t *context) {
    struct trodden_regs regs;
#if defined(__x86_64__)
    static const struct {
        uint8_t column, greg;
    } saved[] = {{3, REG_RBX},  {6, REG_RBP},  {7, REG_RSP}, {12, REG_R12},
                 {13, REG_R13}, {14, REG_R14}, {15, REG_R15}};
    regs.known = 0;
    regs.pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    for (unsigned i = 0; i < sizeof saved / sizeof *saved; i++) {
        regs.r[saved[i].column] = (uint64_t)context->uc_mcontext.gregs[saved[i].greg];
        regs.known |= (uint64_t)1 << saved[i].column;
    }
#else
    regs.known = 0xfff80000u;
    regs.pc = context->uc_mcontext.pc;
    for (unsigned i = 19; i < 31; i++)
        regs.r[i] = context->uc_mcontext.regs[i];
    regs.r[TRODDEN_SP] = context->uc_mcontext.sp;
#endif
    return regs;
}

/* ---- the current node of the call-path tree: kept in a part of the signal mask that the kernel does not use ---- */
enum { MARK_AT = 14, CALL_NODE_AT = 15 };
#define CALL_PATH_MARK 0x7d3c1f0be5a29684u

static void save_call_node(ucontext_t *context) {
    uint64_t node = trodden_calls_current();
    if (node) {
        context->uc_sigmask.__val[MARK_AT] = CALL_PATH_MARK;
        context->uc_sigmask.__val[CALL_NODE_AT] = node;
    }
}

static void restore_call_node(const ucontext_t *context) {
    bool has_node = context->uc_sigmask.__val[MARK_AT] == CALL_PATH_MARK;
    trodden_calls_resume(has_node ? context->uc_sigmask.__val[CALL_NODE_AT] : 0);
}

/* ---- switches ---- */
static uint64_t *mask_of(const ucontext_t *context) { return (uint64_t *)&context->uc_sigmask; }

#ifdef TRODDEN_LANDS
/* All signals are blocked; `mask` is what they were. */
static const ucontext_t *redirect_to_landing(struct trodden_thread *thread, ucontext_t *left, const ucontext_t *to,
                                             bool resumes, uint64_t mask) {
    ucontext_t *copy = thread->context_copy;
    memcpy(copy, to, sizeof *copy);
    greg_t *registers = copy->uc_mcontext.gregs;
    thread->landing = (struct trodden_landing){.pc = (uint64_t)registers[REG_RIP],
                                               .rbx = (uint64_t)registers[REG_RBX],
                                               .left_mask = left ? mask_of(left) : NULL,
                                               .left_value = trodden_visible_mask(thread, mask)};
    thread->landing.mask = trodden_keep_faults(thread, *mask_of(to));
    registers[REG_RIP] = (greg_t)(resumes ? trodden_land : trodden_land_at_start);
    registers[REG_RBX] = (greg_t)&thread->landing;
    *mask_of(copy) = ~(uint64_t)0;
    return copy;
}
#endif

/* Where the calling thread can land, if it can. */
static struct trodden_thread *landing_thread(void) {
    struct trodden_thread *thread = trodden_own_thread();
    if (!trodden_can_land(thread))
        return NULL;
    if (!thread->context_copy)
        thread->context_copy = trodden_map(sizeof(ucontext_t));
    return thread->context_copy ? thread : NULL;
}

/* The context that is left gets the kernel's mask: while it is saved, that is what the program has set. */
static void switch_without_landing(const ucontext_t *to, uint64_t mask) {
    struct trodden_thread *thread = trodden_own_thread();
    trodden_restore_signals(trodden_visible_mask(thread, mask));
    if (thread)
        trodden_keep_faults(thread, *mask_of(to));
}

/* Records a switch; returns the context that it is to be made with.  `left`: the context that is saved, or NULL. */
static const ucontext_t *record_switch(const struct trodden_regs *from, ucontext_t *left, const ucontext_t *to) {
    int saved_errno = errno;
    if (trodden_is_leader()) {
        struct trodden_thread *thread = landing_thread();
        struct trodden_regs regs = regs_of(to);
        uint64_t mask = trodden_block_signals();
        bool resumes = trodden_record_stack_switch(from, &regs, mask);
        restore_call_node(to);
#ifdef TRODDEN_LANDS
        if (thread)
            to = redirect_to_landing(thread, left, to, resumes, mask);
#endif
        if (!thread)
            switch_without_landing(to, mask);
        (void)left, (void)resumes;
    }
    errno = saved_errno;
    return to;
}

EXPORTED __attribute__((noinline)) int swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    static swap_function *real;
    if (!real && !(real = __swapcontext))
        *(void **)&real = TRODDEN_NEXT(swapcontext);
    save_call_node(from);
    if (from != to) /* else it continues right here */
        to = record_switch(&regs, from, to);
    TAIL_CALL return real(from, to);
}

static set_function *real_setcontext(void) {
    static set_function *real;
    if (!real && !(real = __setcontext))
        *(void **)&real = TRODDEN_NEXT(setcontext);
    return real;
}

EXPORTED __attribute__((noinline)) int setcontext(const ucontext_t *to) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    set_function *real = real_setcontext();
    to = record_switch(&regs, NULL, to);
    TAIL_CALL return real(to);
}

/* ---- the return from the function of a context ---- */
extern char trodden_context_return[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) void *trodden_context_real_return;

__attribute__((used, visibility("hidden"))) void trodden_context_returned(const ucontext_t *next) {
    const ucontext_t *to = next ? record_switch(NULL, NULL, next) : NULL;
    if (to != next)
        real_setcontext()(to);
}

/* The address follows a nop, as if a call returned there, so that an unwinder finds it described. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n\t.type trodden_context_return_function,@function\n"
        "trodden_context_return_function:\n\t.cfi_startproc\n\t.cfi_undefined rip\n\tnop\n"
        ".globl trodden_context_return\n\t.hidden trodden_context_return\ntrodden_context_return:\n\t"
        "movq (%rbx), %rdi\n\tcall trodden_context_returned\n\tjmp *trodden_context_real_return(%rip)\n\t"
        ".cfi_endproc\n\t.size trodden_context_return_function, . - trodden_context_return_function\n\t.popsection");
#else
__asm__(".pushsection .text\n\t.type trodden_context_return_function,@function\n"
        "trodden_context_return_function:\n\t.cfi_startproc\n\t.cfi_undefined x30\n\tnop\n"
        ".globl trodden_context_return\n\t.hidden trodden_context_return\ntrodden_context_return:\n\t"
        "mov x0, x19\n\tbl trodden_context_returned\n\tadrp x16, trodden_context_real_return\n\t"
        "ldr x16, [x16, :lo12:trodden_context_real_return]\n\tbr x16\n\t"
        ".cfi_endproc\n\t.size trodden_context_return_function, . - trodden_context_return_function\n\t.popsection");
#endif

static uintptr_t *return_address_of(ucontext_t *context) {
#if defined(__x86_64__)
    uint64_t shadow = 0;
    __asm__("rdsspq %0" : "+r"(shadow)); /* with a shadow stack, return addresses cannot be replaced */
    return shadow ? NULL : (uintptr_t *)context->uc_mcontext.gregs[REG_RSP];
#else
    return (uintptr_t *)&context->uc_mcontext.regs[30];
#endif
}

#define MAX_ARGUMENTS 32

EXPORTED void makecontext(ucontext_t *context, void (*function)(void), int count, ...) {
    static make_function *real;
    if (!real && !(real = __makecontext))
        *(void **)&real = TRODDEN_NEXT(makecontext);
    uint64_t arguments[MAX_ARGUMENTS] = {0};
    va_list list;
    va_start(list, count);
    for (int i = 0; i < count && i < MAX_ARGUMENTS; i++)
        arguments[i] = va_arg(list, uint64_t);
    va_end(list);
    real(context, function, count, arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5],
         arguments[6], arguments[7], arguments[8], arguments[9], arguments[10], arguments[11], arguments[12],
         arguments[13], arguments[14], arguments[15], arguments[16], arguments[17], arguments[18], arguments[19],
         arguments[20], arguments[21], arguments[22], arguments[23], arguments[24], arguments[25], arguments[26],
         arguments[27], arguments[28], arguments[29], arguments[30], arguments[31]);
    context->uc_sigmask.__val[MARK_AT] = 0;
    uintptr_t *return_address = return_address_of(context);
    if (return_address && trodden_is_leader()) {
        __atomic_store_n(&trodden_context_real_return, (void *)*return_address, __ATOMIC_RELAXED);
        *return_address = (uintptr_t)trodden_context_return;
    }
}
#endif
