/* Threads that end in the middle of their functions, one after the other, so that they can share the books. */
#define BOOKKEEPER
#define BOOK 0
#include "books.h"
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static volatile long sink;

/* What follows a call is a block of its own, so that its line tells whether the call came back. */
#define BACK() (sink != -77)

enum { RETURNS, EXITS, TESTS, SLEEPS, WAITS, WAYS };

static volatile int ready;

/* The innermost function: it comes back, ends its thread, or waits until that is cancelled. */
__attribute__((noinline)) static int inner(int way, int turn) {
    HIT();
    if (turn < 3)
        return turn;
    HIT();
    switch (way) {
    case EXITS:
        HIT();
        pthread_exit((void *)(long)turn);
    case TESTS:
        HIT();
        ready = 1;
        for (;;) {
            pthread_testcancel();
            if (BACK())
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
        if (BACK())
            HIT();
        break;
    default:
        HIT();
        break;
    }
    HIT();
    return turn;
}

__attribute__((noinline)) static int outer(int way, int depth) {
    int sum = 0;
    HIT();
    if (depth > 0) {
        HIT();
        sum = outer(way, depth - 1);
        if (BACK())
            HIT();
        return sum;
    }
    for (int turn = 0; turn < 5; turn++) {
        HIT();
        if (turn & 1) {
            HIT();
            sum += inner(way, turn) * 2;
        } else {
            HIT();
            sum += inner(way, turn) * 3;
        }
        if (BACK())
            HIT();
    }
    HIT();
    return sum;
}

struct order {
    int way, depth;
};

static void *start(void *argument) {
    const struct order *order = (const struct order *)argument;
    HIT();
    int sum = outer(order->way, order->depth);
    if (BACK())
        HIT();
    return (void *)(long)sum;
}

static int run_threads(void) {
    int cancelled = 0;
    for (int i = 0; i < 20; i++) {
        struct order order = {i % WAYS, i / WAYS};
        pthread_t thread;
        void *result;
        HIT();
        ready = order.way < TESTS;
        pthread_create(&thread, NULL, start, &order);
        while (!ready)
            sched_yield();
        if (order.way >= TESTS)
            pthread_cancel(thread);
        pthread_join(thread, &result);
        cancelled += result == PTHREAD_CANCELED;
    }
    return cancelled;
}
