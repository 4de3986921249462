/* Interposers of sigaction, signal and siginterrupt: signals that would kill the process.
 *
 * What has been counted survives by itself (counters/live_file.c).  But every active function is then in the middle
 * of a block, and which one can only be told by walking the stacks while they exist (process/fatal_signal.c).
 * Therefore signals that would kill the process get a handler.  The program does not notice: when it asks for the
 * handler of such a signal, it is told SIG_DFL; the process is killed by the same signal; and a program that installs
 * a handler of its own has the signal for itself.  Its handlers are called through a gate (handler_gate.c), and the
 * kernel is told a little less than the program has asked for; the program sees what it has asked for.
 *
 * The real sigaction is found as the next of that name in lookup order; in a static program under the name
 * __sigaction, which the link line has to request. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "counters/tls_padding.h"
#include "interpose/handler_gate.h"
#include "interpose/interpose.h"
#include "interpose/next_function.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/fatal_signal.h"
#include "process/process.h"

typedef int action_function(int, const struct sigaction *, struct sigaction *);
extern action_function __sigaction __attribute__((weak));
TRODDEN_INTERCEPTOR(action_function, sigaction);

#define BIT(number) ((uint64_t)1 << ((number)-1))

#ifdef __GLIBC__
enum { FIRST_REALTIME = 34 }; /* those before belong to the C library */
#else
enum { FIRST_REALTIME = 35 };
#endif

/* Signals whose default action kills the process. */
static const uint64_t fatal =
    ~(uint64_t)0 << (FIRST_REALTIME - 1) | BIT(SIGHUP) | BIT(SIGINT) | BIT(SIGQUIT) | BIT(SIGILL) | BIT(SIGTRAP) |
    BIT(SIGABRT) | BIT(SIGBUS) | BIT(SIGFPE) | BIT(SIGUSR1) | BIT(SIGSEGV) | BIT(SIGUSR2) | BIT(SIGPIPE) |
    BIT(SIGALRM) | BIT(SIGTERM) | BIT(SIGSTKFLT) | BIT(SIGXCPU) | BIT(SIGXFSZ) | BIT(SIGPROF) | BIT(SIGIO) |
    BIT(SIGPWR) | BIT(SIGVTALRM) | BIT(SIGSYS);

static action_function *real_action(void) {
    static action_function *found;
    action_function *action = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (action)
        return action;
    if (__sigaction)
        action = __sigaction;
    else
        *(void **)&action = TRODDEN_NEXT(sigaction);
    __atomic_store_n(&found, action, __ATOMIC_RELAXED);
    return action;
}

static bool is_fatal(int number) { return fatal & trodden_signal_bit(number); }

static bool is_watch(const struct sigaction *action) { return action->sa_sigaction == trodden_fatal_signal; }

static bool is_gate(const struct sigaction *action) { return action->sa_sigaction == trodden_call_program; }

static bool is_default(const struct sigaction *action) { return action->sa_handler == SIG_DFL || is_watch(action); }

static bool is_handler(const struct sigaction *action) {
    return !is_default(action) && action->sa_handler != SIG_IGN;
}

enum { SA_RESTORER_FLAG = 0x04000000 }; /* SA_RESTORER, which the C library sets by itself */

/* What the program has set beside SIG_DFL, by signal. */
static struct {
    int flags;
    sigset_t mask;
} default_settings[NSIG];

static void remember_settings(int number, const struct sigaction *action) {
    default_settings[number].flags = action->sa_flags | SA_RESTORER_FLAG;
    default_settings[number].mask = action->sa_mask;
}

/* Where the signal does not kill the process, because the program has blocked it, a system call continues. */
static struct sigaction watch_action(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    action.sa_sigaction = trodden_fatal_signal;
    sigfillset(&action.sa_mask);
    return action;
}

int trodden_real_sigaction(int number, const struct sigaction *action, struct sigaction *previous) {
    action_function *real = real_action();
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    return real(number, action, previous);
}

