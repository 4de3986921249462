/* Interposers of sigaction, signal and sigaltstack: signals that would kill the process.
 *
 * What has been counted survives by itself (counters/live_file.c).  But every active function is then in the middle
 * of a block, and which one can only be told by walking the stacks while they exist (process/fatal_signal.c).
 * Therefore signals that would kill the process get a handler.  The program does not notice: when it asks for the
 * handler of such a signal, it is told SIG_DFL; the process is killed by the same signal; and a program that installs
 * a handler of its own has the signal for itself.
 *
 * The real sigaction is found as the next of that name in lookup order; in a static program under the name
 * __sigaction, which the link line has to request. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/interpose.h"
#include "interpose/next_function.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/fatal_signal.h"
#include "process/process.h"

typedef int action_function(int, const struct sigaction *, struct sigaction *);
extern action_function __sigaction __attribute__((weak));
TRODDEN_INTERCEPTOR(action_function, sigaction);

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
    else
        *(void **)&action = TRODDEN_NEXT(sigaction);
    __atomic_store_n(&found, action, __ATOMIC_RELAXED);
    return action;
}

static bool is_fatal(int number) { return memchr(fatal, number, sizeof fatal) != NULL; }

static bool is_watch(const struct sigaction *action) { return action->sa_sigaction == trodden_fatal_signal; }

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

static struct sigaction watch_action(void) {
    struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};
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

void trodden_signals_init(void) {
    struct sigaction watch = watch_action(), now;
    /* The first process of a container is not killed by signals that it has no handler for, except for its own
     * faults. */
    bool first = trodden_pid() == 1;
    for (size_t i = 0; i < sizeof fatal; i++) {
        bool fault = fatal[i] == SIGSEGV || fatal[i] == SIGBUS || fatal[i] == SIGFPE || fatal[i] == SIGILL;
        if ((fault || !first) && trodden_real_sigaction(fatal[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            trodden_real_sigaction(fatal[i], &watch, NULL);
    }
}

/* This code is about to be unloaded: nothing may call it. */
void trodden_signals_shutdown(void) {
    struct sigaction default_action = {.sa_flags = 0}, now;
    default_action.sa_handler = SIG_DFL;
    for (size_t i = 0; i < sizeof fatal; i++)
        if (trodden_real_sigaction(fatal[i], NULL, &now) == 0 && is_watch(&now))
            trodden_real_sigaction(fatal[i], &default_action, NULL);
}

/* ---- what the program sees ---- */

/* The runtime's alternate stack is small.  Therefore a handler with SA_ONSTACK runs on the thread's own stack until
 * the program has installed an alternate stack; the flag is withheld from the kernel. */
static bool program_has_stacks, onstack_withheld[NSIG];
static uint64_t interrupting_signals; /* by bit: signals that siginterrupt was called for */

static int set_action(int number, const struct sigaction *action, struct sigaction *previous) {
    struct sigaction watch, current, requested;
    if (!trodden_is_leader())
        return trodden_real_sigaction(number, action, previous);
    /* The program may have got the runtime's handler from a function of the C library that calls the real
     * sigaction. */
    bool is_default = action && is_fatal(number) && (action->sa_handler == SIG_DFL || is_watch(action));
    if (is_default) {
        watch = watch_action();
        requested = *action; /* `action` may be the same object as `previous` */
        action = &watch;
    }
    struct sigaction without_onstack;
    bool withheld = !is_default && action && (action->sa_flags & SA_ONSTACK) && !program_has_stacks;
    if (withheld) {
        without_onstack = *action;
        without_onstack.sa_flags &= ~SA_ONSTACK;
        action = &without_onstack;
    }
    bool was_withheld = number > 0 && number < NSIG && onstack_withheld[number];
    int result = trodden_real_sigaction(number, action, &current);
    if (result == 0 && action)
        onstack_withheld[number] = withheld;
    if (result == 0 && previous) {
        *previous = current;
        if (was_withheld)
            previous->sa_flags |= SA_ONSTACK;
        if (is_watch(&current)) {
            memset(previous, 0, sizeof *previous);
            previous->sa_handler = SIG_DFL;
            previous->sa_flags = default_settings[number].flags & (current.sa_flags | ~SA_RESTORER_FLAG);
            previous->sa_mask = default_settings[number].mask;
        }
    }
    if (result == 0 && is_default)
        remember_settings(number, &requested);
    return result;
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

/* ---- the alternate stack, for a stack overflow ---- */
enum { ALTERNATE_STACK_BYTES = 64 << 10 };

static int real_sigaltstack(const stack_t *stack, stack_t *previous) {
    return (int)syscall(SYS_sigaltstack, stack, previous);
}

/* With a guard page below. */
static void *map_stack(void) {
    size_t guard = trodden_page_size();
    uint8_t *memory = trodden_map(guard + ALTERNATE_STACK_BYTES);
    if (memory)
        mprotect(memory, guard, PROT_NONE);
    return memory ? memory + guard : NULL;
}

void trodden_alternate_stack_install(struct trodden_thread *thread) {
    stack_t now;
    if (real_sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return;
    if (!thread->alternate_stack)
        thread->alternate_stack = map_stack();
    stack_t own = {.ss_sp = thread->alternate_stack, .ss_size = ALTERNATE_STACK_BYTES};
    if (thread->alternate_stack)
        real_sigaltstack(&own, NULL);
}

void trodden_alternate_stack_remove(struct trodden_thread *thread) {
    stack_t now, none = {.ss_flags = SS_DISABLE};
    if (thread->alternate_stack && real_sigaltstack(NULL, &now) == 0 && now.ss_sp == thread->alternate_stack)
        real_sigaltstack(&none, NULL);
}

/* From now on handlers that ask for the alternate stack get it. */
static void restore_onstack_flags(void) {
    program_has_stacks = true;
    for (int number = 1; number < NSIG; number++) {
        struct sigaction now;
        if (onstack_withheld[number] && trodden_real_sigaction(number, NULL, &now) == 0) {
            now.sa_flags |= SA_ONSTACK;
            trodden_real_sigaction(number, &now, NULL);
            onstack_withheld[number] = false;
        }
    }
}

/* The program is told that there is none while only the runtime's is installed, which is installed again when the
 * program disables its own.  This initializes nothing: sanitizers call it while they start themselves, when functions
 * that they intercept cannot be called yet. */
EXPORTED int sigaltstack(const stack_t *restrict stack, stack_t *restrict previous) {
    struct trodden_thread *thread = trodden_leads() ? trodden_own_thread() : NULL;
    void *own_stack = thread ? thread->alternate_stack : NULL;
    stack_t before;
    if (stack && !(stack->ss_flags & SS_DISABLE) && !program_has_stacks)
        restore_onstack_flags();
    int result = real_sigaltstack(stack, &before);
    if (result == 0 && previous) {
        *previous = before;
        if (own_stack && before.ss_sp == own_stack)
            *previous = (stack_t){.ss_flags = SS_DISABLE};
        if (thread)
            trodden_written(previous, sizeof *previous);
    }
    if (result == 0 && thread && stack && (stack->ss_flags & SS_DISABLE))
        trodden_alternate_stack_install(thread);
    return result;
}
