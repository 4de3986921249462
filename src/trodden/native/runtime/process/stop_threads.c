/* Stopping all other threads, to walk their stacks.
 *
 * Each gets a signal whose handler publishes the registers that the thread was interrupted with, and waits.  The
 * thread that asked for it then walks everybody's stack, with counters that do not change.
 *
 * The signal is one that the C library uses for itself: programs can neither block it nor wait for it, and what they
 * do with all other signals stays as it is.  What the C library sends reaches its own handler; the runtime's signals
 * carry a value that tells them apart. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "platform/kernel_action.h"
#include "platform/system.h"
#include "process/process.h"
#include "process/stop_threads.h"

enum { LINGER_INTERVALS = 40 };            /* of 50 ms each, once the process has ended */
/* Until unresponsive threads are looked at; until those that have blocked the signal are given up; at most. */
enum { PROBE_MS = 50, PATIENCE_MS = 3000, TIMEOUT_MS = 15000 };

static uint32_t stop_round;    /* odd while threads are to be stopped */
static uint32_t process_ended; /* 1: the final raw file has been written */
static struct trodden_kernel_action library_action; /* what the signal is otherwise used for */

bool trodden_threads_are_stopped(void) { return __atomic_load_n(&stop_round, __ATOMIC_ACQUIRE) & 1; }

void trodden_wait_while_stopped(void) {
    struct timespec interval = {0, 50000000};
    uint32_t current_round = __atomic_load_n(&stop_round, __ATOMIC_ACQUIRE);
    for (unsigned intervals = 0; (current_round & 1) && intervals < LINGER_INTERVALS &&
                                 __atomic_load_n(&stop_round, __ATOMIC_ACQUIRE) == current_round;
         intervals += __atomic_load_n(&process_ended, __ATOMIC_ACQUIRE))
        syscall(SYS_futex, &stop_round, FUTEX_WAIT_PRIVATE, current_round, &interval, NULL, 0);
}

static void stop_handler(int number, siginfo_t *info, void *ucontext) {
    int saved_errno = errno;
    uintptr_t tp = trodden_thread_pointer();
    if (info->si_code != SI_QUEUE || info->si_value.sival_ptr != &stop_round) {
        if (trodden_is_handler(&library_action))
            library_action.handler(number, info, ucontext);
    } else if (trodden_threads_are_stopped()) {
        /* The thread that stops this one holds the lock, so that the list does not change. */
        for (struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
            if (thread->tp == tp)
                __atomic_store_n(&thread->stopped_at, ucontext, __ATOMIC_RELEASE);
        trodden_wait_while_stopped();
    }
    errno = saved_errno;
}

/* The C library installs its own handler when it needs it first. */
static bool install_handler(void) {
    struct trodden_kernel_action now;
    if (!trodden_get_kernel_action(TRODDEN_STOP_SIGNAL, &now))
        return false;
    if (now.handler == stop_handler)
        return true;
    library_action = now;
    return trodden_set_kernel_handler(TRODDEN_STOP_SIGNAL, stop_handler, SA_RESTART | SA_ONSTACK, ~(uint64_t)0);
}

void trodden_stop_shutdown(void) {
    struct trodden_kernel_action now;
    if (trodden_get_kernel_action(TRODDEN_STOP_SIGNAL, &now) && now.handler == stop_handler)
        trodden_restore_kernel_action(TRODDEN_STOP_SIGNAL, &library_action);
}

static bool is_pending(const struct trodden_thread *thread, uintptr_t own_tp) {
    return thread->tp && thread->tp != own_tp && thread->tid && !__atomic_load_n(&thread->ending, __ATOMIC_ACQUIRE) &&
           !__atomic_load_n(&thread->stopped_at, __ATOMIC_ACQUIRE);
}

/* Has the thread exited, or does it wait for a child of vfork, or has it blocked the signal?  Then it will not respond:
 * the kernel delivers no signal to a thread that waits for such a child.  One that has blocked it may just be starting,
 * or in another part of the runtime that blocks all signals for a moment; on a busy machine, that can take long. */
static bool is_unreachable(const struct trodden_thread *thread, bool patient) {
    char text[2048];
    long got = trodden_read_task_file(thread->tid, "status", text, sizeof text - 1);
    if (got <= 0)
        return true;
    text[got] = 0;
    if (thread->vfork_return && strstr(text, "\nState:\tD"))
        return true;
    return !patient && (trodden_blocked_in_status(text) & trodden_signal_bit(TRODDEN_STOP_SIGNAL));
}

static uint32_t count_reachable(uintptr_t own_tp, bool patient) {
    uint32_t count = 0;
    for (const struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
        count += is_pending(thread, own_tp) && !is_unreachable(thread, patient);
    return count;
}

static uint32_t count_pending(uintptr_t own_tp) {
    uint32_t count = 0;
    for (const struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
        count += is_pending(thread, own_tp);
    return count;
}

/* False: too many signals are queued at this moment. */
static bool send_signal(const struct trodden_thread *thread) {
    siginfo_t info = {.si_signo = TRODDEN_STOP_SIGNAL, .si_code = SI_QUEUE};
    info.si_value.sival_ptr = &stop_round;
    return syscall(SYS_rt_tgsigqueueinfo, trodden_process.pid, thread->tid, TRODDEN_STOP_SIGNAL, &info) == 0 ||
           errno != EAGAIN;
}

static void send_to_pending(uintptr_t own_tp) {
    for (struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
        if (is_pending(thread, own_tp) && !thread->stop_sent)
            thread->stop_sent = send_signal(thread);
}

uint32_t trodden_stop_threads(void) {
    uintptr_t own_tp = trodden_thread_pointer();
    if (trodden_threads_are_stopped())
        return count_pending(own_tp);
    for (struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next) {
        thread->stopped_at = NULL;
        thread->stop_sent = false;
    }
    __atomic_fetch_add(&stop_round, 1, __ATOMIC_ACQ_REL);
    uint32_t pending = count_pending(own_tp);
    if (!pending || !install_handler())
        return pending;
    send_to_pending(own_tp);
    for (unsigned attempt = 1; (pending = count_pending(own_tp)) && attempt < TIMEOUT_MS * 20; attempt++) {
        bool patient = attempt < PATIENCE_MS * 20;
        if (attempt % (PROBE_MS * 20) == 0 && !count_reachable(own_tp, patient))
            break;
        trodden_lend_lock(50000);
        send_to_pending(own_tp);
    }
    return pending;
}

/* The process is about to end.  A thread that was asleep would wake up and run code that it would never have run, so
 * that all stay stopped.  Should the exit wait for one of them, it continues after a while. */
void trodden_keep_stopped(void) { __atomic_store_n(&process_ended, 1, __ATOMIC_RELEASE); }

void trodden_resume_threads(void) {
    if (!trodden_threads_are_stopped())
        return;
    __atomic_fetch_add(&stop_round, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, &stop_round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void trodden_stop_after_fork(void) { stop_round = process_ended = 0; }
