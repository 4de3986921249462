/* Threads in one hot function, that exit in every way, or do not exit at all. */
#define _GNU_SOURCE
#include "mapped_counts.h"

#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define THREADS 8

static volatile int sink;
static long rounds = 125000;
static sem_t ready;

/* The code behind a call is a block of its own, so that its line tells whether the call returned. */
#define RETURNED() (sink != -77)

NOINLINE static long hot(long n) {
    if (n % 3 == 0) {
        HIT();
        return n;
    }
    HIT();
    return n + 1;
}

NOINLINE static void work(long from) {
    long sum = 0;
    for (long i = 0; i < rounds; i++) {
        HIT();
        sum += hot(from + i);
    }
    sink = (int)(sum & 1);
}

NOINLINE static void leave(int levels) {
    HIT();
    if (levels == 0) {
        HIT();
        pthread_exit(NULL);
    }
    leave(levels - 1);
    if (RETURNED())
        HIT();
}

NOINLINE static void wait_for_ever(int levels) {
    HIT();
    if (levels)
        wait_for_ever(levels - 1);
    if (RETURNED())
        HIT();
    sem_post(&ready);
    for (;;)
        pause();
}

static void *ends(void *argument) {
    long number = (long)argument;
    work(number);
    if (number % 4 == 1) {
        HIT();
        leave(3);
    } else if (number % 4 == 2) {
        HIT();
        wait_for_ever(0);
    } else if (number % 4 == 3) {
        HIT();
        sem_post(&ready);
    }
    HIT();
    return NULL;
}

static void *brief(void *argument) {
    work((long)argument);
    HIT();
    return NULL;
}

static void *stays(void *argument) {
    HIT();
    sem_post(&ready);
    for (;;)
        sink = (int)hot((long)argument);
}

static void *waits(void *argument) {
    sigset_t all;
    work((long)argument);
    sigfillset(&all);
    if ((long)argument % 2) {
        HIT();
        pthread_sigmask(SIG_BLOCK, &all, NULL);
    } else {
        HIT();
        sigprocmask(SIG_SETMASK, &all, NULL);
    }
    wait_for_ever(0);
    return NULL;
}

static void all_ends(void) {
    pthread_t ids[THREADS];
    for (long i = 0; i < THREADS; i++) {
        HIT();
        if (pthread_create(&ids[i], NULL, ends, (void *)i) != 0)
            abort();
        if (i % 4 == 3) {
            HIT();
            pthread_detach(ids[i]);
        }
    }
    for (int i = 0; i < THREADS / 2; i++)
        sem_wait(&ready); /* which are to be cancelled, or detached */
    for (int i = 0; i < THREADS; i++) {
        if (i % 4 == 2) {
            HIT();
            pthread_cancel(ids[i]);
        }
        if (i % 4 != 3) {
            HIT();
            pthread_join(ids[i], NULL);
        }
    }
}

/* One after the other, and many at once, on stacks that the program supplies. */
static void own_stacks(void) {
    enum { SIZE = 1 << 20 };
    pthread_t ids[THREADS];
    pthread_attr_t attributes;
    char *room = (char *)mmap(NULL, THREADS * SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_init(&attributes);
    for (int iteration = 0; iteration < 5; iteration++) {
        for (long i = 0; i < THREADS; i++) {
            HIT();
            if (pthread_attr_setstack(&attributes, room + i * SIZE, SIZE) != 0 ||
                pthread_create(&ids[i], &attributes, brief, (void *)i) != 0)
                abort();
        }
        for (int i = 0; i < THREADS; i++)
            pthread_join(ids[i], NULL);
    }
}

static void start_all(void *(*start)(void *)) {
    pthread_t id;
    for (long i = 0; i < THREADS; i++) {
        HIT();
        if (pthread_create(&id, NULL, start, (void *)i) != 0)
            abort();
    }
    for (int i = 0; i < THREADS; i++)
        sem_wait(&ready);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "ends";
    if (argc > 2)
        rounds = atol(argv[2]);
    sem_init(&ready, 0, 0);
    if (strcmp(mode, "ends") == 0)
        all_ends();
    if (strcmp(mode, "stacks") == 0)
        own_stacks();
    if (strcmp(mode, "waiting") == 0)
        start_all(waits);
    if (strcmp(mode, "running") == 0)
        start_all(stays);
    HIT();
    return 7;
}
