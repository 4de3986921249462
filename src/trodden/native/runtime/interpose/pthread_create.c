/* Interposers of pthread_create and thrd_create.
 *
 * A new thread starts with all signals blocked, until it has its shards: what a handler counted before would be lost.
 * Then it gets the signal mask of its creator, or the one of its attributes.
 *
 * The real pthread_create is found
 * - in a dynamic program, as the next of that name in lookup order;
 * - in a static program, under the name __pthread_create, which glibc and musl both use for it.  As the reference is
 *   weak (no shared glibc or musl exports that name) it does not extract the function from libc.a; the link line has
 *   to request it: -Wl,-u,__pthread_create. */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "interpose/next_function.h"
#include "interpose/thread_attributes.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/process.h"

#pragma weak pthread_getattr_default_np

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
extern create_function __pthread_create __attribute__((weak));
TRODDEN_INTERCEPTOR(create_function, pthread_create);

static create_function *real_create(void) {
    static create_function *found;
    create_function *create = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (create)
        return create;
    if (__pthread_create)
        create = __pthread_create;
    else
        *(void **)&create = TRODDEN_NEXT(pthread_create);
    __atomic_store_n(&found, create, __ATOMIC_RELAXED);
    return create;
}

int trodden_create_own_thread(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *),
                              void *argument) {
    create_function *create = real_create();
    return create ? create(id, attributes, start, argument) : ENOSYS;
}

/* The call in tail position leaves no frame of the runtime below the thread's own, and nothing to return to if this
 * module has been unloaded meanwhile. */
static void *run_thread(void *value) {
    struct trodden_thread *thread = value;
    void *(*start)(void *) = thread->start;
    void *argument = thread->argument;
    uint64_t mask = thread->signal_mask;
    uintptr_t top = thread->stack ? ((uintptr_t)thread->stack + thread->stack_bytes) & ~(uintptr_t)15 : 0;
    trodden_thread_starts(thread); /* which may give the record away */
#ifdef __GLIBC__
    if (top) {
        trodden_restore_signals(mask);
        return trodden_run_on_stack(start, argument, (void *)top);
    }
#else
    (void)top;
#endif
    trodden_restore_signals(mask);
    return start(argument);
}

#ifdef __GLIBC__
/* glibc allocates static TLS from the thread's stack: this adds what the counters and the padding behind them use.  A
 * stack that the caller supplied cannot grow (supplied_stack.c); without one, glibc reports an address that ends at
 * zero. */
static bool enlarge_stack(pthread_attr_t *attributes) {
    void *stack = NULL;
    size_t size = 0, extra = trodden_counters_on_stack();
    if (pthread_attr_getstack(attributes, &stack, &size) == 0 && (uintptr_t)stack + size != 0)
        return false;
    return extra && pthread_attr_getstacksize(attributes, &size) == 0 && size + extra > size &&
           pthread_attr_setstacksize(attributes, size + extra) == 0;
}
#else
static bool enlarge_stack(pthread_attr_t *attributes) {
    (void)attributes;
    return false;
}
#endif

/* All signals are blocked; `mask` is what the creator had. */
static int create_with_attributes(create_function *create, pthread_t *id, const pthread_attr_t *attributes,
                                  struct trodden_thread *thread, uint64_t mask) {
    pthread_attr_t own;
    uint64_t own_mask;
    bool has_mask = trodden_thread_mask_of(attributes, &own_mask);
    trodden_thread_inherits_mask(thread, has_mask ? &own_mask : NULL, mask);
#ifdef __GLIBC__
    if (attributes && trodden_copy_without_stack(&own, attributes, thread)) {
        int error = create(id, &own, run_thread, thread);
        pthread_attr_destroy(&own);
        return error;
    }
#endif
    if (attributes && !(has_mask && trodden_copy_with_all_blocked(&own, attributes))) {
        /* A shallow copy, which is never destroyed: what it points to belongs to the caller. */
        memcpy(&own, attributes, sizeof own);
        return create(id, enlarge_stack(&own) ? &own : attributes, run_thread, thread);
    }
    if (!attributes && (pthread_getattr_default_np ? pthread_getattr_default_np(&own) : pthread_attr_init(&own)) != 0)
        return create(id, NULL, run_thread, thread);
    int result = create(id, enlarge_stack(&own) || attributes ? &own : NULL, run_thread, thread);
    pthread_attr_destroy(&own);
    return result;
}

EXPORTED int pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attributes, void *(*start)(void *),
                            void *restrict argument) {
    create_function *create = real_create();
    if (!create) {
        static const char message[] = "trodden: no pthread_create; link with -Wl,-u,__pthread_create\n";
        return write(STDERR_FILENO, message, sizeof message - 1) < 0 ? ENOSYS : EAGAIN;
    }
    if (!trodden_is_leader())
        return create(id, attributes, start, argument);
    uint64_t mask = trodden_lock();
    struct trodden_thread *thread = trodden_thread_add();
    trodden_unlock_blocked();
    if (!thread) {
        trodden_restore_signals(mask);
        return create(id, attributes, start, argument);
    }
    thread->start = start;
    thread->argument = argument;
    int result = create_with_attributes(create, id, attributes, thread, mask);
    if (result != 0) {
        trodden_lock_blocked(mask);
        trodden_thread_remove(thread);
        trodden_unlock_blocked();
    }
    trodden_restore_signals(mask);
    return result;
}

/* In glibc and musl a C11 thread is a POSIX thread whose result is converted to int. */
EXPORTED int thrd_create(thrd_t *id, thrd_start_t start, void *argument) {
    pthread_t thread;
    int result = pthread_create(&thread, NULL, (void *(*)(void *))(void (*)(void))start, argument);
    if (result == 0)
        *id = (thrd_t)thread;
    return result == 0 ? thrd_success : result == EAGAIN || result == ENOMEM ? thrd_nomem : thrd_error;
}
