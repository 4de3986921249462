/* Interposers of pthread_setcanceltype and pthread_cancel with glibc: threads that are cancelled at any instruction.
 *
 * Cancellation unwinds the stack, and each frame is recorded on the way (unwind/personality.c), except for that of a
 * function with cleanup handlers, which glibc jumps back into (pthread_cleanup.c).  If the signal that cancels a thread
 * has interrupted that very function, it waits for no call, and only the signal's handler knows where it is.  Therefore
 * the kernel calls a handler of the runtime, which remembers the registers and calls glibc's.
 *
 * glibc installs its handler when pthread_cancel is called for the first time, and sends the signal at once.  So that
 * the first one is observed, too, that call is made for a thread of the runtime's own, which ignores it. */
#define _GNU_SOURCE
#include <features.h>

#include "interpose/interpose.h"

#if defined(__GLIBC__) && defined(__x86_64__)
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/next_function.h"
#include "platform/attributes.h"
#include "platform/kernel_action.h"
#include "platform/system.h"
#include "process/process.h"

enum { CANCEL_SIGNAL = 32, MAX_YIELDS = 10000 };

typedef int cancel_function(pthread_t);
typedef int type_function(int, int *);
/* The names in a static program, which the link line has to request (runtime_link.py).  Sanitizers intercept neither
 * function. */
extern cancel_function __pthread_cancel __attribute__((weak, visibility("hidden")));
extern type_function __pthread_setcanceltype __attribute__((weak, visibility("hidden")));

static struct trodden_kernel_action library_action;
static uint32_t asynchronous; /* 1: some thread may be cancelled at any instruction */
static uint32_t cancelling;   /* how many threads are in the real pthread_cancel */

static cancel_function *real_cancel(void) {
    static cancel_function *real;
    if (!real && !(real = __pthread_cancel))
        *(void **)&real = trodden_next_function("pthread_cancel", NULL);
    return real;
}

static void on_cancel_signal(int number, siginfo_t *info, void *context) {
    struct trodden_thread *thread = trodden_own_thread();
    if (thread) {
        trodden_regs_from_ucontext(context, &thread->cancelled_at);
        thread->cancelled = true;
    }
    library_action.handler(number, info, context);
    /* It has returned: the thread must not be cancelled at this moment. */
    if (thread)
        thread->cancelled = false;
}

/* False: glibc has not installed its handler yet. */
static bool observe_signal(void) {
    struct trodden_kernel_action now;
    if (!trodden_get_kernel_action(CANCEL_SIGNAL, &now) || !trodden_is_handler(&now))
        return false;
    if (now.handler == on_cancel_signal)
        return true;
    library_action = now;
    return trodden_set_kernel_handler(CANCEL_SIGNAL, on_cancel_signal, now.flags, now.mask);
}

void trodden_cancel_shutdown(void) {
    struct trodden_kernel_action now;
    if (trodden_is_handler(&library_action) && trodden_get_kernel_action(CANCEL_SIGNAL, &now) &&
        now.handler == on_cancel_signal)
        trodden_restore_kernel_action(CANCEL_SIGNAL, &library_action);
}

/* ---- a thread to be cancelled in vain: it calls nothing that would act on it ---- */
enum { STARTING, WAITING, DONE };

static void yield(void) { syscall(SYS_sched_yield); }

static void *ignore_cancellation(void *argument) {
    uint32_t *state = argument;
    __atomic_store_n(state, WAITING, __ATOMIC_RELEASE);
    while (__atomic_load_n(state, __ATOMIC_ACQUIRE) != DONE)
        yield();
    __atomic_store_n(state, STARTING, __ATOMIC_RELEASE);
    return NULL;
}

/* Signals are blocked meanwhile: the thread must not handle any. */
static void install_library_handler(void) {
    uint32_t state = STARTING;
    pthread_attr_t attributes;
    pthread_t thread;
    if (pthread_attr_init(&attributes) != 0)
        return;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    uint64_t mask = trodden_block_signals();
    if (trodden_create_own_thread(&thread, &attributes, ignore_cancellation, &state) == 0) {
        while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != WAITING)
            yield();
        real_cancel()(thread);
        __atomic_store_n(&state, DONE, __ATOMIC_RELEASE);
        while (__atomic_load_n(&state, __ATOMIC_ACQUIRE) != STARTING) /* it is on this stack */
            yield();
    }
    trodden_restore_signals(mask);
    pthread_attr_destroy(&attributes);
}

/* ---- the interposers ---- */
/* A thread that cancels another one at this moment has seen that none may be cancelled anywhere. */
EXPORTED int pthread_setcanceltype(int type, int *previous) {
    static type_function *real;
    if (!real && !(real = __pthread_setcanceltype))
        *(void **)&real = trodden_next_function("pthread_setcanceltype", NULL);
    if (type == PTHREAD_CANCEL_ASYNCHRONOUS && trodden_is_leader()) {
        __atomic_store_n(&asynchronous, 1, __ATOMIC_SEQ_CST);
        for (unsigned i = 0; i < MAX_YIELDS && __atomic_load_n(&cancelling, __ATOMIC_SEQ_CST); i++)
            yield();
        observe_signal();
    }
    TAIL_CALL return real(type, previous);
}

EXPORTED int pthread_cancel(pthread_t thread) {
    /* A thread that cancels itself is at a call. */
    if (!trodden_is_leader() || thread == trodden_thread_pointer())
        return real_cancel()(thread);
    __atomic_fetch_add(&cancelling, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&asynchronous, __ATOMIC_SEQ_CST) && !observe_signal()) {
        install_library_handler();
        observe_signal();
    }
    int result = real_cancel()(thread);
    __atomic_fetch_sub(&cancelling, 1, __ATOMIC_SEQ_CST);
    return result;
}
#else
void trodden_cancel_shutdown(void) {}
#endif
