/* The threads of the process: each is known from its start to its end.
 *
 * pthread_create is interposed (interpose/pthread_create.c).  The end of a thread is observed by the destructor of a
 * thread-specific key, in whichever way the thread ends.  It defers itself to the last round of destructors, when C++
 * thread_local objects and other keys have had theirs. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/call_paths.h"
#include "counters/last_paths.h"
#include "counters/shards.h"
#include "counters/sparse_paths.h"
#include "interpose/interpose.h"
#include "platform/system.h"
#include "process/fork.h"
#include "process/process.h"
#include "process/stop_threads.h"

static pthread_key_t key;
static bool have_key;
static struct trodden_thread *free_threads;

struct trodden_thread *trodden_thread_add(void) {
    struct trodden_thread *thread = free_threads;
    if (thread)
        free_threads = thread->next;
    else if (!(thread = trodden_alloc(sizeof *thread)))
        return NULL;
    *thread = (struct trodden_thread){.next = trodden_process.threads,
                                      .number = trodden_process.thread_count++,
                                      .counter_table = thread->counter_table,
                                      .context_copy = thread->context_copy,
                                      .trace = thread->trace,
                                      .alternate_stack = thread->alternate_stack};
    if (thread->next)
        thread->next->previous = thread;
    trodden_process.threads = thread;
    return thread;
}

void trodden_thread_remove(struct trodden_thread *thread) {
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
    trodden_trace_detach_thread(thread);
    trodden_sparse_release_thread(thread->tp);
    trodden_calls_release_thread(thread->tp);
    trodden_crossings_release_thread(thread->tp);
    trodden_thread_remove(thread);
    /* From here on, whatever a signal handler counts would be lost: signals stay blocked until the thread has ended,
     * except for those by which the C library itself communicates with threads (32 to 34). */
    trodden_unlock(~((uint64_t)7 << 31));
}

/* Where all threads are stopped, the process is about to end, and what this one counted would come too late. */
static void lock_while_running(void) {
    trodden_lock_blocked(~(uint64_t)0);
    if (trodden_threads_are_stopped()) {
        trodden_unlock_blocked();
        trodden_wait_while_stopped();
        trodden_lock_blocked(~(uint64_t)0);
    }
}

/* The record is kept only if the end of the thread will be observed: else it would refer to freed memory. */
void trodden_thread_starts(struct trodden_thread *thread) {
    bool tracked = have_key && pthread_setspecific(key, thread) == 0;
    lock_while_running();
    thread->tid = (uint32_t)syscall(SYS_gettid);
    if (tracked) {
        __atomic_store_n(&thread->tp, trodden_thread_pointer(), __ATOMIC_RELEASE);
        trodden_shards_attach_thread(thread);
        trodden_rings_attach_thread(thread);
        trodden_trace_attach_thread(thread);
    } else {
        trodden_thread_remove(thread);
    }
    trodden_unlock_blocked();
    if (tracked)
        trodden_alternate_stack_install(thread);
}

void trodden_threads_shutdown(void) {
    if (have_key)
        pthread_key_delete(key);
    have_key = false;
}

void trodden_threads_after_fork(void) {
    struct trodden_thread *own = trodden_own_thread(), *next;
    for (struct trodden_thread *thread = trodden_process.threads; thread; thread = next) {
        next = thread->next;
        if (thread != own) {
            trodden_shards_detach_thread(thread, true);
            trodden_rings_detach_thread(thread, true);
            trodden_thread_remove(thread);
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
    trodden_fork_init();
    uint64_t mask = trodden_lock();
    struct trodden_thread *thread = trodden_thread_add();
    trodden_unlock_blocked();
    if (thread)
        trodden_thread_starts(thread);
    trodden_restore_signals(mask);
    errno = saved_errno;
}
