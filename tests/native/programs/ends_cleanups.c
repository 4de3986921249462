/* Threads that are cancelled, or end, in functions that have asked to clean up. */
#define BOOKKEEPER
#define BOOK 0
#include "books.h"
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static volatile int cleaned, ready;
static volatile long sink;
#define BACK() (sink != -77)

static void clean(void *amount) {
    HIT();
    cleaned += (int)(long)amount;
}

__attribute__((noinline)) static int inner(int way) {
    HIT();
    if (way & 1) {
        HIT();
        ready = 1;
        pause();
    } else if (way & 2) {
        HIT();
        ready = 1;
        pthread_exit(NULL);
    } else {
        HIT();
        return way;
    }
    if (BACK())
        HIT();
    return 0;
}

__attribute__((noinline)) static int guarded(int way) {
    int got = 0;
    HIT();
    pthread_cleanup_push(clean, (void *)1L);
    HIT();
    if (way > 5) {
        HIT();
        got += inner(way);
    } else {
        HIT();
        got += inner(way) * 2;
    }
    if (BACK())
        HIT();
    pthread_cleanup_pop(1);
    HIT();
    return got;
}

__attribute__((noinline)) static int twice(int way) {
    int got = 0;
    HIT();
    pthread_cleanup_push(clean, (void *)10L);
    HIT();
    pthread_cleanup_push(clean, (void *)100L);
    HIT();
    if (way & 4)
        got = guarded(way);
    else
        got = inner(way + 1);
    if (BACK())
        HIT();
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    HIT();
    return got;
}

static void *start(void *argument) {
    int way = *(int *)argument;
    HIT();
    int got = way & 8 ? twice(way) : guarded(way);
    if (BACK())
        HIT();
    ready = 1;
    return (void *)(long)got;
}

int main(void) {
    for (int i = 0; i < 32; i++) {
        pthread_t thread;
        int way = i % 16;
        HIT();
        ready = 0;
        pthread_create(&thread, NULL, start, &way);
        while (!ready)
            sched_yield();
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    HIT();
    return cleaned % 251;
}
