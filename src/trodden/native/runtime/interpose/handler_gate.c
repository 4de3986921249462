/* The gate through which the kernel calls the program's signal handlers.
 *
 * A process that dies in a handler, or right behind it, has to be seen (process/fatal_signal.c).  Therefore a handler
 * that is to be called once is reset here, so that the signal has the runtime's handler afterwards, and not the
 * kernel's default action; and signals of faults that are blocked while a handler runs are known here, but not
 * blocked (sigmask.c).
 *
 * A handler may leave by a jump, which sets the signal mask itself, or switch to another stack and return in another
 * thread: the gate keeps nothing but the value that it puts back. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "interpose/handler_gate.h"
#include "interpose/interpose.h"
#include "platform/kernel_action.h"
#include "platform/system.h"
#include "process/fatal_signal.h"
#include "process/process.h"

/* A signal may arrive while an entry changes: each part of it is valid by itself. */
static struct {
    trodden_signal_handler *handler;
    int flags;
    uint64_t mask;
} actions[NSIG];

void trodden_program_action(int number, struct sigaction *action) {
    memset(action, 0, sizeof *action);
    action->sa_sigaction = __atomic_load_n(&actions[number].handler, __ATOMIC_ACQUIRE);
    action->sa_flags = __atomic_load_n(&actions[number].flags, __ATOMIC_RELAXED);
    uint64_t mask = __atomic_load_n(&actions[number].mask, __ATOMIC_RELAXED);
    memcpy(&action->sa_mask, &mask, sizeof mask);
}

void trodden_set_program_action(int number, const struct sigaction *action) {
    uint64_t mask;
    memcpy(&mask, &action->sa_mask, sizeof mask);
    __atomic_store_n(&actions[number].flags, action->sa_flags, __ATOMIC_RELAXED);
    __atomic_store_n(&actions[number].mask, mask, __ATOMIC_RELAXED);
    __atomic_store_n(&actions[number].handler, action->sa_sigaction, __ATOMIC_RELEASE);
}

/* Of several threads that handle the signal at once, one gets the handler.  A child of vfork must not change what its
 * parent has. */
static trodden_signal_handler *take_once(int number) {
    struct sigaction program;
    trodden_program_action(number, &program);
    if (trodden_pid() == trodden_process.pid)
        program.sa_sigaction = __atomic_exchange_n(&actions[number].handler, NULL, __ATOMIC_ACQ_REL);
    trodden_reset_action(number, &program);
    return program.sa_sigaction;
}

/* ---- signals of faults, which the kernel does not block (sigmask.c) ---- */
/* For a thread whose start was not observed, there is nothing to remember them by. */
static void block_faults(struct trodden_thread *thread, uint64_t faults) {
    if (thread)
        trodden_block_faults(thread, thread->faults_blocked | faults);
    else if (faults)
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &faults, NULL, sizeof faults);
}

static uint64_t *mask_of(void *context) { return (uint64_t *)&((ucontext_t *)context)->uc_sigmask; }

/* Takes them out of the mask that is restored when the handler returns, which may have changed it, and may return in
 * another thread.  `blocked`: those that the kernel itself had blocked. */
static void keep_faults(void *context, uint64_t blocked) {
    uint64_t mask = *mask_of(context);
    *mask_of(context) = trodden_keep_faults(trodden_own_thread(), mask) | (mask & blocked);
}

/* Where traces are recorded, the handler has a chunk of its own. */
static inline __attribute__((always_inline)) void run_traced(trodden_signal_handler *handler, int number,
                                                             siginfo_t *info, void *context) {
    if (!trodden_process.trace.active) {
        handler(number, info, context);
        return;
    }
    struct trodden_thread *thread = trodden_own_thread();
    struct trodden_trace_gate gate;
    trodden_trace_handler_starts(&gate, thread ? thread->trace : NULL, number, context);
    handler(number, info, context);
    trodden_trace_handler_ends(&gate);
}

/* Where paths are counted over calls and returns, what caller and callee have told each other stays as it is. */
static inline __attribute__((always_inline)) void run_handler(trodden_signal_handler *handler, int number,
                                                              siginfo_t *info, void *context) {
    struct trodden_channel_copy copy;
    trodden_channel_save(&copy);
    run_traced(handler, number, info, context);
    trodden_channel_restore(&copy);
}

/* Some are blocked already, or `faults` are to be.  The handler sees the mask that the program has set. */
static void call_with_faults(trodden_signal_handler *handler, int number, siginfo_t *info, void *context,
                             uint64_t faults) {
    struct trodden_thread *thread = trodden_own_thread();
    uint64_t blocked = *mask_of(context) & TRODDEN_FAULTS;
    *mask_of(context) = trodden_visible_mask(thread, *mask_of(context));
    block_faults(thread, faults);
    run_handler(handler, number, info, context);
    keep_faults(context, blocked);
}

/* Most programs never block a signal of a fault. */
static void call_handler(trodden_signal_handler *handler, int number, siginfo_t *info, void *context,
                         uint64_t faults) {
    if (faults || trodden_faults_were_blocked) {
        call_with_faults(handler, number, info, context, faults);
        return;
    }
    run_handler(handler, number, info, context);
    if (trodden_faults_were_blocked || (*mask_of(context) & TRODDEN_FAULTS))
        keep_faults(context, 0);
}

void trodden_call_program(int number, siginfo_t *info, void *context) {
    uint64_t bit = trodden_signal_bit(number);
    int saved_errno = errno, flags = __atomic_load_n(&actions[number].flags, __ATOMIC_RELAXED);
    uint64_t mask = __atomic_load_n(&actions[number].mask, __ATOMIC_RELAXED) | (flags & SA_NODEFER ? 0 : bit);
    if (bit & TRODDEN_FAULTS) {
        /* It kills the process if it is blocked; one that somebody has sent stays pending. */
        if (trodden_signal_is_blocked(number, info, context)) {
            trodden_fatal_signal(number, info, context);
            return;
        }
        if (trodden_signal_is_ours(number, info)) {
            errno = saved_errno;
            return;
        }
    }
    trodden_signal_handler *handler =
        flags & (int)SA_RESETHAND ? take_once(number) : __atomic_load_n(&actions[number].handler, __ATOMIC_ACQUIRE);
    errno = saved_errno;
    if (handler)
        call_handler(handler, number, info, context, mask & TRODDEN_FAULTS);
    else
        trodden_fatal_signal(number, info, context);
}
