/* Interposer of getcontext (glibc on x86-64): the context gets the mask that the program has set.
 *
 * The kernel's mask, which the C library saves, lacks the signals of faults that are blocked (sigmask.c).  Where some
 * are, they are added when the real function has returned; what it has saved of itself then, where it returns to and
 * the stack pointer, is replaced by the caller's.  Else it is called in tail position. */
#define _GNU_SOURCE
#include <features.h>

#if defined(__GLIBC__) && defined(__x86_64__)
#include <stddef.h>
#include <ucontext.h>

#include "interpose/interpose.h"
#include "interpose/landing.h"
#include "interpose/next_function.h"
#include "platform/attributes.h"
#include "process/process.h"

typedef int get_function(ucontext_t *);
extern get_function __getcontext __attribute__((weak, visibility("hidden"))); /* in a static program */
TRODDEN_INTERCEPTOR(get_function, getcontext);

__attribute__((visibility("hidden"))) get_function *trodden_real_getcontext;

static const struct trodden_thread *thread_with_faults(void) {
    const struct trodden_thread *thread = trodden_faults_were_blocked && trodden_leads() ? trodden_own_thread() : NULL;
    return trodden_can_land(thread) && thread->faults_blocked ? thread : NULL;
}

/* Called by getcontext (below) first: is something to be added? */
__attribute__((used, visibility("hidden"))) bool trodden_before_getcontext(void) {
    if (!trodden_real_getcontext && !(trodden_real_getcontext = __getcontext))
        *(void **)&trodden_real_getcontext = TRODDEN_NEXT(getcontext);
    return thread_with_faults() != NULL;
}

/* Called last, if so. */
__attribute__((used, visibility("hidden"))) int trodden_after_getcontext(ucontext_t *context, int result) {
    uint64_t *mask = (uint64_t *)&context->uc_sigmask;
    *mask = trodden_visible_mask(thread_with_faults(), *mask);
    return result;
}

_Static_assert(offsetof(ucontext_t, uc_mcontext.gregs[REG_RSP]) == 160 &&
                   offsetof(ucontext_t, uc_mcontext.gregs[REG_RIP]) == 168,
               "as in the code below");
__asm__(".pushsection .text\n\t.globl getcontext\n\t.type getcontext,@function\ngetcontext:\n\t.cfi_startproc\n\t"
        "pushq %rdi\n\t.cfi_adjust_cfa_offset 8\n\tcallq trodden_before_getcontext\n\t"
        "testb %al, %al\n\tmovq trodden_real_getcontext(%rip), %rax\n\tjne 0f\n\t"
        "popq %rdi\n\t.cfi_adjust_cfa_offset -8\n\tjmpq *%rax\n"
        "0:\n\t.cfi_adjust_cfa_offset 8\n\tmovq (%rsp), %rdi\n\tcallq *%rax\n\t"
        "popq %rdi\n\t.cfi_adjust_cfa_offset -8\n\tmovq (%rsp), %rcx\n\tmovq %rcx, 168(%rdi)\n\t"
        "leaq 8(%rsp), %rcx\n\tmovq %rcx, 160(%rdi)\n\tmovl %eax, %esi\n\tjmp trodden_after_getcontext\n\t"
        ".cfi_endproc\n\t.size getcontext, . - getcontext\n\t.popsection");
#endif
