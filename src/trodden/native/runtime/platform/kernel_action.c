/* The action of a signal as the kernel has it. */
#define _GNU_SOURCE
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/kernel_action.h"

enum { MASK_BYTES = 8 };

/* On x86-64 a handler returns to code that the program supplies.  Unwinders recognize it by its instructions, where
 * no unwinding table covers the byte before. */
#ifdef __x86_64__
#define RESTORER_FLAG 0x04000000u
extern void trodden_sigreturn(void) __attribute__((visibility("hidden")));
__asm__(".pushsection .text\n\t.p2align 4\n\tnop\n\t.globl trodden_sigreturn\n\t.hidden trodden_sigreturn\n\t"
        ".type trodden_sigreturn,@function\ntrodden_sigreturn:\n\tmovq $15, %rax\n\tsyscall\n\t"
        ".size trodden_sigreturn, . - trodden_sigreturn\n\t.p2align 4\n\t.popsection");
#else
#define RESTORER_FLAG 0u
#define trodden_sigreturn NULL
#endif

bool trodden_get_kernel_action(int number, struct trodden_kernel_action *action) {
    return syscall(SYS_rt_sigaction, number, NULL, action, MASK_BYTES) == 0;
}

bool trodden_restore_kernel_action(int number, const struct trodden_kernel_action *action) {
    return syscall(SYS_rt_sigaction, number, action, NULL, MASK_BYTES) == 0;
}

bool trodden_set_kernel_handler(int number, trodden_signal_handler *handler, uint64_t flags, uint64_t mask) {
    struct trodden_kernel_action action = {handler, flags | SA_SIGINFO | RESTORER_FLAG, trodden_sigreturn, mask};
    return trodden_restore_kernel_action(number, &action);
}

bool trodden_is_handler(const struct trodden_kernel_action *action) {
    return (uintptr_t)action->handler != (uintptr_t)SIG_DFL && (uintptr_t)action->handler != (uintptr_t)SIG_IGN;
}
