/* Threads that count until they are killed; the first argument is their number. */
#include "mapped_counts.h"

#include <stdio.h>

static volatile int sink;

NOINLINE static int step(int n) {
    if (n % 5 == 0) {
        HIT();
        return 1;
    }
    HIT();
    return n & 3;
}

NOINLINE static int lap(int n) {
    int sum = 0;
    for (int i = 0; i < 7; i++) {
        HIT();
        sum += step(n + i);
        if (sum > 9) {
            HIT();
            sum -= 4;
        }
    }
    HIT();
    return sum;
}

static void *run(void *argument) {
    for (int i = 0;; i++) {
        HIT();
        sink = lap(i);
    }
    return argument;
}

int main(int argc, char **argv) {
    pthread_t id;
    for (int i = 1; i < (argc > 1 ? atoi(argv[1]) : 1); i++) {
        HIT();
        pthread_create(&id, NULL, run, NULL);
    }
    puts("up");
    fflush(stdout);
    run(NULL);
}
