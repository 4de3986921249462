/* What sanitizers intercept, and so does the runtime: jumps, signals, threads, processes. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf target;

static int descend(int depth) {
    char local[100];
    memset(local, depth, sizeof local);
    if (depth == 0)
        longjmp(target, 1);
    return descend(depth - 1) + local[5];
}

static void handle(int number) {
    (void)number;
    (void)!write(1, "signal\n", 7);
}

static void *work(void *argument) {
    int *sum = argument;
    for (int i = 0; i < 10; i++)
        *sum += i;
    return argument;
}

int main(int argc, char **argv) {
    volatile int jumps = 0;
    for (volatile int i = 0; i < 3; i++)
        if (setjmp(target))
            jumps++;
        else
            descend(5);
    signal(SIGUSR1, handle);
    raise(SIGUSR1);
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    pthread_t thread;
    int sum = 0;
    pthread_create(&thread, NULL, work, &sum);
    pthread_join(thread, NULL);
    printf("%d %d %s\n", jumps, sum, argv[0] ? "ran" : "");
    fflush(stdout);
    if (argc > 1) {
        char *freed = malloc(4);
        free(freed);
        *(volatile char *)freed = 1;
    }
    return 0;
}
