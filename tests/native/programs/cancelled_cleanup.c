/* Threads that are cancelled at any instruction of a function with cleanup handlers. */
#define _GNU_SOURCE
#include "mapped_counts.h"

#include <sched.h>

enum { THREADS = 10 };

static volatile int ready, sink;

static void clean(void *argument) {
    (void)argument;
    HIT();
}

NOINLINE static void once(void) {
    HIT();
    sink++;
}

static void *start(void *argument) {
    HIT();
    pthread_cleanup_push(clean, NULL);
    HIT();
    pthread_cleanup_push(clean, NULL);
    once();
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    HIT();
    ready = 1;
    for (volatile unsigned i = 0;; i++)
        HIT(); /* cancelled here */
    pthread_cleanup_pop(1);
    pthread_cleanup_pop(1);
    return argument;
}

int main(void) {
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        ready = 0;
        HIT();
        pthread_create(&thread, NULL, start, NULL);
        while (!ready)
            sched_yield();
        usleep(1000);
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    return 7;
}
