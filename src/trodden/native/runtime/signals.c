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

static bool is_ours(const struct sigaction *action) { return action->sa_sigaction == trodden_dies; }

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
    /* The first process of a container does not die of signals that it has no handler for, except for its own faults. */
    bool first = trodden_pid() == 1;
    for (size_t i = 0; i < sizeof fatal; i++) {
        bool fault = fatal[i] == SIGSEGV || fatal[i] == SIGBUS || fatal[i] == SIGFPE || fatal[i] == SIGILL;
        if ((fault || !first) && trodden_set_action(fatal[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            trodden_set_action(fatal[i], &watch, NULL);
    }
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

/* A handler that asks for an alternate stack runs on the thread's own as long as the program has set up none: ours is
 * small. */
static bool own_stacks, on_stack[NSIG];
static uint64_t interrupting; /* by bit: signals that siginterrupt was called for */

static int set_action(int number, const struct sigaction *action, struct sigaction *former) {
    struct sigaction watch, seen, given;
    if (!trodden_leading())
        return trodden_set_action(number, action, former);
    /* Somebody may have our handler from a function of the C library that asks for itself. */
    bool none = action && is_fatal(number) && (action->sa_handler == SIG_DFL || is_ours(action));
    if (none) {
        watch = ours();
        given = *action; /* which may be what is answered into */
        action = &watch;
    }
    struct sigaction here;
    bool moved = !none && action && (action->sa_flags & SA_ONSTACK) && !own_stacks;
    if (moved) {
        here = *action;
        here.sa_flags &= ~SA_ONSTACK;
        action = &here;
    }
    bool was_moved = number > 0 && number < NSIG && on_stack[number];
    int result = trodden_set_action(number, action, &seen);
    if (result == 0 && action)
        on_stack[number] = moved;
    if (result == 0 && former) {
        *former = seen;
        if (was_moved)
            former->sa_flags |= SA_ONSTACK;
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

typedef void handler_function(int);

static handler_function *set_handler(int number, handler_function *handler, int flags) {
    struct sigaction action = {.sa_flags = flags}, former;
    action.sa_handler = handler;
    if (handler == SIG_ERR || number <= 0 || number >= NSIG) {
        errno = EINVAL;
        return SIG_ERR;
    }
    sigemptyset(&action.sa_mask);
    if (!(flags & SA_NODEFER))
        sigaddset(&action.sa_mask, number);
    return set_action(number, &action, &former) == 0 ? former.sa_handler : SIG_ERR;
}

EXPORTED handler_function *signal(int number, handler_function *handler) {
    bool restart = number <= 0 || number > 64 || !(interrupting >> (number - 1) & 1);
    return set_handler(number, handler, restart ? SA_RESTART : 0);
}

EXPORTED handler_function *bsd_signal(int number, handler_function *handler) __attribute__((alias("signal")));
EXPORTED handler_function *ssignal(int number, handler_function *handler) __attribute__((alias("signal")));

/* What the headers call signal in a program that asks for plain standard C. */
EXPORTED handler_function *__sysv_signal(int number, handler_function *handler) {
    return set_handler(number, handler, (int)SA_RESETHAND | SA_NODEFER);
}

EXPORTED handler_function *sysv_signal(int number, handler_function *handler)
    __attribute__((alias("__sysv_signal")));

EXPORTED int siginterrupt(int number, int interrupt) {
    struct sigaction action;
    if (set_action(number, NULL, &action) != 0)
        return -1;
    uint64_t bit = (uint64_t)1 << (number - 1);
    interrupting = interrupt ? interrupting | bit : interrupting & ~bit;
    action.sa_flags = interrupt ? action.sa_flags & ~SA_RESTART : action.sa_flags | SA_RESTART;
    return set_action(number, &action, NULL);
}

/* ---- a stack to run on when there is none left ---- */
enum { ALTERNATE = 64 << 10 };

static int set_stack(const stack_t *stack, stack_t *former) {
    return (int)syscall(SYS_sigaltstack, stack, former);
}

/* Below it lies a page that nobody can write to. */
static void *make_stack(void) {
    size_t guard = trodden_page();
    uint8_t *memory = trodden_map(guard + ALTERNATE);
    if (memory)
        mprotect(memory, guard, PROT_NONE);
    return memory ? memory + guard : NULL;
}

void trodden_stack_begin(struct trodden_thread *thread) {
    stack_t now;
    if (set_stack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE))
        return;
    if (!thread->alternate)
        thread->alternate = make_stack();
    stack_t own = {.ss_sp = thread->alternate, .ss_size = ALTERNATE};
    if (thread->alternate)
        set_stack(&own, NULL);
}

void trodden_stack_end(struct trodden_thread *thread) {
    stack_t now, none = {.ss_flags = SS_DISABLE};
    if (thread->alternate && set_stack(NULL, &now) == 0 && now.ss_sp == thread->alternate)
        set_stack(&none, NULL);
}

/* From now on handlers that ask for such a stack get it. */
static void use_stacks(void) {
    own_stacks = true;
    for (int number = 1; number < NSIG; number++) {
        struct sigaction now;
        if (on_stack[number] && trodden_set_action(number, NULL, &now) == 0) {
            now.sa_flags |= SA_ONSTACK;
            trodden_set_action(number, &now, NULL);
            on_stack[number] = false;
        }
    }
}

/* The program is told of none while there is only ours, which comes back when it gives its own up. */
EXPORTED int sigaltstack(const stack_t *restrict stack, stack_t *restrict former) {
    struct trodden_thread *thread = trodden_leading() ? trodden_own_thread() : NULL;
    void *ours = thread ? thread->alternate : NULL;
    stack_t before;
    if (thread && stack && !(stack->ss_flags & SS_DISABLE) && !own_stacks)
        use_stacks();
    int result = set_stack(stack, &before);
    if (result == 0 && former) {
        *former = before;
        if (ours && before.ss_sp == ours)
            *former = (stack_t){.ss_flags = SS_DISABLE};
    }
    if (result == 0 && thread && stack && (stack->ss_flags & SS_DISABLE))
        trodden_stack_begin(thread);
    return result;
}
