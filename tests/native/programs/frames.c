/* Exits deep in calls; every function prints where it will return to. */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "unit.h"

#define NOINLINE __attribute__((noinline))

UNIT('f', 2);

static const char *mode;
static volatile int sink;

static void say(void *address) {
    printf("%lx\n", (unsigned long)address);
    fflush(stdout);
}

/* The only function whose own call is not printed exactly: its range is. */
NOINLINE void the_end(int status) {
    STEP(0);
    printf("%lx\n", (unsigned long)the_end);
    say(__builtin_return_address(0));
    if (strcmp(mode, "exit") == 0 || strcmp(mode, "thread") == 0 || strncmp(mode, "signal", 6) == 0)
        exit(status);
    if (strcmp(mode, "_exit") == 0)
        _exit(status);
    if (strcmp(mode, "_Exit") == 0)
        _Exit(status);
    if (strcmp(mode, "quick_exit") == 0)
        quick_exit(status);
    if (strcmp(mode, "dump") == 0) {
        trodden_dump();
        kill(getpid(), SIGKILL);
    }
}

static void on_signal(int number) {
    (void)number;
    the_end(3);
    sink++;
}

NOINLINE int third(int depth) {
    say(__builtin_return_address(0));
    if (strncmp(mode, "signal", 6) == 0) {
        sigset_t set;
        raise(SIGUSR1);
        sigemptyset(&set);
        sink = sigismember(&set, SIGUSR1);
    }
    the_end(depth);
    return sink + 1;
}

NOINLINE int second(int depth) {
    char *room = alloca((size_t)depth * 40);
    room[depth] = (char)depth;
    say(__builtin_return_address(0));
    int result = third(depth + room[depth] - 1);
    return result + room[depth];
}

NOINLINE int first(int depth) {
    say(__builtin_return_address(0));
    return second(depth) + 1;
}

NOINLINE int descend(int depth) {
    if (depth == 0)
        exit(3);
    return descend(depth - 1) + sink;
}

static void *thread(void *argument) {
    sink = first(2);
    return argument;
}

int main(int argc, char **argv) {
    mode = argc > 1 ? argv[1] : "exit";
    if (strcmp(mode, "return") == 0)
        return 3;
    if (strcmp(mode, "deep") == 0)
        return descend(atoi(argv[2])) + sink;
    if (strncmp(mode, "signal", 6) == 0) {
        struct sigaction action = {0};
        action.sa_handler = on_signal;
        if (strcmp(mode, "signal-stack") == 0) {
            stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
            sigaltstack(&stack, NULL);
            action.sa_flags = SA_ONSTACK;
        }
        sigaction(SIGUSR1, &action, NULL);
    }
    if (strcmp(mode, "thread") == 0) {
        pthread_t id;
        pthread_create(&id, NULL, thread, NULL);
        pthread_join(id, NULL);
    }
    return first(2) * 0 + 50;
}
