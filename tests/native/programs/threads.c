/* Threads that exit in every way; the program prints at its end what has to have been counted. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <unistd.h>

#include "unit.h"

enum { BODY, CLEANUP, KEY, HANDLER, DESTRUCTOR, RUNNING, SLOTS };
UNIT('t', SLOTS);

static pthread_key_t key;
static unsigned long body, cleanup, keys;
static int running;

static void at_key_end(void *value) {
    (void)value;
    STEP(KEY);
    __atomic_fetch_add(&keys, 1, __ATOMIC_SEQ_CST);
}

static void at_cleanup(void *value) {
    (void)value;
    STEP(CLEANUP);
    __atomic_fetch_add(&cleanup, 1, __ATOMIC_SEQ_CST);
}

static void count_body(long number) {
    for (long i = 0; i < 1000 + number; i++)
        STEP(BODY);
    __atomic_fetch_add(&body, (unsigned long)(1000 + number), __ATOMIC_SEQ_CST);
}

static void *worker(void *argument) {
    long number = (long)argument;
    pthread_setspecific(key, argument);
    pthread_cleanup_push(at_cleanup, NULL);
    count_body(number);
    if (number % 4 == 1)
        pthread_exit(NULL);
    while (number % 4 == 3)
        pause();
    pthread_cleanup_pop(1);
    return (void *)(number * 10);
}

static int c11_worker(void *argument) {
    count_body((long)argument);
    return -(int)(long)argument;
}

static void *endless(void *argument) {
    (void)argument;
    for (int i = 0; i < 500; i++)
        STEP(RUNNING);
    __atomic_fetch_add(&running, 1, __ATOMIC_SEQ_CST);
    for (;;)
        pause();
}

static void at_exit_handler(void) { STEP(HANDLER); }

__attribute__((destructor)) static void at_destruction(void) { STEP(DESTRUCTOR); }

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "single";
    pthread_t ids[8];
    thrd_t c11;
    int result, detached = 0;
    atexit(at_exit_handler);
    pthread_key_create(&key, at_key_end);
    count_body(5);
    if (strcmp(mode, "join") == 0) {
        for (long i = 0; i < 8; i++)
            if (pthread_create(&ids[i], NULL, worker, (void *)(i + 8)) != 0)
                abort();
        for (long i = 0; i < 8; i++) {
            void *value;
            if (i % 4 == 3)
                pthread_cancel(ids[i]);
            pthread_join(ids[i], &value);
            if (i % 2 == 0 && value != (void *)((i + 8) * 10))
                abort();
        }
        if (thrd_create(&c11, c11_worker, (void *)77) != thrd_success || thrd_join(c11, &result) != thrd_success ||
            result != -77)
            abort();
    }
    if (strcmp(mode, "running") == 0) {
        detached = 3;
        for (int i = 0; i < detached; i++) {
            pthread_create(&ids[i], NULL, endless, NULL);
            pthread_detach(ids[i]);
        }
        while (__atomic_load_n(&running, __ATOMIC_SEQ_CST) < detached)
            usleep(1000);
    }
    printf("%lu %lu %lu 1 1 %d\n", body, cleanup, keys, 500 * detached);
    return 7;
}
