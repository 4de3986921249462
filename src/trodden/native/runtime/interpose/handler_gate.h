/* The gate through which the kernel calls the program's signal handlers (handler_gate.c). */
#ifndef TRODDEN_INTERPOSE_HANDLER_GATE_H
#define TRODDEN_INTERPOSE_HANDLER_GATE_H

#include <signal.h>

/* What the program has installed: a handler, or SIG_DFL if it has never had one. */
void trodden_program_action(int number, struct sigaction *action);
void trodden_set_program_action(int number, const struct sigaction *action); /* the caller holds the lock */

/* The handler that the kernel is given in place of the program's. */
void trodden_call_program(int number, siginfo_t *info, void *context);

/* ---- sigaction.c ---- */
void trodden_reset_action(int number, const struct sigaction *program);

#endif
