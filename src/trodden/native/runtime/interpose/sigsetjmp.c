/* sigsetjmp: the mask that siglongjmp restores is the one that the program has set (sigmask.c), not the kernel's.
 *
 * - With glibc in a static program, __sigsetjmp saves the registers and calls __sigjmp_save, which is replaced.
 * - With glibc in a dynamic program, that call cannot be replaced: interpose/dynamic_sigsetjmp.c.
 * - With musl, sigsetjmp returns through a function that saves the mask, and restores it when siglongjmp has come back.
 *   Both are replaced, since one object of a static library defines both. */
#define _GNU_SOURCE
#include <features.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "platform/attributes.h"

#ifdef __GLIBC__
/* Only the word that the kernel fills: others may hold what else the C library saves. */
__attribute__((visibility("hidden"))) int __sigjmp_save(struct __jmp_buf_tag *env, int save_mask) {
    sigset_t mask;
    env->__mask_was_saved = save_mask && sigprocmask(SIG_BLOCK, NULL, &mask) == 0;
    if (env->__mask_was_saved)
        memcpy(&env->__saved_mask, &mask, sizeof(uint64_t));
    return 0;
}
#else
/* Returns `value`, as setjmp has returned it. */
__attribute__((used, visibility("hidden"))) int trodden_sigsetjmp_returns(struct __jmp_buf_tag *env, int value) {
    sigset_t mask;
    if (value) {
        sigemptyset(&mask);
        memcpy(&mask, env->__ss, sizeof(uint64_t));
        sigprocmask(SIG_SETMASK, &mask, NULL);
    } else if (sigprocmask(SIG_BLOCK, NULL, &mask) == 0) {
        memcpy(env->__ss, &mask, sizeof(uint64_t));
    }
    return value;
}

/* The stack below its caller may be overwritten until it returns again.  So its return address and the register that
 * leads to it are kept in the buffer, behind the registers and in the second word of the mask. */
#if defined(__x86_64__)
_Static_assert(offsetof(struct __jmp_buf_tag, __fl) == 64 && offsetof(struct __jmp_buf_tag, __ss) == 72, "as below");
__asm__(".pushsection .text\n\t.globl sigsetjmp, __sigsetjmp\n\t.type sigsetjmp,@function\n\t"
        ".type __sigsetjmp,@function\nsigsetjmp:\n__sigsetjmp:\n\t.cfi_startproc\n\t"
        "testl %esi, %esi\n\tje 0f\n\t"
        "movq %rbx, 80(%rdi)\n\tpopq 64(%rdi)\n\t.cfi_adjust_cfa_offset -8\n\t"
        /* the caller's rip at 64(%rdi), then rip and rbx at 64(%rbx) and 80(%rbx) */
        ".cfi_escape 0x10, 16, 3, 0x75, 0xc0, 0x00\n\t"
        "movq %rdi, %rbx\n\t"
        ".cfi_escape 0x10, 16, 3, 0x73, 0xc0, 0x00\n\t.cfi_escape 0x10, 3, 3, 0x73, 0xd0, 0x00\n\t"
        "callq setjmp@PLT\n\t"
        "movl %eax, %esi\n\tmovq %rbx, %rdi\n\t"
        "pushq 64(%rdi)\n\t.cfi_adjust_cfa_offset 8\n\t.cfi_offset %rip, -8\n\t"
        "movq 80(%rdi), %rbx\n\t.cfi_restore %rbx\n\t"
        "jmp trodden_sigsetjmp_returns\n"
        "0:\n\tjmp setjmp@PLT\n\t"
        ".cfi_endproc\n\t.size sigsetjmp, . - sigsetjmp\n\t.popsection");
#else
_Static_assert(offsetof(struct __jmp_buf_tag, __fl) == 176 && offsetof(struct __jmp_buf_tag, __ss) == 184, "as below");
__asm__(".pushsection .text\n\t.globl sigsetjmp, __sigsetjmp\n\t.type sigsetjmp,@function\n\t"
        ".type __sigsetjmp,@function\nsigsetjmp:\n__sigsetjmp:\n\t.cfi_startproc\n\t"
        "cbz w1, 0f\n\tstr x30, [x0, #176]\n\tstr x19, [x0, #192]\n\tmov x19, x0\n\t"
        ".cfi_escape 0x10, 30, 3, 0x83, 0xb0, 0x01\n\t.cfi_escape 0x10, 19, 3, 0x83, 0xc0, 0x01\n\t"
        "bl setjmp\n\t"
        "mov w1, w0\n\tmov x0, x19\n\tldr x30, [x0, #176]\n\t.cfi_restore x30\n\t"
        "ldr x19, [x0, #192]\n\t.cfi_restore x19\n\t"
        "b trodden_sigsetjmp_returns\n"
        "0:\n\tb setjmp\n\t"
        ".cfi_endproc\n\t.size sigsetjmp, . - sigsetjmp\n\t.popsection");
#endif
#endif
