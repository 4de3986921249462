/* The end of a process by a signal, and frames in the live file (fatal_signal.c). */
#ifndef TRODDEN_PROCESS_FATAL_SIGNAL_H
#define TRODDEN_PROCESS_FATAL_SIGNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include "counters/live_file.h"
#include "unwind/registers.h"
#include "unwind/stack_walk.h"

/* The handler of all signals that would kill the process. */
void trodden_fatal_signal(int number, siginfo_t *info, void *ucontext);
/* Was the signal a fault in the runtime's own memory, which has been mended? */
bool trodden_signal_is_ours(int number, const siginfo_t *info);
/* Would it be blocked, if the kernel blocked all that the program has blocked, and SIGBUS inside the runtime? */
bool trodden_signal_is_blocked(int number, const siginfo_t *info, const void *context);
void trodden_fatal_signal_after_fork(void);

/* The callers of the following hold the lock. */
void trodden_live_save_frames(enum trodden_region_kind kind, const struct trodden_frames *frames, uint32_t thread,
                              uint32_t tid);
/* Stops all other threads and saves the frames of all. */
void trodden_save_all_threads(const struct trodden_regs *regs, bool interrupted);

#endif
