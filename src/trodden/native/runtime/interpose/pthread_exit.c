/* Interposers of pthread_exit and thrd_exit for musl, which ends a thread without unwinding its stack.
 *
 * (glibc unwinds the stack, and each frame is recorded on the way: unwind/personality.c.) Cancellation ends here,
 * too.  The real function is found
 * - in a static program, under the name __pthread_exit;
 * - in a dynamic program, as the next of that name in lookup order. */
#include <features.h>

#ifndef __GLIBC__
#include <pthread.h>
#include <stdint.h>
#include <threads.h>

#include "interpose/next_function.h"
#include "platform/attributes.h"
#include "process/process.h"
#include "unwind/nonlocal_exits.h"

typedef void exit_function(void *);
extern exit_function __pthread_exit __attribute__((weak));

static _Noreturn void exit_thread(const struct trodden_regs *regs, void *result) {
    exit_function *real = __pthread_exit;
    if (!real)
        *(void **)&real = trodden_next_function("pthread_exit", NULL);
    /* As the real function does, but before the system calls made here. */
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    if (trodden_is_leader())
        trodden_record_thread_exit(regs);
    real(result);
    __builtin_trap();
}

EXPORTED _Noreturn void pthread_exit(void *result) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    exit_thread(&regs, result);
}

EXPORTED _Noreturn void thrd_exit(int result) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    exit_thread(&regs, (void *)(intptr_t)result);
}
#endif
