/* Sparse paths from everywhere.  The program prints at its end what has to have been counted: KEY VALUE AMOUNT. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

UNIT('n', 1);

#define COUNT(key, value, amount) __trodden_note(&unit, key, value, amount)

static volatile unsigned long alarms, nested;
static int running;

static void say(uint64_t key, uint64_t value, uint64_t amount) {
    if (amount)
        printf("%llu %llu %llu\n", (unsigned long long)key, (unsigned long long)value, (unsigned long long)amount);
}

/* Every value below `values`, `rounds` times. */
static void note_all(uint64_t key, uint64_t values, uint64_t rounds) {
    for (uint64_t i = 0; i < rounds; i++)
        for (uint64_t k = 0; k < values; k++)
            COUNT(key, k, 1);
}

static void say_all(uint64_t key, uint64_t values, uint64_t amount) {
    for (uint64_t k = 0; k < values; k++)
        say(key, k, amount);
}

static void *work(void *argument) {
    note_all(1, 1000, 3);
    COUNT(2, (uintptr_t)argument % 10, 5);
    return argument;
}

static void *stay(void *argument) {
    work(argument);
    __atomic_fetch_add(&running, 1, __ATOMIC_SEQ_CST);
    for (;;)
        pause();
}

static void threads(long count, void *(*start)(void *), int joined) {
    pthread_t ids[64];
    for (long i = 0; i < count; i++)
        pthread_create(&ids[i], NULL, start, (void *)i);
    for (long i = 0; i < count && joined; i++)
        pthread_join(ids[i], NULL);
    while (!joined && __atomic_load_n(&running, __ATOMIC_SEQ_CST) < count)
        usleep(1000);
}

/* Counts the entry that is being counted below it, and new ones. */
static void on_alarm(int number) {
    unsigned long now = ++alarms;
    COUNT(3, now % 512, 1);
    COUNT(4, now, 1);
    if (now % 8 == 0 && number == SIGALRM) {
        nested++;
        raise(SIGUSR1);
    }
}

static void on_user(int number) {
    COUNT(5, nested, (uint64_t)number);
    for (uint64_t k = 0; k < 100; k++)
        COUNT(6, nested % 64 * 100 + k, 1);
}

static void signals(void) {
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    static uint64_t rounds;
    signal(SIGALRM, on_alarm);
    signal(SIGUSR1, on_user);
    setitimer(ITIMER_REAL, &often, NULL);
    for (; alarms < 3000; rounds++)
        for (uint64_t k = 0; k < 512; k++)
            COUNT(3, k, 1);
    /* New entries all the time: the table grows below the signal handler. */
    for (uint64_t k = 0; k < 300000; k++)
        COUNT(7, k, 2);
    setitimer(ITIMER_REAL, &never, NULL);
    uint64_t more[512] = {0}, often_nested[64] = {0};
    for (unsigned long i = 1; i <= alarms; i++)
        more[i % 512]++;
    for (uint64_t k = 0; k < 512; k++)
        say(3, k, rounds + more[k]);
    for (unsigned long i = 1; i <= alarms; i++)
        say(4, i, 1);
    for (unsigned long i = 1; i <= nested; i++) {
        say(5, i, SIGUSR1);
        often_nested[i % 64]++;
    }
    for (uint64_t i = 0; i < 64; i++)
        for (uint64_t k = 0; k < 100; k++)
            say(6, i * 100 + k, often_nested[i]);
    say_all(7, 300000, 2);
}

static void children(void) {
    note_all(1, 700, 2);
    fflush(stdout);
    if (fork() == 0) {
        COUNT(1, 5, 3);
        COUNT(8, 8, 8);
        _exit(4);
    }
    wait(NULL);
    note_all(1, 700, 1);
    say_all(1, 700, 3);
}

static void libraries(char **paths) {
    note_all(1, 10, 1);
    say_all(1, 10, 1);
    for (int i = 0; paths[i]; i++) {
        void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        void (*count)(uint64_t, uint64_t) = NULL;
        if (library)
            *(void **)&count = dlsym(library, "note_values");
        if (!count)
            abort();
        count(1, 1000);
        dlclose(library);
    }
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    STEP(0);
    COUNT(UINT64_C(1) << 63 | 17, UINT64_MAX, UINT64_C(1) << 40);
    say(UINT64_C(1) << 63 | 17, UINT64_MAX, UINT64_C(1) << 40);
    if (strcmp(mode, "many") == 0) {
        note_all(9, 100000, 3);
        say_all(9, 100000, 3);
    }
    if (strcmp(mode, "join") == 0) {
        for (int i = 0; i < 30; i++)
            threads(10, work, 1);
        say_all(1, 1000, 900);
        say_all(2, 10, 150);
    }
    if (strcmp(mode, "running") == 0) {
        threads(10, stay, 0);
        say_all(1, 1000, 30);
        say_all(2, 10, 5);
    }
    if (strcmp(mode, "signals") == 0)
        signals();
    if (strcmp(mode, "fork") == 0)
        children();
    if (strcmp(mode, "libraries") == 0)
        libraries(argv + 2);
    return 0;
}
