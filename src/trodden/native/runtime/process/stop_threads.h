/* Stopping all other threads (stop_threads.c).  The callers of all these hold the lock. */
#ifndef TRODDEN_PROCESS_STOP_THREADS_H
#define TRODDEN_PROCESS_STOP_THREADS_H

#include <stdint.h>

uint32_t trodden_stop_threads(void); /* returns how many could not be stopped */
void trodden_resume_threads(void);
void trodden_keep_stopped(void); /* until the process ends */
void trodden_stop_after_fork(void);

/* The signal that stops threads; sigmask.c keeps it unblocked. */
enum { TRODDEN_HIGHEST_STOP_SIGNAL = 58, TRODDEN_LOWEST_STOP_SIGNAL = 40 };

struct trodden_stop_signal {
    int number;               /* 0: not chosen yet */
    uint64_t blocked_by_name; /* signals that the program blocks individually, perhaps to wait for them */
};

extern struct trodden_stop_signal trodden_stop_signal;

static inline uint64_t trodden_signal_bit(int number) { return (uint64_t)1 << (number - 1); }

#endif
