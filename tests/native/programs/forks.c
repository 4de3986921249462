/* Forks while another thread counts; prints where the frames that are active at the fork return to. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

UNIT('k', 3);

static int ready;

static void *other(void *argument) {
    for (int i = 0; i < 40; i++)
        STEP(2);
    __atomic_store_n(&ready, 1, __ATOMIC_SEQ_CST);
    for (;;)
        pause();
    return argument;
}

static void *ended(void *argument) {
    for (int i = 0; i < 30; i++)
        STEP(2);
    return argument;
}

__attribute__((noinline)) static pid_t split(void) {
    pid_t child = fork();
    if (child)
        printf("%d %lx\n", child, (unsigned long)__builtin_return_address(0));
    return child;
}

int main(void) {
    pthread_t id;
    int status;
    pthread_create(&id, NULL, ended, NULL);
    pthread_join(id, NULL);
    pthread_create(&id, NULL, other, NULL);
    while (!__atomic_load_n(&ready, __ATOMIC_SEQ_CST))
        usleep(1000);
    for (int i = 0; i < 5; i++)
        STEP(0);
    pid_t child = split();
    if (child == 0) {
        for (int i = 0; i < 3; i++)
            STEP(1);
        pthread_create(&id, NULL, ended, NULL);
        pthread_join(id, NULL);
        _exit(21);
    }
    waitpid(child, &status, 0);
    pid_t brief = vfork();
    if (brief == 0) {
        STEP(1);
        _exit(0);
    }
    waitpid(brief, NULL, 0);
    for (int i = 0; i < 2; i++)
        STEP(0);
    return WEXITSTATUS(status);
}
