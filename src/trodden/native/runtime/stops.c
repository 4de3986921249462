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

enum { HIGHEST = 58, LOWEST = 40, MOST_OF_THEM = 25 }; /* signals; how many real-time ones are nearly all 30 */
enum { LINGER = 40 }; /* times 50 milliseconds */
enum { LOOK = 50, PATIENCE = 5000 }; /* milliseconds: before one looks at those who do not answer, and at most */

static uint32_t stopping; /* odd while threads are to stop */
static uint32_t ended;    /* 1: the process has had its last word */
static int chosen;
static uint64_t named; /* what the program has blocked by name: it means to wait for that */

static uint64_t bit_of(int number) { return (uint64_t)1 << (number - 1); }

void trodden_regs_from(const void *context, struct trodden_regs *regs) {
    const ucontext_t *interrupted = context;
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

static void stop_here(int number, siginfo_t *info, void *context) {
    (void)number, (void)info;
    int saved = errno;
    uint32_t round = __atomic_load_n(&stopping, __ATOMIC_ACQUIRE);
    uintptr_t tp = trodden_thread_pointer();
    if (round & 1) {
        /* Who stops us holds the lock, so the list stays as it is. */
        for (struct trodden_thread *thread = trodden_lead.threads; thread; thread = thread->next)
            if (thread->tp == tp)
                __atomic_store_n(&thread->stopped, context, __ATOMIC_RELEASE);
        struct timespec moment = {0, 50000000};
        for (unsigned waited = 0; __atomic_load_n(&stopping, __ATOMIC_ACQUIRE) == round && waited < LINGER;
             waited += __atomic_load_n(&ended, __ATOMIC_ACQUIRE))
            syscall(SYS_futex, &stopping, FUTEX_WAIT_PRIVATE, round, &moment, NULL, 0);
    }
    errno = saved;
}

/* One that has no handler; it stays ours, as it may still be under way to somebody who has blocked it. */
static int choose_signal(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK}, now;
    action.sa_sigaction = stop_here;
    sigfillset(&action.sa_mask);
    for (int number = HIGHEST; number >= LOWEST; number--) {
        if ((named & bit_of(number)) || trodden_set_action(number, NULL, &now) != 0)
            continue;
        bool mine = (now.sa_flags & SA_SIGINFO) && now.sa_sigaction == stop_here;
        if (mine || (!(now.sa_flags & SA_SIGINFO) && now.sa_handler == SIG_DFL &&
                     trodden_set_action(number, &action, NULL) == 0))
            return number;
    }
    return 0;
}

static bool is_waited_for(const struct trodden_thread *thread, uintptr_t own) {
    return thread->tp && thread->tp != own && thread->tid && !__atomic_load_n(&thread->ending, __ATOMIC_ACQUIRE) &&
           !__atomic_load_n(&thread->stopped, __ATOMIC_ACQUIRE);
}

/* Does the thread block the signal, or is it gone?  Then it will not answer. */
static bool is_out_of_reach(const struct trodden_thread *thread) {
    char text[2048];
    uint64_t mask = 0;
    long got = trodden_task_file(thread->tid, "status", text, sizeof text - 1);
    if (got <= 0)
        return true;
    text[got] = 0;
    const char *at = strstr(text, "\nSigBlk:\t");
    for (at = at ? at + 9 : ""; *at && *at != '\n'; at++)
        mask = mask << 4 | (uint64_t)(*at <= '9' ? *at - '0' : (*at | 32) - 'a' + 10);
    return mask & bit_of(chosen);
}

static uint32_t within_reach(uintptr_t own) {
    uint32_t count = 0;
    for (const struct trodden_thread *thread = trodden_lead.threads; thread; thread = thread->next)
        count += is_waited_for(thread, own) && !is_out_of_reach(thread);
    return count;
}

static uint32_t missing(uintptr_t own) {
    uint32_t count = 0;
    for (const struct trodden_thread *thread = trodden_lead.threads; thread; thread = thread->next)
        count += is_waited_for(thread, own);
    return count;
}

/* The caller holds the lock.  Answers how many could not be stopped. */
uint32_t trodden_stop_others(void) {
    uintptr_t own = trodden_thread_pointer();
    for (struct trodden_thread *thread = trodden_lead.threads; thread; thread = thread->next)
        thread->stopped = NULL;
    if (!missing(own))
        return 0;
    chosen = choose_signal();
    if (!chosen)
        return missing(own);
    __atomic_fetch_add(&stopping, 1, __ATOMIC_ACQ_REL);
    for (const struct trodden_thread *thread = trodden_lead.threads; thread; thread = thread->next)
        if (is_waited_for(thread, own))
            syscall(SYS_tgkill, trodden_lead.pid, thread->tid, chosen);
    uint32_t left;
    for (unsigned tries = 1; (left = missing(own)) && tries < PATIENCE * 20; tries++) {
        if (tries % (LOOK * 20) == 0 && !within_reach(own))
            break;
        trodden_sleep(50000);
    }
    return left;
}

/* The process is about to end.  Whoever slept would wake up and go on, in code that was never to run; so they stay
 * where they are.  Should the end wait for one of them, it goes on after all, a while later. */
void trodden_leave_stopped(void) { __atomic_store_n(&ended, 1, __ATOMIC_RELEASE); }

void trodden_release_others(void) {
    if (!(stopping & 1))
        return;
    __atomic_fetch_add(&stopping, 1, __ATOMIC_ACQ_REL);
    syscall(SYS_futex, &stopping, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

void trodden_stops_forked(void) { stopping = ended = 0; }

/* ---- masks ---- */
/* Who blocks (nearly) everything does not mean our signal. */
static void leave_out(int how, uint64_t *wanted) {
    uint64_t ours = bit_of(chosen ? chosen : HIGHEST);
    if (how == SIG_UNBLOCK || !(*wanted & ours))
        return;
    if (__builtin_popcountll(*wanted >> 34) >= MOST_OF_THEM)
        *wanted &= ~ours;
    else
        __atomic_fetch_or(&named, ours, __ATOMIC_RELAXED);
}

static int set_mask(int how, const sigset_t *set, sigset_t *former) {
    uint64_t wanted = 0, *given = NULL;
    if (set) {
        memcpy(&wanted, set, sizeof wanted);
        /* 32 to 34 belong to the C library, which leaves them out in the same way. */
        wanted &= ~(bit_of(32) | bit_of(33));
#ifndef __GLIBC__
        wanted &= ~bit_of(34);
#endif
        leave_out(how, &wanted);
        given = &wanted;
    }
    uint64_t was = 0;
    if (syscall(SYS_rt_sigprocmask, how, given, &was, sizeof was) != 0)
        return errno;
    if (former) {
        memset(former, 0, sizeof *former);
        memcpy(former, &was, sizeof was);
    }
    return 0;
}

EXPORTED int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict former) {
    int saved = errno, error = set_mask(how, set, former);
    errno = saved;
    return error;
}

EXPORTED int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict former) {
    int error = set_mask(how, set, former);
    if (error)
        errno = error;
    return error ? -1 : 0;
}
