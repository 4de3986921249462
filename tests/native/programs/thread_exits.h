/* Threads that exit in the middle of their functions, one after the other, so that they can share the counts. */
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static volatile long sink;

/* The code behind a call is a block of its own, so that its line tells whether the call returned. */
#define RETURNED() (sink != -77)

enum { RETURNS, EXITS, TESTS, SLEEPS, WAITS, ENDINGS };

static volatile int ready;

/* The innermost function: it returns, exits its thread, or waits to be cancelled. */
__attribute__((noinline)) static int inner(int ending, int iteration) {
    HIT();
    if (iteration < 3)
        return iteration;
    HIT();
    switch (ending) {
    case EXITS:
        HIT();
        pthread_exit((void *)(long)iteration);
    case TESTS:
        HIT();
        ready = 1;
        for (;;) {
            pthread_testcancel();
            if (RETURNED())
                sched_yield();
        }
    case SLEEPS:
        HIT();
        ready = 1;
        for (;;)
            usleep(100);
    case WAITS:
        HIT();
        ready = 1;
        pause();
        if (RETURNED())
            HIT();
        break;
    default:
        HIT();
        break;
    }
    HIT();
    return iteration;
}

__attribute__((noinline)) static int outer(int ending, int depth) {
    int sum = 0;
    HIT();
    if (depth > 0) {
        HIT();
        sum = outer(ending, depth - 1);
        if (RETURNED())
            HIT();
        return sum;
    }
    for (int iteration = 0; iteration < 5; iteration++) {
        HIT();
        if (iteration & 1) {
            HIT();
            sum += inner(ending, iteration) * 2;
        } else {
            HIT();
            sum += inner(ending, iteration) * 3;
        }
        if (RETURNED())
            HIT();
    }
    HIT();
    return sum;
}

struct order {
    int ending, depth;
};

static void *start(void *argument) {
    const struct order *order = (const struct order *)argument;
    HIT();
    int sum = outer(order->ending, order->depth);
    if (RETURNED())
        HIT();
    return (void *)(long)sum;
}

static int run_threads(void) {
    int cancelled = 0;
    for (int i = 0; i < 20; i++) {
        struct order order = {i % ENDINGS, i / ENDINGS};
        pthread_t thread;
        void *result;
        HIT();
        ready = order.ending < TESTS;
        pthread_create(&thread, NULL, start, &order);
        while (!ready)
            sched_yield();
        if (order.ending >= TESTS)
            pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    return cancelled;
}
