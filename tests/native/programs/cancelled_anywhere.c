/* Threads that may be cancelled at any instruction.  The innermost function is not at a call then; its callers are. */
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <pthread.h>
#include <sched.h>

static volatile int ready;
static volatile long sink;
#define RETURNED() (sink != -77)

__attribute__((noinline)) static void iteration(void) {
    ready = 1;
    for (;;)
        sink = 1;
}

__attribute__((noinline)) static int caller(int depth) {
    HIT();
    if (depth > 0) {
        HIT();
        int got = caller(depth - 1);
        if (RETURNED())
            HIT();
        return got;
    }
    HIT();
    iteration();
    return 1;
}

static void *start(void *argument) {
    HIT();
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    caller(*(int *)argument);
    if (RETURNED())
        HIT();
    return NULL;
}

int main(void) {
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        int depth = i % 4;
        HIT();
        ready = 0;
        pthread_create(&thread, NULL, start, &depth);
        while (!ready)
            sched_yield();
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    HIT();
    return 41;
}
