/* Call paths from everywhere.  The program prints at its end what has to have been counted: a path, as the numbers of
 * functions with semicolons between, and how often; or, for a function as a whole, how often it was called. */
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

#include "call_path_probes.h"

UNIT('c', 1);

static int running;
static volatile unsigned long totals[FUNCTIONS], alarms, nested;

/* 1 calls 2 `times` times, which each time calls 3, 1 recursively, and 4. */
static void call_all(int times) {
    struct trodden_call_node *outside = enter(1);
    for (int i = 0; i < times; i++) {
        struct trodden_call_node *first = enter(2);
        leave(enter(3));
        struct trodden_call_node *second = enter(1);
        leave(enter(4));
        leave(second);
        leave(first);
    }
    leave(outside);
}

static void say_walks(const char *before, long rounds, long times) {
    printf("%s1 %ld again\n%s1;2 %ld\n%s1;2;3 %ld\n%s1;4 %ld\n", before, rounds + times, before, times, before, times,
           before, times);
}

static void *work(void *argument) {
    call_all(20);
    return argument;
}

static void *stay(void *argument) {
    enter(5);
    work(argument);
    __atomic_fetch_add(&running, 1, __ATOMIC_SEQ_CST);
    for (;;)
        pause();
}

/* Exits in the middle of a path, where the next thread must not start. */
static void *stop(void *argument) {
    enter(6);
    enter(7);
    pthread_exit(argument);
}

static void threads(long count, void *(*start)(void *), int joined) {
    pthread_t ids[16];
    for (long i = 0; i < count; i++)
        pthread_create(&ids[i], NULL, start, (void *)i);
    for (long i = 0; i < count && joined; i++)
        pthread_join(ids[i], NULL);
    while (!joined && __atomic_load_n(&running, __ATOMIC_SEQ_CST) < count)
        usleep(1000);
}

/* Every function calls all others. */
static void many(unsigned functions) {
    for (unsigned i = 10; i < functions; i++) {
        struct trodden_call_node *first = enter(i);
        for (unsigned k = 10; k < functions; k++)
            leave(enter(k));
        leave(first);
    }
    for (unsigned i = 10; i < functions; i++) {
        printf("%u 2 again\n", i);
        for (unsigned k = 10; k < functions; k++)
            if (k != i)
                printf("%u;%u 1\n", i, k);
    }
}

static struct trodden_call_node *counted(unsigned function) {
    totals[function]++;
    return enter(function);
}

static void on_alarm(int number) {
    unsigned long now = ++alarms;
    struct trodden_call_node *first = counted(800), *second = counted(801 + now % 100);
    if (now % 8 == 0 && number == SIGALRM) {
        nested++;
        raise(SIGUSR1);
    }
    leave(second);
    leave(first);
}

static void on_user(int number) {
    struct trodden_call_node *first = counted(901 + nested % 50);
    leave(counted(10 + (unsigned)number + nested % 500));
    leave(first);
}

/* New paths all the time, below signal handlers that take paths of their own. */
static void signals(void) {
    struct itimerval often = {{0, 100}, {0, 100}}, never = {{0, 0}, {0, 0}};
    unsigned long plain[FUNCTIONS] = {0};
    signal(SIGALRM, on_alarm);
    signal(SIGUSR1, on_user);
    setitimer(ITIMER_REAL, &often, NULL);
    for (unsigned long round = 0; alarms < 2000 || round < 300000; round++) {
        unsigned function[] = {10 + round % 7, 20 + round / 7 % 400, 500 + round * 31 % 290};
        struct trodden_call_node *before[3];
        for (int i = 0; i < 3; i++) {
            plain[function[i]]++;
            before[i] = enter(function[i]);
        }
        for (int i = 2; i >= 0; i--)
            leave(before[i]);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    for (unsigned i = 0; i < FUNCTIONS; i++)
        if (plain[i] + totals[i])
            printf("%u %lu\n", i, plain[i] + totals[i]);
}

/* The child starts with zero counts, at 8;9. */
static void children(void) {
    struct trodden_call_node *first = enter(8), *second = enter(9);
    leave(enter(3));
    fflush(stdout);
    if (fork() == 0) {
        call_all(2);
        leave(second);
        leave(enter(3));
        _exit(4);
    }
    wait(NULL);
    call_all(1);
    leave(second);
    leave(first);
    printf("8 1\n8;9 1\n8;9;3 1\n");
    say_walks("8;9;", 1, 1);
}

static void libraries(char **paths) {
    struct trodden_call_node *first = enter(8);
    for (int i = 0; paths[i]; i++) {
        void *library = dlopen(paths[i], RTLD_NOW | RTLD_LOCAL);
        void (*call)(int) = NULL;
        if (library)
            *(void **)&call = dlsym(library, "call_in_library");
        if (!call)
            abort();
        call(10);
        leave(enter(9));
        dlclose(library);
    }
    leave(first);
    leave(enter(9));
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    STEP(0);
    MAKE_KEYS();
    if (strcmp(mode, "single") == 0) {
        call_all(3);
        say_walks("", 1, 3);
    }
    if (strcmp(mode, "many") == 0)
        many(FUNCTIONS);
    if (strcmp(mode, "join") == 0) {
        for (int i = 0; i < 30; i++)
            threads(10, i % 2 ? stop : work, 1);
        say_walks("", 150, 3000);
        printf("6 150\n6;7 150\n");
    }
    if (strcmp(mode, "running") == 0) {
        threads(10, stay, 0);
        say_walks("5;", 10, 200);
        printf("5 10\n");
    }
    if (strcmp(mode, "signals") == 0)
        signals();
    if (strcmp(mode, "fork") == 0)
        children();
    if (strcmp(mode, "libraries") == 0)
        libraries(argv + 2);
    return 0;
}
