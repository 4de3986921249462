/* Interposers of pthread_sigmask and sigprocmask: a thread that blocks all signals can still be stopped
 * (process/stop_threads.c), since the one signal for that is left out of such masks. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "interpose/next_function.h"
#include "platform/attributes.h"
#include "process/stop_threads.h"

enum { NEARLY_ALL = 25 }; /* of the 30 real-time signals */

/* ---- masks ---- */
/* A mask that blocks (nearly) all signals does not mean this one in particular. */
static void exclude_stop_signal(int how, uint64_t *mask) {
    uint64_t stop_bit =
        trodden_signal_bit(trodden_stop_signal.number ? trodden_stop_signal.number : TRODDEN_HIGHEST_STOP_SIGNAL);
    if (how == SIG_UNBLOCK || !(*mask & stop_bit))
        return;
    if (__builtin_popcountll(*mask >> 34) >= NEARLY_ALL)
        *mask &= ~stop_bit;
    else
        __atomic_fetch_or(&trodden_stop_signal.blocked_by_name, stop_bit, __ATOMIC_RELAXED);
}

static int set_mask(int how, const sigset_t *set, sigset_t *previous) {
    uint64_t mask = 0, *new_mask = NULL;
    if (set) {
        memcpy(&mask, set, sizeof mask);
        /* 32 to 34 belong to the C library, which leaves them out in the same way. */
        mask &= ~(trodden_signal_bit(32) | trodden_signal_bit(33));
#ifndef __GLIBC__
        mask &= ~trodden_signal_bit(34);
#endif
        exclude_stop_signal(how, &mask);
        new_mask = &mask;
    }
    uint64_t old_mask = 0;
    if (syscall(SYS_rt_sigprocmask, how, new_mask, &old_mask, sizeof old_mask) != 0)
        return errno;
    if (previous) {
        memset(previous, 0, sizeof *previous);
        memcpy(previous, &old_mask, sizeof old_mask);
        trodden_written(previous, sizeof *previous);
    }
    return 0;
}

EXPORTED int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict previous) {
    int saved_errno = errno, error = set_mask(how, set, previous);
    errno = saved_errno;
    return error;
}

EXPORTED int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict previous) {
    int error = set_mask(how, set, previous);
    if (error)
        errno = error;
    return error ? -1 : 0;
}
