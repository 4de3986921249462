/* The end of a thread in the middle of its functions, where nothing unwinds: musl just ends it.
 *
 * (glibc unwinds the stack, and every frame is noted on the way: personality.c.)  A thread that is cancelled
 * comes here too.  The real function is found
 * - in a static program under the name __pthread_exit;
 * - in a dynamic program as the next of that name in lookup order. */
#include <features.h>

#ifndef __GLIBC__
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <threads.h>

#include "internal.h"

#pragma weak dlsym
typedef void exit_function(void *);
extern exit_function __pthread_exit __attribute__((weak));

static _Noreturn void exit_thread(const struct trodden_regs *regs, void *result) {
    exit_function *real = __pthread_exit;
    if (!real && dlsym)
        *(void **)&real = dlsym(RTLD_NEXT, "pthread_exit");
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); /* as the real one does, but before our system calls */
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
