/* What the interposers offer to the rest of the runtime. */
#ifndef TRODDEN_INTERPOSE_INTERPOSE_H
#define TRODDEN_INTERPOSE_INTERPOSE_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/attributes.h"
#include "unwind/registers.h"

struct trodden_thread;

/* ---- longjmp.c ---- */
void trodden_longjmp_init(void);

/* ---- dynamic_sigsetjmp.c, with glibc in a dynamic program ---- */
#pragma weak trodden_sigsetjmp_init
void trodden_sigsetjmp_init(void);

/* ---- pthread_cancel.c ---- */
void trodden_cancel_shutdown(void);

/* ---- pthread_create.c ---- */
/* A thread that executes code of the runtime alone. */
int trodden_create_own_thread(pthread_t *id, const pthread_attr_t *attributes, void *(*start)(void *), void *argument);

/* ---- supplied_stack.c, with glibc ---- */
/* How many bytes of a thread's stack its counters take. */
size_t trodden_counters_on_stack(void);
/* The attributes of a thread that will run on the stack which the program supplies: they have none.  False: the program
 * supplies none, or there is no reason to do so. */
bool trodden_copy_without_stack(pthread_attr_t *copy, const pthread_attr_t *attributes, struct trodden_thread *thread);
void *trodden_run_on_stack(void *(*start)(void *), void *argument, void *top);

/* ---- vfork.c ---- */
/* A child of vfork leaves its parent's memory by exec or _exit (`amount` 1), or exec has failed (-1).  False: the
 * calling process is no child of vfork. */
bool trodden_vfork_child_leaves(const struct trodden_regs *regs, int64_t amount);

/* ---- sigmask.c ---- */
/* Signals that an instruction can raise. */
#define TRODDEN_FAULTS                                                                                            \
    ((uint64_t)1 << (SIGILL - 1) | (uint64_t)1 << (SIGTRAP - 1) | (uint64_t)1 << (SIGBUS - 1) |                   \
     (uint64_t)1 << (SIGFPE - 1) | (uint64_t)1 << (SIGSEGV - 1) | (uint64_t)1 << (SIGSYS - 1))

/* What the program sees while the kernel has that mask. */
uint64_t trodden_visible_mask(const struct trodden_thread *thread, uint64_t mask);
/* What the kernel is to be told for a mask of the program; the rest is kept in the thread's record. */
uint64_t trodden_keep_faults(struct trodden_thread *thread, uint64_t mask);
void trodden_block_faults(struct trodden_thread *thread, uint64_t faults);
extern bool trodden_faults_were_blocked; /* in any thread: whatever saves a mask need not ask otherwise */
/* The new thread's mask: its own, or that of its creator. */
void trodden_thread_inherits_mask(struct trodden_thread *thread, const uint64_t *own, uint64_t creators);
/* Around exec, which passes the kernel's mask on: returns what was blocked. */
uint64_t trodden_block_kept_faults(void);
void trodden_unblock_kept_faults(uint64_t faults);

/* ---- sigaction.c ---- */
void trodden_signals_init(void);
void trodden_signals_shutdown(void);
int trodden_real_sigaction(int number, const struct sigaction *action, struct sigaction *previous);
void trodden_program_has_stacks(void);

/* ---- alternate_stack.c ---- */
void trodden_alternate_stack_install(struct trodden_thread *thread); /* of the calling thread */
void trodden_alternate_stack_remove(struct trodden_thread *thread);

#endif