/* Signals are blocked meanwhile: one that is ignored must not find the handler in the moment until it is taken
 * back. */
void trodden_signals_init(void) {
    struct sigaction watch = watch_action(), before;
    uint64_t mask = trodden_block_signals();
    /* The first process of a container is not killed by signals that it has no handler for, except for its own
     * faults. */
    uint64_t watched = trodden_pid() == 1 ? TRODDEN_FAULTS : fatal;
    for (int number = 1; number < NSIG; number++)
        if ((watched & trodden_signal_bit(number)) && trodden_real_sigaction(number, &watch, &before) == 0 &&
            before.sa_handler != SIG_DFL)
            trodden_real_sigaction(number, &before, NULL);
    trodden_restore_signals(mask);
}

/* This code may be about to be unloaded, unless it belongs to the executable: nothing may call it. */
void trodden_signals_shutdown(void) {
    struct sigaction default_action = {.sa_flags = 0}, program, now;
    default_action.sa_handler = SIG_DFL;
    for (int number = 1; number < NSIG && !trodden_own_padding; number++)
        if (trodden_real_sigaction(number, NULL, &now) == 0 && (is_watch(&now) || is_gate(&now))) {
            trodden_program_action(number, &program);
            trodden_real_sigaction(number, is_gate(&now) ? &program : &default_action, NULL);
        }
}

/* ---- what the program sees, and what the kernel is told ---- */
static bool program_has_stacks;
static uint64_t interrupting_signals; /* by bit: signals that siginterrupt was called for */

/* The runtime's alternate stack is small.  Therefore a handler with SA_ONSTACK runs on the thread's own stack until
 * the program has installed an alternate stack; the flag is withheld from the kernel. */
static bool withholds_stack(const struct sigaction *action) {
    return (action->sa_flags & SA_ONSTACK) && !program_has_stacks;
}

static void remove_signals(sigset_t *set, uint64_t signals) {
    uint64_t mask;
    memcpy(&mask, set, sizeof mask);
    mask &= ~signals;
    memcpy(set, &mask, sizeof mask);
}

/* The gate does what is left out here: it resets a handler that is to be called once, and it remembers which signals
 * of faults are blocked (sigmask.c). */
static struct sigaction through_gate(int number, const struct sigaction *requested) {
    struct sigaction given = *requested;
    given.sa_sigaction = trodden_call_program;
    given.sa_flags = (requested->sa_flags & ~(int)SA_RESETHAND) | SA_SIGINFO;
    if (TRODDEN_FAULTS & trodden_signal_bit(number))
        given.sa_flags |= SA_NODEFER;
    if (withholds_stack(requested))
        given.sa_flags &= ~SA_ONSTACK;
    remove_signals(&given.sa_mask, TRODDEN_FAULTS);
    return given;
}

static void report_action(int number, const struct sigaction *current, const struct sigaction *program,
                          struct sigaction *previous) {
    *previous = *current;
    if (is_gate(current)) {
        previous->sa_sigaction = program->sa_sigaction;
        previous->sa_flags = program->sa_flags | (current->sa_flags & SA_RESTORER_FLAG);
        previous->sa_mask = program->sa_mask;
    } else if (is_watch(current)) {
        memset(previous, 0, sizeof *previous);
        previous->sa_handler = SIG_DFL;
        previous->sa_flags = default_settings[number].flags & (current->sa_flags | ~SA_RESTORER_FLAG);
        previous->sa_mask = default_settings[number].mask;
    }
}

/* The program may have got the runtime's handlers from a function of the C library that calls the real sigaction; to
 * it, they are what they stand for.  A child of vfork has actions of its own, but the memory of its parent: what it
 * sets is not remembered. */
