/* Signals that the program does not handle, and that end it.
 *
 * What has been counted survives by itself (live.c).  But every active function is then in the middle of a block, and
 * only somebody who looks at the stacks before they are gone can tell which (deaths.c).  So those signals that would
 * end the process get a handler of ours.  Nobody may notice: who asks for such a signal's handler is told that it
 * has none, the process ends by the same signal, and a program that takes a signal over has it for itself.
 *
 * The real sigaction is found as the next of that name in lookup order, in a static program under the name
 * __sigaction, which the link line has to ask for. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "internal.h"

#pragma weak dlsym

typedef int action_function(int, const struct sigaction *, struct sigaction *);
extern action_function __sigaction __attribute__((weak));

static const uint8_t fatal[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGTRAP,   SIGABRT, SIGBUS,    SIGFPE,
                                SIGUSR1, SIGSEGV, SIGUSR2, SIGPIPE, SIGALRM,   SIGTERM, SIGSTKFLT, SIGXCPU,
                                SIGXFSZ, SIGPROF, SIGIO,   SIGPWR,  SIGVTALRM, SIGSYS};

static action_function *real_action(void) {
    static action_function *found;
    action_function *action = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (action)
        return action;
    if (__sigaction)
        action = __sigaction;
    else if (dlsym)
        *(void **)&action = dlsym(RTLD_NEXT, "sigaction");
    __atomic_store_n(&found, action, __ATOMIC_RELAXED);
    return action;
}

static bool is_fatal(int number) { return memchr(fatal, number, sizeof fatal) != NULL; }

static bool is_ours(const struct sigaction *action) {
    return (action->sa_flags & SA_SIGINFO) && action->sa_sigaction == trodden_dies;
}

enum { RESTORER = 0x04000000 }; /* the C library's own, where it needs one */

/* What else the program has set beside SIG_DFL, by signal. */
static struct {
    int flags;
    sigset_t mask;
} beside[NSIG];

static void remember(int number, const struct sigaction *action) {
    beside[number].flags = action->sa_flags | RESTORER;
    beside[number].mask = action->sa_mask;
}

static struct sigaction ours(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
    action.sa_sigaction = trodden_dies;
    sigfillset(&action.sa_mask);
    return action;
}

int trodden_set_action(int number, const struct sigaction *action, struct sigaction *former) {
    action_function *real = real_action();
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    return real(number, action, former);
}

void trodden_signals_begin(void) {
    struct sigaction watch = ours(), now;
    for (size_t i = 0; i < sizeof fatal; i++)
        if (trodden_set_action(fatal[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            trodden_set_action(fatal[i], &watch, NULL);
}

/* The code is about to disappear: nothing may call it. */
void trodden_signals_end(void) {
    struct sigaction none = {.sa_flags = 0}, now;
    none.sa_handler = SIG_DFL;
    for (size_t i = 0; i < sizeof fatal; i++)
        if (trodden_set_action(fatal[i], NULL, &now) == 0 && is_ours(&now))
            trodden_set_action(fatal[i], &none, NULL);
}

/* ---- what the program sees ---- */
static int set_action(int number, const struct sigaction *action, struct sigaction *former) {
    struct sigaction watch, seen, given;
    if (!trodden_leading())
        return trodden_set_action(number, action, former);
    bool none = action && is_fatal(number) && action->sa_handler == SIG_DFL;
    if (none) {
        watch = ours();
        given = *action; /* which may be what is answered into */
        action = &watch;
    }
    int result = trodden_set_action(number, action, &seen);
    if (result == 0 && former) {
        *former = seen;
        if (is_ours(&seen)) {
            memset(former, 0, sizeof *former);
            former->sa_handler = SIG_DFL;
            former->sa_flags = beside[number].flags & (seen.sa_flags | ~RESTORER);
            former->sa_mask = beside[number].mask;
        }
    }
    if (result == 0 && none)
        remember(number, &given);
    return result;
}

EXPORTED int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict former) {
    return set_action(number, action, former);
}

EXPORTED void (*signal(int number, void (*handler)(int)))(int) {
    struct sigaction action = {.sa_flags = SA_RESTART}, former;
    action.sa_handler = handler;
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, number);
    return set_action(number, &action, &former) == 0 ? former.sa_handler : SIG_ERR;
}

/* ---- a stack to run on when there is none left ---- */
enum { ALTERNATE = 64 << 10 };

void trodden_stack_begin(struct trodden_thread *thread) {
    stack_t now;
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return;
    if (!thread->alternate)
        thread->alternate = trodden_map(ALTERNATE);
    stack_t own = {.ss_sp = thread->alternate, .ss_size = ALTERNATE};
    if (thread->alternate)
        sigaltstack(&own, NULL);
}

void trodden_stack_end(struct trodden_thread *thread) {
    stack_t now, none = {.ss_flags = SS_DISABLE};
    if (thread->alternate && sigaltstack(NULL, &now) == 0 && now.ss_sp == thread->alternate)
        sigaltstack(&none, NULL);
}
