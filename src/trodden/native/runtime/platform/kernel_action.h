/* The action of a signal as the kernel has it (kernel_action.c).  The C library hides the actions of the signals that
 * it keeps for itself. */
#ifndef TRODDEN_PLATFORM_KERNEL_ACTION_H
#define TRODDEN_PLATFORM_KERNEL_ACTION_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

typedef void trodden_signal_handler(int number, siginfo_t *info, void *context);

struct trodden_kernel_action {
    trodden_signal_handler *handler;
    uint64_t flags;
    void (*restorer)(void);
    uint64_t mask;
};

bool trodden_get_kernel_action(int number, struct trodden_kernel_action *action);
/* Installs a handler with SA_SIGINFO and these flags. */
bool trodden_set_kernel_handler(int number, trodden_signal_handler *handler, uint64_t flags, uint64_t mask);
/* Puts back what trodden_get_kernel_action returned. */
bool trodden_restore_kernel_action(int number, const struct trodden_kernel_action *action);
/* Does an action call a function, rather than ignore the signal or leave it to the kernel? */
bool trodden_is_handler(const struct trodden_kernel_action *action);

#endif
