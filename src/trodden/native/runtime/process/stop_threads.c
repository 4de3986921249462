/* Stopping all other threads, to walk their stacks.
 *
 * Each gets a signal that nothing else uses.  Its handler publishes the registers that the thread was interrupted
 * with, and waits.  The thread that asked for it then walks everybody's stack, with counters that do not change.
 *
 * A thread that has blocked every signal cannot be stopped.  Therefore the functions that set the signal mask leave
 * this one signal out of a mask that blocks (nearly) all of them (interpose/sigmask.c). */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "platform/system.h"
#include "process/process.h"
#include "process/stop_threads.h"

enum { LINGER_INTERVALS = 40 };            /* of 50 ms each, once the process has ended */
enum { PROBE_MS = 50, TIMEOUT_MS = 5000 }; /* until unresponsive threads are looked at; at most */

struct trodden_stop_signal trodden_stop_signal;

static uint32_t stop_round;    /* odd while threads are to be stopped */
static uint32_t process_ended; /* 1: the final raw file has been written */

static void stop_handler(int number, siginfo_t *info, void *ucontext) {
    (void)number, (void)info;
    int saved_errno = errno;
    uint32_t current_round = __atomic_load_n(&stop_round, __ATOMIC_ACQUIRE);
    uintptr_t tp = trodden_thread_pointer();
    if (current_round & 1) {
        /* The thread that stops this one holds the lock, so that the list does not change. */
        for (struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
            if (thread->tp == tp)
                __atomic_store_n(&thread->stopped_at, ucontext, __ATOMIC_RELEASE);
        struct timespec interval = {0, 50000000};
        for (unsigned intervals = 0;
             __atomic_load_n(&stop_round, __ATOMIC_ACQUIRE) == current_round && intervals < LINGER_INTERVALS;
             intervals += __atomic_load_n(&process_ended, __ATOMIC_ACQUIRE))
            syscall(SYS_futex, &stop_round, FUTEX_WAIT_PRIVATE, current_round, &interval, NULL, 0);
    }
    errno = saved_errno;
}

/* A signal without a handler.  The runtime keeps it, as it may still be pending for a thread that has blocked it. */
static int choose_signal(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, now;
    action.sa_sigaction = stop_handler;
    sigfillset(&action.sa_mask);
    for (int number = TRODDEN_HIGHEST_STOP_SIGNAL; number >= TRODDEN_LOWEST_STOP_SIGNAL; number--) {
        if ((trodden_stop_signal.blocked_by_name & trodden_signal_bit(number)) ||
            trodden_real_sigaction(number, NULL, &now) != 0)
            continue;
        bool ours = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == stop_handler;
        if (ours || (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL &&
                     trodden_real_sigaction(number, &action, NULL) == 0))
            return number;
    }
    return 0;
}

static bool is_pending(const struct trodden_thread *thread, uintptr_t own_tp) {
    return thread->tp && thread->tp != own_tp && thread->tid && !__atomic_load_n(&thread->ending, __ATOMIC_ACQUIRE) &&
           !__atomic_load_n(&thread->stopped_at, __ATOMIC_ACQUIRE);
}

/* Has the thread blocked the signal, or exited? Then it will not respond. */
static bool is_unreachable(const struct trodden_thread *thread) {
    char text[2048];
    uint64_t mask = 0;
    long got = trodden_read_task_file(thread->tid, "status", text, sizeof text - 1);
    if (got <= 0)
        return true;
    text[got] = 0;
    const char *at = strstr(text, "\nSigBlk:\t");
    for (at = at ? at + 9 : ""; *at && *at != '\n'; at++)
        mask = mask << 4 | (uint64_t)(*at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10);
    return mask & trodden_signal_bit(trodden_stop_signal.number);
}

static uint32_t count_reachable(uintptr_t own_tp) {
    uint32_t count = 0;
    for (const struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
        count += is_pending(thread, own_tp) && !is_unreachable(thread);
    return count;
}

static uint32_t count_pending(uintptr_t own_tp) {
    uint32_t count = 0;
    for (const struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
        count += is_pending(thread, own_tp);
    return count;
}

uint32_t trodden_stop_threads(void) {
    uintptr_t own_tp = trodden_thread_pointer();
    for (struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
        thread->stopped_at = NULL;
    if (!count_pending(own_tp))
        return 0;
    trodden_stop_signal.number = choose_signal();
    if (!trodden_stop_signal.number)
        return count_pending(own_tp);
    __atomic_fetch_add(&stop_round, 1, __ATOMIC_ACQ_REL);
    for (const struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
        if (is_pending(thread, own_tp))
            syscall(SYS_tgkill, trodden_process.pid, thread->tid, trodden_stop_signal.number);
    uint32_t pending;
    for (unsigned attempt = 1; (pending = count_pending(own_tp)) && attempt < TIMEOUT_MS * 20; attempt++) {
        if (attempt % (PROBE_MS * 20) == 0 && !count_reachable(own_tp))
            break;
        trodden_sleep(50000);
    }
    return pending;
}

/* The process is about to end.  A thread that was asleep would wake up and run code that it would never have run, so
 * that all stay stopped.  Should the exit wait for one of them, it continues after a while. */
void trodden_keep_stopped(void) { __atomic_store_n(&process_ended, 1, __ATOMIC_RELEASE); }

void trodden_resume_threads(void) {
    if (!(stop_round & 1))
        return;
    __atomic_fetch_add(&stop_round, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, &stop_round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void trodden_stop_after_fork(void) { stop_round = process_ended = 0; }
