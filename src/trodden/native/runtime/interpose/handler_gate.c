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
#include <unistd.h>

#include "interpose/handler_gate.h"
#include "interpose/interpose.h"
#include "platform/system.h"
#include "process/fatal_signal.h"
#include "process/process.h"

/* A signal may arrive while an entry changes: each part of it is valid by itself. */
static struct {
    void (*handler)(int, siginfo_t *, void *);
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
static void take_once(int number, struct sigaction *program) {
    if (trodden_pid() == trodden_process.pid)
        program->sa_sigaction = __atomic_exchange_n(&actions[number].handler, NULL, __ATOMIC_ACQ_REL);
    trodden_reset_action(number, program);
}

static uint64_t blocked_by(int number, const struct sigaction *program) {
    uint64_t mask;
    memcpy(&mask, &program->sa_mask, sizeof mask);
    return (mask | (program->sa_flags & SA_NODEFER ? 0 : trodden_signal_bit(number))) & TRODDEN_FAULTS;
}

/* For a thread whose start was not observed, there is nothing to remember them by. */
static void block_faults(struct trodden_thread *thread, uint64_t faults) {
    if (thread)
        thread->faults_blocked |= faults;
    else if (faults)
        syscall(SYS_rt_sigprocmask, SIG_BLOCK, &faults, NULL, sizeof faults);
}

void trodden_call_program(int number, siginfo_t *info, void *context) {
    int saved_errno = errno;
    struct trodden_thread *thread = trodden_own_thread();
    uint64_t blocked = thread ? thread->faults_blocked : 0;
    struct sigaction program;
    trodden_program_action(number, &program);
    if (blocked & trodden_signal_bit(number))
        program.sa_handler = SIG_DFL; /* the signal of a fault kills the process if it is blocked */
    else if (trodden_signal_is_ours(number, info))
        program.sa_handler = SIG_IGN;
    else if (program.sa_flags & (int)SA_RESETHAND)
        take_once(number, &program);
    errno = saved_errno;
    if (program.sa_handler == SIG_DFL)
        trodden_fatal_signal(number, info, context);
    if (program.sa_handler == SIG_DFL || program.sa_handler == SIG_IGN)
        return;
    block_faults(thread, blocked_by(number, &program));
    program.sa_sigaction(number, info, context);
    if (thread && (thread = trodden_own_thread()))
        thread->faults_blocked = blocked;
}
