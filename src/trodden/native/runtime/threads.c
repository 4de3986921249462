/* Threads: each is known from its start to its end.
 *
 * pthread_create and thrd_create are replaced.  The real pthread_create is found
 * - in a dynamic program as the next of that name in lookup order;
 * - in a static program under the name __pthread_create, which glibc and musl both use for it.  As the
 *   reference is weak (no shared glibc or musl exports that name) it does not fetch the function out of
 *   libc.a; the link line has to: -Wl,-u,__pthread_create.
 *
 * A thread's end is seen by the destructor of a pthread key, whichever way it ends.  It puts itself off
 * to the last round of destructors, when C++ thread_local objects and other keys have had theirs. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <threads.h>
#include <unistd.h>

#include "internal.h"

#pragma weak dlsym
#pragma weak pthread_getattr_default_np

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
extern create_function __pthread_create __attribute__((weak));

static pthread_key_t key;
static bool have_key;
static struct trodden_thread *free_threads;

static create_function *real_create(void) {
    static create_function *found;
    create_function *create = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (create)
        return create;
    if (__pthread_create)
        create = __pthread_create;
    else if (dlsym)
        *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    __atomic_store_n(&found, create, __ATOMIC_RELAXED);
    return create;
}

/* The list; the caller holds the lock. */
static struct trodden_thread *list_thread(void) {
    struct trodden_thread *thread = free_threads;
    if (thread)
        free_threads = thread->next;
    else if (!(thread = trodden_alloc(sizeof *thread)))
        return NULL;
    *thread = (struct trodden_thread){
        .next = trodden_process.threads, .number = trodden_process.thread_count++, .counter_table = thread->counter_table,
        .alternate_stack = thread->alternate_stack};
    if (thread->next)
        thread->next->previous = thread;
    trodden_process.threads = thread;
    return thread;
}

static void unlist_thread(struct trodden_thread *thread) {
    if (thread->next)
        thread->next->previous = thread->previous;
    if (thread->previous)
        thread->previous->next = thread->next;
    else
        trodden_process.threads = thread->next;
    thread->tp = 0;
    thread->next = free_threads;
    free_threads = thread;
}

struct trodden_thread *trodden_own_thread(void) { return have_key ? pthread_getspecific(key) : NULL; }

uint32_t trodden_thread_number(void) {
    struct trodden_thread *thread = trodden_own_thread();
    return thread ? thread->number : trodden_process.thread_count;
}

static void on_thread_exit(void *value) {
    struct trodden_thread *thread = value;
    if (++thread->destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(key, thread) == 0)
        return;
    __atomic_store_n(&thread->ending, true, __ATOMIC_RELEASE);
    trodden_lock();
    trodden_alternate_stack_remove(thread);
    trodden_shards_detach_thread(thread, false);
    trodden_rings_detach_thread(thread, false);
    trodden_sparse_release_thread(thread->tp);
    trodden_calls_release_thread(thread->tp);
    unlist_thread(thread);
    /* From here on nobody would see what a handler counts: signals stay blocked for the moment that is left, but for
     * those by which the C library itself asks something of threads (32 to 34). */
    trodden_unlock(~((uint64_t)7 << 31));
}

/* The record is only kept if its end will be noticed: else it would point into freed memory. */
static void on_thread_start(struct trodden_thread *thread) {
    bool tracked = have_key && pthread_setspecific(key, thread) == 0;
    uint64_t mask = trodden_lock();
    thread->tid = (uint32_t)syscall(SYS_gettid);
    if (tracked) {
        __atomic_store_n(&thread->tp, trodden_thread_pointer(), __ATOMIC_RELEASE);
        trodden_shards_attach_thread(thread);
        trodden_rings_attach_thread(thread);
    } else {
        unlist_thread(thread);
    }
    trodden_unlock(mask);
    if (tracked)
        trodden_alternate_stack_install(thread);
}

void trodden_threads_shutdown(void) {
    if (have_key)
        pthread_key_delete(key);
    have_key = false;
}

/* A fork happens with the lock held, so the child finds all lists whole. */
static uint64_t fork_mask;

static void before_fork(void) {
    struct trodden_images *images = trodden_images_snapshot();
    uint64_t mask = trodden_lock();
    fork_mask = mask;
    trodden_set_images(images);
    trodden_live_before_fork();
}

static void after_fork_in_parent(void) {
    trodden_live_wait_for_child();
    trodden_unlock(fork_mask);
}

/* The child starts at zero, in the middle of the functions that called fork: their frames are kept, for
 * they will be left without having been entered. */
