/* Programs that switch between stacks of their own: swapcontext, setcontext, makecontext (glibc; musl has none).
 *
 * When a stack is left, nobody knows whether it will ever be gone on with, or whether its memory will be there when
 * the process ends.  So all its frames are noted as left then, and as come back to when it goes on: what was
 * abandoned stays noted.  Where a context lies on the stack that is left, going there is a jump like longjmp's.
 *
 * The real functions are called in place: contexts are those of the program's functions, not of ours.  When the
 * function of a context returns, glibc goes on with the next context by itself; so it returns to a place of ours,
 * which looks at that context and then goes where the function would have returned to. */
#define _GNU_SOURCE
#include <errno.h>
#include <features.h>

#ifdef __GLIBC__
#include <dlfcn.h>
#include <stdarg.h>
#include <ucontext.h>

#include "internal.h"

#pragma weak dlsym

typedef int swap_function(ucontext_t *, const ucontext_t *);
typedef int set_function(const ucontext_t *);
typedef void make_function(ucontext_t *, void (*)(void), int, ...);

/* What a static program has; the link line fetches them (see runtime_build.py). */
extern swap_function __swapcontext __attribute__((weak, visibility("hidden")));
extern set_function __setcontext __attribute__((weak, visibility("hidden")));
extern make_function __makecontext __attribute__((weak, visibility("hidden")));

static void *next_of(const char *name) { return dlsym ? dlsym(RTLD_NEXT, name) : NULL; }

/* ---- contexts as registers ---- */
static struct trodden_regs regs_of(const ucontext_t *context) {
    struct trodden_regs regs;
#if defined(__x86_64__)
    static const struct {
        uint8_t column, place;
    } saved[] = {{3, REG_RBX},  {6, REG_RBP},  {7, REG_RSP}, {12, REG_R12},
                 {13, REG_R13}, {14, REG_R14}, {15, REG_R15}};
    regs.known = 0;
    regs.pc = (uint64_t)context->uc_mcontext.gregs[REG_RIP];
    for (unsigned i = 0; i < sizeof saved / sizeof *saved; i++) {
        regs.r[saved[i].column] = (uint64_t)context->uc_mcontext.gregs[saved[i].place];
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

/* ---- the thread's place among call paths: kept in what the kernel does not use of a mask of signals ---- */
enum { MARK_AT = 14, PLACE_AT = 15 };
#define MARK 0x7d3c1f0be5a29684u

static void keep_place(ucontext_t *context) {
    uint64_t place = trodden_calls_place();
    if (place) {
        context->uc_sigmask.__val[MARK_AT] = MARK;
        context->uc_sigmask.__val[PLACE_AT] = place;
    }
}

static void take_place(const ucontext_t *context) {
    bool kept = context->uc_sigmask.__val[MARK_AT] == MARK;
    trodden_calls_go_on(kept ? context->uc_sigmask.__val[PLACE_AT] : 0);
}

/* ---- the functions ---- */
static void go_to(const struct trodden_regs *from, const ucontext_t *to) {
    int saved = errno;
    if (trodden_leading()) {
        struct trodden_regs regs = regs_of(to);
        trodden_note_switch(from, &regs);
        take_place(to);
    }
    errno = saved;
}

EXPORTED __attribute__((noinline)) int swapcontext(ucontext_t *restrict from, const ucontext_t *restrict to) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE(&regs);
    static swap_function *real;
    if (!real && !(real = __swapcontext))
        *(void **)&real = next_of("swapcontext");
    keep_place(from);
    go_to(&regs, to);
    IN_PLACE return real(from, to);
}

EXPORTED __attribute__((noinline)) int setcontext(const ucontext_t *to) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE(&regs);
    static set_function *real;
    if (!real && !(real = __setcontext))
        *(void **)&real = next_of("setcontext");
    go_to(&regs, to);
    IN_PLACE return real(to);
}

/* ---- where the function of a context returns to ---- */
extern char trodden_context_returns[] __attribute__((visibility("hidden")));
__attribute__((visibility("hidden"))) void *trodden_context_ends;

__attribute__((used, visibility("hidden"))) void trodden_context_returned(const ucontext_t *next) {
    if (next)
        go_to(NULL, next);
}

/* A call would return behind the nop, so that an unwinder finds this place described. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n\t.type trodden_context_returns_from,@function\n"
        "trodden_context_returns_from:\n\t.cfi_startproc\n\t.cfi_undefined rip\n\tnop\n"
        ".globl trodden_context_returns\n\t.hidden trodden_context_returns\ntrodden_context_returns:\n\t"
        "movq (%rbx), %rdi\n\tcall trodden_context_returned\n\tjmp *trodden_context_ends(%rip)\n\t"
        ".cfi_endproc\n\t.size trodden_context_returns_from, . - trodden_context_returns_from\n\t.popsection");
#else
__asm__(".pushsection .text\n\t.type trodden_context_returns_from,@function\n"
        "trodden_context_returns_from:\n\t.cfi_startproc\n\t.cfi_undefined x30\n\tnop\n"
        ".globl trodden_context_returns\n\t.hidden trodden_context_returns\ntrodden_context_returns:\n\t"
        "mov x0, x19\n\tbl trodden_context_returned\n\tadrp x16, trodden_context_ends\n\t"
        "ldr x16, [x16, :lo12:trodden_context_ends]\n\tbr x16\n\t"
        ".cfi_endproc\n\t.size trodden_context_returns_from, . - trodden_context_returns_from\n\t.popsection");
#endif

static uintptr_t *return_place(ucontext_t *context) {
#if defined(__x86_64__)
    uint64_t shadow = 0;
    __asm__("rdsspq %0" : "+r"(shadow)); /* returns are checked against another stack: leave them alone */
    return shadow ? NULL : (uintptr_t *)context->uc_mcontext.gregs[REG_RSP];
#else
    return (uintptr_t *)&context->uc_mcontext.regs[30];
#endif
}

#define MOST_ARGUMENTS 32

EXPORTED void makecontext(ucontext_t *context, void (*function)(void), int count, ...) {
    static make_function *real;
    if (!real && !(real = __makecontext))
        *(void **)&real = next_of("makecontext");
    uint64_t a[MOST_ARGUMENTS] = {0};
    va_list given;
    va_start(given, count);
    for (int i = 0; i < count && i < MOST_ARGUMENTS; i++)
        a[i] = va_arg(given, uint64_t);
    va_end(given);
    real(context, function, count, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12],
         a[13], a[14], a[15], a[16], a[17], a[18], a[19], a[20], a[21], a[22], a[23], a[24], a[25], a[26], a[27],
         a[28], a[29], a[30], a[31]);
    context->uc_sigmask.__val[MARK_AT] = 0;
    uintptr_t *back = return_place(context);
    if (back && trodden_leading()) {
        __atomic_store_n(&trodden_context_ends, (void *)*back, __ATOMIC_RELAXED);
        *back = (uintptr_t)trodden_context_returns;
    }
}
#endif