static int change_action(int number, struct sigaction requested, struct sigaction *current) {
    struct sigaction program, given;
    bool shares_memory = trodden_pid() != trodden_process.pid;
    trodden_program_action(number, &program);
    if (is_gate(&requested))
        requested = program;
    remove_signals(&requested.sa_mask, BIT(SIGKILL) | BIT(SIGSTOP)); /* as the kernel does */
    given = requested;
    if (is_default(&requested) && is_fatal(number))
        given = watch_action();
    else if (is_handler(&requested) && !shares_memory) {
        given = through_gate(number, &requested);
        trodden_set_program_action(number, &requested);
    }
    int result = trodden_real_sigaction(number, &given, current);
    if (result != 0 && is_handler(&requested) && !shares_memory)
        trodden_set_program_action(number, &program);
    if (result == 0 && is_default(&requested) && !shares_memory)
        remember_settings(number, &requested);
    return result;
}

static int set_action(int number, const struct sigaction *action, struct sigaction *previous) {
    struct sigaction current, program;
    if (!trodden_is_leader() || number <= 0 || number >= NSIG)
        return trodden_real_sigaction(number, action, previous);
    uint64_t mask = trodden_lock();
    trodden_program_action(number, &program);
    int result = action ? change_action(number, *action, &current) : trodden_real_sigaction(number, NULL, &current);
    /* `action` may be the same object as `previous`. */
    if (result == 0 && previous)
        report_action(number, &current, &program, previous);
    trodden_unlock(mask);
    return result;
}

/* A handler that is to be called once is about to be called. */
void trodden_reset_action(int number, const struct sigaction *program) {
    struct sigaction given = watch_action();
    if (!is_fatal(number)) {
        given = *program;
        given.sa_handler = SIG_DFL;
    }
    remember_settings(number, program);
    trodden_real_sigaction(number, &given, NULL);
}

/* From now on handlers that ask for the alternate stack get it. */
void trodden_program_has_stacks(void) {
    struct sigaction program, now;
    if (program_has_stacks)
        return;
    program_has_stacks = true;
    for (int number = 1; number < NSIG; number++) {
        trodden_program_action(number, &program);
        if ((program.sa_flags & SA_ONSTACK) && trodden_real_sigaction(number, NULL, &now) == 0 && is_gate(&now)) {
            now.sa_flags |= SA_ONSTACK;
            trodden_real_sigaction(number, &now, NULL);
        }
    }
}

EXPORTED int sigaction(int number, const struct sigaction *restrict action, struct sigaction *restrict previous) {
    return set_action(number, action, previous);
}

typedef void handler_function(int);

static handler_function *set_handler(int number, handler_function *handler, int flags) {
    struct sigaction action = {.sa_flags = flags}, previous;
    action.sa_handler = handler;
    if (handler == SIG_ERR || number <= 0 || number >= NSIG) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&action.sa_mask);
    if (!(flags & SA_NODEFER))
        sigaddset(&action.sa_mask, number);
    return set_action(number, &action, &previous) == 0 ? previous.sa_handler : SIG_ERR;
}

EXPORTED handler_function *signal(int number, handler_function *handler) {
    bool restart = number <= 0 || number > 64 || !(interrupting_signals >> (number - 1) & 1);
    return set_handler(number, handler, restart ? SA_RESTART : 0);
}

EXPORTED handler_function *bsd_signal(int number, handler_function *handler) __attribute__((alias("signal")));
EXPORTED handler_function *ssignal(int number, handler_function *handler) __attribute__((alias("signal")));

/* The headers rename signal to this in programs that ask for strict standard C. */
EXPORTED handler_function *__sysv_signal(int number, handler_function *handler) {
    return set_handler(number, handler, (int)SA_RESETHAND | SA_NODEFER);
}

EXPORTED handler_function *sysv_signal(int number, handler_function *handler) __attribute__((alias("__sysv_signal")));

EXPORTED int siginterrupt(int number, int interrupt) {
    struct sigaction action;
    if (set_action(number, NULL, &action) != 0)
        return -1;
    uint64_t bit = (uint64_t)1 << (number - 1);
    interrupting_signals = interrupt ? interrupting_signals | bit : interrupting_signals & ~bit;
    action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    return set_action(number, &action, NULL);
}
