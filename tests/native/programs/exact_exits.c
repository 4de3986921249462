/* exit three calls deep, with unfinished loops in the callers. */
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <stdlib.h>
#include <string.h>

static volatile int sink;

/* The code behind a call is a block of its own, so that its line tells whether the call returned. */
#define RETURNED() (sink != -77)

static void at_end(void) {
    HIT();
    sink = 1;
}

__attribute__((noinline)) static void third(int n, int status) {
    HIT();
    if (n == 3) {
        HIT();
        exit(status);
    }
    sink = n;
    HIT();
}

__attribute__((noinline)) static int second(int n, int status) {
    for (int i = 0; i < 5; i++) {
        HIT();
        third(n + i, status);
        if (RETURNED())
            HIT();
    }
    HIT();
    return n;
}

__attribute__((noinline)) static int first(int n, int status) {
    HIT();
    int result = n < 0 ? 0 : second(n, status);
    if (RETURNED())
        HIT();
    return result;
}

int main(int argc, char **argv) {
    int status = argc > 1 ? atoi(argv[1]) : 0;
    atexit(at_end);
    for (int i = -4; i < 8; i += 2) {
        HIT();
        sink = first(i * 10, status);
        if (RETURNED())
            HIT();
        if (i == 2) {
            HIT();
            sink = first(-1, status) + first(1, status);
            if (RETURNED())
                HIT();
        }
    }
    return 1;
}
