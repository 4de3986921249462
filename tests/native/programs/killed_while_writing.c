/* A thread raises a deadly signal while another thread, which has called exit, is about to write the raw file.  It cannot be
 * stopped before that. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "own_syscall.h"

static int exiting, stopping, ready; /* `stopping`: threads are sent a signal, before the raw file is written */

UNCOUNTED static void before_call(long number, const long *values) {
    (void)values;
    if (number == SYS_rt_tgsigqueueinfo && __atomic_load_n(&exiting, __ATOMIC_ACQUIRE))
        __atomic_store_n(&stopping, 1, __ATOMIC_RELEASE);
}

static void *die(void *argument) {
    uint64_t all = ~(uint64_t)0 ^ (uint64_t)1 << (SIGTERM - 1);
    long values[6] = {SIG_SETMASK, (long)&all, 0, sizeof all};
    call(SYS_rt_sigprocmask, values);
    __atomic_store_n(&ready, 1, __ATOMIC_RELEASE);
    while (!__atomic_load_n(&stopping, __ATOMIC_ACQUIRE))
        ;
    raise(SIGTERM);
    return argument;
}

int main(void) {
    pthread_t id;
    pthread_create(&id, NULL, die, NULL);
    while (!__atomic_load_n(&ready, __ATOMIC_ACQUIRE))
        usleep(100);
    __atomic_store_n(&exiting, 1, __ATOMIC_RELEASE);
    exit(7);
}
