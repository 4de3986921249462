/* A little of everything that leaves a trace in a raw file. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static jmp_buf back;
static volatile int sink;

static int down(int depth) {
    if (depth == 0)
        longjmp(back, 1);
    return down(depth - 1) + 1;
}

static int pick(int x) {
    switch (x % 4) {
    case 0:
        return x;
    case 1:
        return x / 2;
    case 2:
        return -x;
    default:
        return x % 2 ? 7 : 9;
    }
}

static void *work(void *times) {
    for (int i = 0; i < *(int *)times; i++)
        sink += pick(i);
    return 0;
}

/* 100 and more: killed; 200 and more: ended by a fault in the middle of a block. */
static void leave(int status, int times) {
    if (times >= 200)
        *(volatile int *)0 = times;
    if (times >= 100)
        kill(getpid(), SIGKILL);
    if (sink != 12345678)
        exit(status);
}

int main(int argc, char **argv) {
    int times = argc > 1 ? atoi(argv[1]) : 3;
    int asked = times;
    pthread_t thread;
    pthread_create(&thread, 0, work, &times);
    pthread_join(thread, 0);
    if (!setjmp(back))
        sink += down(times);
    pid_t child = fork();
    if (child)
        waitpid(child, 0, 0);
    while (times-- > 0)
        sink += pick(times) && times % 3 ? 1 : 2;
    leave(3, asked);
    return 0;
}