static void after_fork_in_child(void) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    trodden_lock_reset();
    trodden_process.pid = trodden_pid();
    trodden_process.start_time = trodden_now();
    trodden_live_after_fork();
    trodden_threads_after_fork();
    trodden_sparse_reset(trodden_thread_pointer());
    trodden_calls_reset(trodden_thread_pointer());
    trodden_nonlocal_exits_reset();
    trodden_fatal_signal_after_fork();
    trodden_stop_after_fork();
    trodden_frames_free(&trodden_process.fork_frames);
    trodden_process.fork_frames = trodden_collect_frames(&regs, trodden_thread_number(), false);
    trodden_live_save_frames(TRODDEN_REGION_FORK_FRAMES, &trodden_process.fork_frames, trodden_thread_number(), 0);
    trodden_restore_signals(fork_mask);
}

void trodden_threads_after_fork(void) {
    struct trodden_thread *own = trodden_own_thread(), *next;
    for (struct trodden_thread *thread = trodden_process.threads; thread; thread = next) {
        next = thread->next;
        if (thread != own) {
            trodden_shards_detach_thread(thread, true);
            trodden_rings_detach_thread(thread, true);
            unlist_thread(thread);
        }
    }
    trodden_shards_after_fork(own);
    trodden_rings_after_fork(own);
    if (own)
        own->tid = (uint32_t)syscall(SYS_gettid);
}

void trodden_threads_init(void) {
    int saved_errno = errno;
    have_key = pthread_key_create(&key, on_thread_exit) == 0;
    pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
    uint64_t mask = trodden_lock();
    struct trodden_thread *thread = list_thread();
    trodden_unlock(mask);
    if (thread)
        on_thread_start(thread);
    errno = saved_errno;
}

/* The call in tail position leaves no frame of ours below the thread's own, and nothing to return to
 * if this module has been unloaded meanwhile. */
static void *run_thread(void *value) {
    struct trodden_thread *thread = value;
    void *(*start)(void *) = thread->start;
    void *argument = thread->argument;
    on_thread_start(thread);
    return start(argument);
}

/* glibc takes static TLS out of the thread's stack: give back what our counters use, and the page behind them.
 * Memory for the stack that the caller supplied cannot grow and is left alone: without it glibc answers an address
 * that ends at zero. */
static bool enlarge_stack(pthread_attr_t *attributes) {
#ifdef __GLIBC__
    void *stack = NULL;
    size_t size = 0, extra = __atomic_load_n(&trodden_process.tls_bytes, __ATOMIC_RELAXED);
    extra += extra ? TRODDEN_PADDING : 0;
    if (pthread_attr_getstack(attributes, &stack, &size) == 0 && (uintptr_t)stack + size != 0)
        return false;
    return extra && pthread_attr_getstacksize(attributes, &size) == 0 &&
           size + extra > size && pthread_attr_setstacksize(attributes, size + extra) == 0;
#else
    (void)attributes;
    return false;
#endif
}

static int create_listed(create_function *create, pthread_t *id, const pthread_attr_t *attributes,
                         struct trodden_thread *thread) {
    pthread_attr_t own;
    if (attributes) {
        /* Shallow, and never destroyed: what it points to stays the caller's. */
        memcpy(&own, attributes, sizeof own);
        return create(id, enlarge_stack(&own) ? &own : attributes, run_thread, thread);
    }
    if ((pthread_getattr_default_np ? pthread_getattr_default_np(&own) : pthread_attr_init(&own)) != 0)
        return create(id, NULL, run_thread, thread);
    int result = create(id, enlarge_stack(&own) ? &own : NULL, run_thread, thread);
    pthread_attr_destroy(&own);
    return result;
}

EXPORTED int pthread_create(pthread_t *restrict id, const pthread_attr_t *restrict attributes,
                            void *(*start)(void *), void *restrict argument) {
    create_function *create = real_create();
    if (!create) {
        static const char message[] = "trodden: no pthread_create; link with -Wl,-u,__pthread_create\n";
        return write(STDERR_FILENO, message, sizeof message - 1) < 0 ? ENOSYS : EAGAIN;
    }
    struct trodden_thread *thread = NULL;
    if (trodden_is_leader()) {
        uint64_t mask = trodden_lock();
        thread = list_thread();
        trodden_unlock(mask);
    }
    if (!thread)
        return create(id, attributes, start, argument);
    thread->start = start;
    thread->argument = argument;
    int result = create_listed(create, id, attributes, thread);
    if (result != 0) {
        uint64_t mask = trodden_lock();
        unlist_thread(thread);
        trodden_unlock(mask);
    }
    return result;
}

/* In glibc and musl a C11 thread is a POSIX thread whose result is only looked at as an int. */
EXPORTED int thrd_create(thrd_t *id, thrd_start_t start, void *argument) {
    pthread_t thread;
    int result = pthread_create(&thread, NULL, (void *(*)(void *))(void (*)(void))start, argument);
    if (result == 0)
        *id = (thrd_t)thread;
    return result == 0 ? thrd_success : result == EAGAIN || result == ENOMEM ? thrd_nomem : thrd_error;
}
