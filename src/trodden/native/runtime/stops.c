/* Stopping all other threads, to see where they are.
 *
 * Each gets a signal that nobody else uses.  Its handler tells which registers the thread was interrupted with, and
 * waits.  Whoever asked then looks at everybody's stack, and at counters that do not move.
 *
 * A thread that has blocked every signal is out of reach.  So that none does by blocking just everything, the functions
 * that set the mask leave this one signal out. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "internal.h"

enum { HIGHEST_SIGNAL = 58, LOWEST_SIGNAL = 40, NEARLY_ALL = 25 }; /* signals; how many real-time ones are nearly all 30 */
enum { LINGER_INTERVALS = 40 }; /* times 50 milliseconds */
enum { PROBE_MS = 50, TIMEOUT_MS = 5000 }; /* milliseconds: before one looks at those who do not answer, and at most */

static uint32_t stop_round; /* odd while threads are to stop */
static uint32_t process_ended;    /* 1: the process has had its last word */
static int stop_signal;
static uint64_t blocked_by_name; /* what the program has blocked by name: it means to wait for that */

static uint64_t bit_of(int number) { return (uint64_t)1 << (number - 1); }

void trodden_regs_from_ucontext(const void *ucontext, struct trodden_regs *regs) {
    const ucontext_t *interrupted = ucontext;
#if defined(__x86_64__)
    static const uint8_t order[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI, REG_RBP, REG_RSP,
                                    REG_R8,  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
    for (unsigned i = 0; i < sizeof order; i++)
        regs->r[i] = (uint64_t)interrupted->uc_mcontext.gregs[order[i]];
    regs->known = 0xffff;
    regs->pc = (uint64_t)interrupted->uc_mcontext.gregs[REG_RIP];
#else
    for (unsigned i = 0; i < 31; i++)
        regs->r[i] = interrupted->uc_mcontext.regs[i];
    regs->r[31] = interrupted->uc_mcontext.sp;
    regs->known = 0xffffffffu;
    regs->pc = interrupted->uc_mcontext.pc;
#endif
}

static void stop_handler(int number, siginfo_t *info, void *ucontext) {
    (void)number, (void)info;
    int saved_errno = errno;
    uint32_t current_round = __atomic_load_n(&stop_round, __ATOMIC_ACQUIRE);
    uintptr_t tp = trodden_thread_pointer();
    if (current_round & 1) {
        /* Who stops us holds the lock, so the list stays as it is. */
        for (struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
            if (thread->tp == tp)
                __atomic_store_n(&thread->stopped_at, ucontext, __ATOMIC_RELEASE);
        struct timespec interval = {0, 50000000};
        for (unsigned intervals = 0; __atomic_load_n(&stop_round, __ATOMIC_ACQUIRE) == current_round && intervals < LINGER_INTERVALS;
             intervals += __atomic_load_n(&process_ended, __ATOMIC_ACQUIRE))
            syscall(SYS_futex, &stop_round, FUTEX_WAIT_PRIVATE, current_round, &interval, NULL, 0);
    }
    errno = saved_errno;
}

/* One that has no handler; it stays ours, as it may still be under way to somebody who has blocked it. */
static int choose_signal(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, now;
    action.sa_sigaction = stop_handler;
    sigfillset(&action.sa_mask);
    for (int number = HIGHEST_SIGNAL; number >= LOWEST_SIGNAL; number--) {
        if ((blocked_by_name & bit_of(number)) || trodden_real_sigaction(number, NULL, &now) != 0)
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

/* Does the thread block the signal, or is it gone?  Then it will not answer. */
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
    return mask & bit_of(stop_signal);
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

/* The caller holds the lock.  Answers how many could not be stopped. */
uint32_t trodden_stop_threads(void) {
    uintptr_t own_tp = trodden_thread_pointer();
    for (struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
        thread->stopped_at = NULL;
    if (!count_pending(own_tp))
        return 0;
    stop_signal = choose_signal();
    if (!stop_signal)
        return count_pending(own_tp);
    __atomic_fetch_add(&stop_round, 1, __ATOMIC_ACQ_REL);
    for (const struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
        if (is_pending(thread, own_tp))
            syscall(SYS_tgkill, trodden_process.pid, thread->tid, stop_signal);
    uint32_t pending;
    for (unsigned attempt = 1; (pending = count_pending(own_tp)) && attempt < TIMEOUT_MS * 20; attempt++) {
        if (attempt % (PROBE_MS * 20) == 0 && !count_reachable(own_tp))
            break;
        trodden_sleep(50000);
    }
    return pending;
}

/* The process is about to end.  Whoever slept would wake up and go on, in code that was never to run; so they stay
 * where they are.  Should the end wait for one of them, it goes on after all, a while later. */
void trodden_keep_stopped(void) { __atomic_store_n(&process_ended, 1, __ATOMIC_RELEASE); }

void trodden_resume_threads(void) {
    if (!(stop_round & 1))
        return;
    __atomic_fetch_add(&stop_round, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, &stop_round, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void trodden_stop_after_fork(void) { stop_round = process_ended = 0; }

/* ---- masks ---- */
/* Who blocks (nearly) everything does not mean our signal. */
static void exclude_stop_signal(int how, uint64_t *mask) {
    uint64_t stop_bit = bit_of(stop_signal ? stop_signal : HIGHEST_SIGNAL);
    if (how == SIG_UNBLOCK || !(*mask & stop_bit))
        return;
    if (__builtin_popcountll(*mask >> 34) >= NEARLY_ALL)
        *mask &= ~stop_bit;
    else
        __atomic_fetch_or(&blocked_by_name, stop_bit, __ATOMIC_RELAXED);
}

static int set_mask(int how, const sigset_t *set, sigset_t *previous) {
    uint64_t mask = 0, *new_mask = NULL;
    if (set) {
        memcpy(&mask, set, sizeof mask);
        /* 32 to 34 belong to the C library, which leaves them out in the same way. */
        mask &= ~(bit_of(32) | bit_of(33));
#ifndef __GLIBC__
        mask &= ~bit_of(34);
#endif
        exclude_stop_signal(how, &mask);
        new_mask = &mask;
    }
    uint64_t old_mask = 0;
    if (syscall(SYS_rt_sigprocmask, how, new_mask, &old_mask, sizeof old_mask) != 0)
        return errno;
    if (previous) {
        memset(previous, 0, sizeof *previous);
        memcpy(previous, &old_mask, sizeof old_mask);
    }
    return 0;
}

EXPORTED int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict previous) {
    int saved_errno = errno, error = set_mask(how, set, previous);
    errno = saved_errno;
    return error;
}

EXPORTED int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict previous) {
    int error = set_mask(how, set, previous);
    if (error)
        errno = error;
    return error ? -1 : 0;
}
