/* Stopping all other threads (stop_threads.c).  The callers of all these hold the lock, unless stated otherwise. */
#ifndef TRODDEN_PROCESS_STOP_THREADS_H
#define TRODDEN_PROCESS_STOP_THREADS_H

#include <stdbool.h>
#include <stdint.h>

/* One that the C library keeps for itself, so that it is in no mask that a program sets: glibc changes the user of all
 * threads by it, musl cancels threads. */
enum { TRODDEN_STOP_SIGNAL = 33 };

uint32_t trodden_stop_threads(void); /* returns how many could not be stopped */
void trodden_resume_threads(void);
void trodden_keep_stopped(void); /* until the process ends */
void trodden_stop_after_fork(void);
void trodden_stop_shutdown(void); /* without the lock: this code is about to be unloaded */

/* Are threads stopped at this moment? */
bool trodden_threads_are_stopped(void);
/* Without the lock: returns when they are resumed, or some time after the process should have ended. */
void trodden_wait_while_stopped(void);

#endif
