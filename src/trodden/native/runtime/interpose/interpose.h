/* What the interposers offer to the rest of the runtime. */
#ifndef TRODDEN_INTERPOSE_INTERPOSE_H
#define TRODDEN_INTERPOSE_INTERPOSE_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "platform/attributes.h"
#include "unwind/registers.h"

struct trodden_thread;

/* ---- longjmp.c ---- */
void trodden_longjmp_init(void);

/* ---- vfork.c ---- */
/* A child of vfork leaves its parent's memory by exec or _exit (`amount` 1), or exec has failed (-1).  False: the
 * calling process is no child of vfork. */
bool trodden_vfork_child_leaves(const struct trodden_regs *regs, int64_t amount);

/* ---- sigaction.c ---- */
void trodden_signals_init(void);
void trodden_signals_shutdown(void);
int trodden_real_sigaction(int number, const struct sigaction *action, struct sigaction *previous);
void trodden_alternate_stack_install(struct trodden_thread *thread); /* of the calling thread */
void trodden_alternate_stack_remove(struct trodden_thread *thread);

#endif
