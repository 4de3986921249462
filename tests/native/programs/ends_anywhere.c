/* Threads that may be cancelled at any instruction.  What they are in then is not at a call; what called it is. */
#define BOOKKEEPER
#define BOOK 0
#include "books.h"
#include <pthread.h>
#include <sched.h>

static volatile int ready;
static volatile long sink;
#define BACK() (sink != -77)

__attribute__((noinline)) static void turn(void) {
    ready = 1;
    for (;;)
        sink = 1;
}

__attribute__((noinline)) static int caller(int depth) {
    HIT();
    if (depth > 0) {
        HIT();
        int got = caller(depth - 1);
        if (BACK())
            HIT();
        return got;
    }
    HIT();
    turn();
    return 1;
}

static void *start(void *argument) {
    HIT();
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
    caller(*(int *)argument);
    if (BACK())
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
