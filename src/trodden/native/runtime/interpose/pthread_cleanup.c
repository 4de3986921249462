/* Interposers for pthread_cleanup_push in C with glibc: functions with cleanup handlers for cancellation.
 *
 * The macro calls setjmp.  When glibc has unwound the stack up to the function, it jumps there without calling
 * longjmp.  Therefore, when the jmp_buf is registered, its program counter is replaced by that of a trampoline, which
 * records that the function has left the call that it was in and has resumed behind setjmp, and then continues there.
 * The return address below the stack pointer tells which call that was: nothing has overwritten it yet.  If the
 * function was interrupted by the signal that cancels the thread, pthread_cancel.c has its registers.
 *
 * The values that are replaced (the program counter, and a register that leads to the rest) are kept in words of the
 * structure that glibc has always reserved.  In a static program glibc's own function has another underscore. */
#include <features.h>

#if defined(__GLIBC__) && defined(__x86_64__)
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>

#include "interpose/next_function.h"
#include "interpose/pointer_guard.h"
#include "platform/attributes.h"
#include "process/process.h"
#include "unwind/nonlocal_exits.h"

enum { SAVED_RBX = 0, SAVED_PC = 7 };

typedef void register_function(__pthread_unwind_buf_t *);
extern register_function ___pthread_register_cancel __attribute__((weak, visibility("hidden")));
extern register_function ___pthread_register_cancel_defer __attribute__((weak, visibility("hidden")));

struct unwind_buffer { /* the layout of __pthread_unwind_buf_t */
    uint64_t saved[8];
    uint32_t mask, pc_low; /* `pc_low`, `pc_high`: the halves of an address */
    uint64_t previous, cleanup;
    uint32_t kind, pc_high;
    uint64_t rbx;
};
_Static_assert(sizeof(struct unwind_buffer) <= sizeof(__pthread_unwind_buf_t) &&
                   offsetof(struct unwind_buffer, rbx) == 96,
               "as in glibc's headers and in the code below");

extern char trodden_cleanup_trampoline[] __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n\t.globl trodden_cleanup_trampoline\n\t.hidden trodden_cleanup_trampoline\n\t"
        ".type trodden_cleanup_trampoline,@function\ntrodden_cleanup_trampoline:\n\t"
        "movq -8(%rsp), %rcx\n\tmovq %rbx, %rdi\n\tsubq $176, %rsp\n\tmovq 96(%rdi), %rbx\n\t"
        "movq %rax, 160(%rsp)\n\tmovq %rcx, (%rsp)\n\tmovq %rbx, 32(%rsp)\n\tmovq %rbp, 56(%rsp)\n\t"
        "leaq 176(%rsp), %rcx\n\tmovq %rcx, 64(%rsp)\n\tmovq %r12, 104(%rsp)\n\tmovq %r13, 112(%rsp)\n\t"
        "movq %r14, 120(%rsp)\n\tmovq %r15, 128(%rsp)\n\tmovq %rsp, %rsi\n\tcall trodden_cleanup_resumes\n\t"
        "movq %rax, %rcx\n\tmovq 160(%rsp), %rax\n\taddq $176, %rsp\n\tjmp *%rcx\n\t"
        ".size trodden_cleanup_trampoline, . - trodden_cleanup_trampoline\n\t.popsection");

__attribute__((used, visibility("hidden"))) uint64_t trodden_cleanup_resumes(const struct unwind_buffer *buffer,
                                                                             struct trodden_regs *regs) {
    uint64_t pc = buffer->pc_low | (uint64_t)buffer->pc_high << 32;
    regs->known = 1u << 3 | 1u << 6 | 1u << 7 | 15u << 12;
    if (trodden_is_leader()) {
        struct trodden_thread *thread = trodden_own_thread();
        trodden_record_resume(regs, thread && thread->cancelled ? &thread->cancelled_at : NULL, pc);
        if (thread)
            thread->cancelled = false;
    }
    return pc;
}

static void redirect(__pthread_unwind_buf_t *buffer) {
    struct unwind_buffer *view = (struct unwind_buffer *)buffer;
    uint64_t pc = demangle(view->saved[SAVED_PC]);
    view->pc_low = (uint32_t)pc;
    view->pc_high = (uint32_t)(pc >> 32);
    view->rbx = view->saved[SAVED_RBX];
    view->saved[SAVED_RBX] = (uint64_t)view;
    view->saved[SAVED_PC] = mangle((uint64_t)trodden_cleanup_trampoline);
}

static void register_and_redirect(register_function *real, __pthread_unwind_buf_t *buffer) {
    real(buffer);
    redirect(buffer);
}

EXPORTED void __pthread_register_cancel(__pthread_unwind_buf_t *buffer) {
    static register_function *real;
    if (!real && !(real = ___pthread_register_cancel))
        *(void **)&real = trodden_next_function("__pthread_register_cancel", NULL);
    register_and_redirect(real, buffer);
}

EXPORTED void __pthread_register_cancel_defer(__pthread_unwind_buf_t *buffer) {
    static register_function *real;
    if (!real && !(real = ___pthread_register_cancel_defer))
        *(void **)&real = trodden_next_function("__pthread_register_cancel_defer", NULL);
    register_and_redirect(real, buffer);
}
#endif
