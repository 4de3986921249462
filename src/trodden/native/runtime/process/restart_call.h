/* The system call that a signal has interrupted (restart_call.c). */
#ifndef TRODDEN_PROCESS_RESTART_CALL_H
#define TRODDEN_PROCESS_RESTART_CALL_H

#include <ucontext.h>

/* Does it wait with a signal mask for as long as it waits, as sigsuspend does? */
enum trodden_wait { TRODDEN_WAITS_WITH_MASK, TRODDEN_WAITS_WITHOUT_MASK, TRODDEN_WAIT_UNKNOWN };
enum trodden_wait trodden_interrupted_wait(const ucontext_t *context);

/* Continues it, as if the signal had been blocked: it does not fail with EINTR.  Called by the signal's handler, which
 * has put the signal back, and blocked it in the context. */
void trodden_restart_call(ucontext_t *context);

#endif
