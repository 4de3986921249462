/* Threads that are cancelled, or exit, in functions with cleanup handlers. */
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

static volatile int cleaned, ready;
static volatile long sink;
#define RETURNED() (sink != -77)

static void clean(void *amount) {
    HIT();
    cleaned += (int)(long)amount;
}

__attribute__((noinline)) static int inner(int ending) {
    HIT();
    if (ending & 1) {
        HIT();
        ready = 1;
        pause();
    } else if (ending & 2) {
        HIT();
        ready = 1;
        pthread_exit(NULL);
    } else {
        HIT();
        return ending;
    }
    if (RETURNED())
        HIT();
    return 0;
}

__attribute__((noinline)) static int guarded(int ending) {
    int got = 0;
    HIT();
    pthread_cleanup_push(clean, (void *)1L);
    HIT();
    if (ending > 5) {
        HIT();
        got += inner(ending);
    } else {
        HIT();
        got += inner(ending) * 2;
    }
    if (RETURNED())
        HIT();
    pthread_cleanup_pop(1);
    HIT();
    return got;
}

__attribute__((noinline)) static int twice(int ending) {
    int got = 0;
    HIT();
    pthread_cleanup_push(clean, (void *)10L);
    HIT();
    pthread_cleanup_push(clean, (void *)100L);
    HIT();
    if (ending & 4)
        got = guarded(ending);
    else
        got = inner(ending + 1);
    if (RETURNED())
        HIT();
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    HIT();
    return got;
}

static void *start(void *argument) {
    int ending = *(int *)argument;
    HIT();
    int got = ending & 8 ? twice(ending) : guarded(ending);
    if (RETURNED())
        HIT();
    ready = 1;
    return (void *)(long)got;
}

int main(void) {
    for (int i = 0; i < 32; i++) {
        pthread_t thread;
        int ending = i % 16;
        HIT();
        ready = 0;
        pthread_create(&thread, NULL, start, &ending);
        while (!ready)
            sched_yield();
        pthread_cancel(thread);
        pthread_join(thread, NULL);
    }
    HIT();
    return cleaned % 251;
}
