/* Truncates its live file again and again, in the middle of everything that the runtime keeps there: sparse paths, call
 * paths, last paths, non-local exits, in several threads and in a forked child.  Prints whether it computed right.  With
 * an argument it has a handler of SIGBUS, which must not be called. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, ROUNDS = 2000 };

static jmp_buf targets[THREADS];

#define TEST(bit) (x >> (bit) & 1 ? sum += bit : 0)
#define EIGHT(first)                                                                                           \
    TEST(first), TEST(first + 1), TEST(first + 2), TEST(first + 3), TEST(first + 4), TEST(first + 5),          \
        TEST(first + 6), TEST(first + 7)

__attribute__((noinline)) static unsigned many_paths(unsigned x) {
    unsigned sum = 0;
    EIGHT(0), EIGHT(8), EIGHT(16);
    return sum;
}

static void jump(int number, int depth) {
    if (depth)
        jump(number, depth - 1);
    else
        longjmp(targets[number], 1);
}

__attribute__((noinline)) static unsigned leaf(unsigned x) { return x & 3 ? 1 : 2; }

__attribute__((noinline)) static unsigned recursive(unsigned depth) {
    return depth ? recursive(depth - 1) + leaf(depth) : 0;
}

static unsigned (*const functions[])(unsigned) = {leaf, recursive};

static void bus_error(int number) { _exit(number); }

static void *work(void *argument) {
    int number = (int)(long)argument;
    unsigned sum = 0;
    for (unsigned i = 0; i < ROUNDS; i++) {
        errno = EDOM;
        sum += many_paths(i * 2654435761u) + functions[i & 1](i & 15);
        if (i % 10 == 0 && !setjmp(targets[number]))
            jump(number, i % 7);
        if (errno != EDOM)
            exit(1);
        if (number == 0 && i % 500 == 250 && truncate(getenv("TRODDEN_FILE"), i % 1000 == 250 ? 0 : 5000) != 0)
            perror("truncate");
    }
    return (void *)(long)sum;
}

int main(int count, char **arguments) {
    (void)arguments;
    if (count > 1)
        signal(SIGBUS, bus_error);
    pthread_t threads[THREADS];
    void *result;
    unsigned long sums[THREADS];
    int status;
    for (long i = 1; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    sums[0] = (unsigned long)work(NULL);
    for (int i = 1; i < THREADS; i++) {
        pthread_join(threads[i], &result);
        sums[i] = (unsigned long)result;
    }
    if (fork() == 0)
        exit((unsigned long)work((void *)1) != sums[0]);
    wait(&status);
    puts(status == 0 && sums[1] == sums[0] && sums[2] == sums[0] && sums[3] == sums[0] ? "right" : "wrong");
    return 0;
}
