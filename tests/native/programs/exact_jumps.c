/* Jumps out of functions: over no, one and many frames, from signal handlers and callbacks, in threads. */
#define FILE_NUMBER 0
#define COUNTS_OWNER
#include "reference_counts.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline))

static jmp_buf env;
static sigjmp_buf signal_place;
static volatile int sink;

/* The code behind a call is a block of its own, so that its line tells whether the call returned. */
#define RETURNED() (sink != -77)

/* Not in tail position: every result is used. */
static NOINLINE int descend(int levels, int value) {
    HIT();
    if (levels == 0) {
        HIT();
        longjmp(env, value);
    }
    int below = descend(levels - 1, value);
    if (RETURNED()) {
        HIT();
        sink += below;
    }
    return sink;
}

static NOINLINE int over(int levels) {
    HIT();
    if (setjmp(env) == 0) {
        HIT();
        if (levels < 0) {
            HIT();
            longjmp(env, 1);
        }
        if (descend(levels, 3) > 1000) {
            HIT();
        }
        return 0;
    }
    HIT();
    return 1;
}

/* The code behind setjmp runs once more each time that setjmp returns. */
static NOINLINE int again_and_again(int times) {
    volatile int tries = 0;
    HIT();
    int got = setjmp(env);
    HIT();
    sink = got;
    if (tries < times) {
        HIT();
        tries++;
        if (tries % 2) {
            HIT();
            descend(tries, tries);
        }
        longjmp(env, tries);
    }
    return tries;
}

static NOINLINE int in_a_loop(int iterations) {
    int caught = 0;
    for (volatile int i = 0; i < iterations; i++) {
        HIT();
        volatile int before = caught;
        switch (setjmp(env)) {
        case 0:
            HIT();
            if (i % 3 == 0) {
                HIT();
                continue;
            }
            descend(i % 4, i % 3);
            break;
        case 1:
            HIT();
            caught = before + 1;
            break;
        default:
            HIT();
            caught = before + 10;
        }
    }
    HIT();
    return caught;
}

static NOINLINE int inner(jmp_buf outer, int value) {
    jmp_buf own;
    HIT();
    int got = setjmp(own);
    if (got == 0) {
        HIT();
        if (value % 2) {
            HIT();
            longjmp(own, 5);
        }
        longjmp(outer, value + 1);
    }
    HIT();
    if (value > 2) {
        HIT();
        longjmp(outer, value + 1);
    }
    return got;
}

static NOINLINE int nested(int value) {
    jmp_buf outer;
    HIT();
    int got = setjmp(outer);
    if (got == 0) {
        HIT();
        got = inner(outer, value);
        if (RETURNED()) {
            HIT();
            sink = got;
        }
    } else {
        HIT();
    }
    return sink + got;
}

static void handle(int number) {
    HIT();
    siglongjmp(signal_place, number);
}

static NOINLINE int by_signal(int depth) {
    HIT();
    if (depth) {
        int got = by_signal(depth - 1);
        if (RETURNED()) {
            HIT();
        }
        return got + sink;
    }
    if (raise(SIGUSR1)) {
        HIT();
    }
    return sink;
}

static NOINLINE int signals(int times) {
    volatile int caught = 0;
    signal(SIGUSR1, handle);
    for (volatile int i = 0; i < times; i++) {
        HIT();
        if (sigsetjmp(signal_place, 1) == 0) {
            HIT();
            sink = by_signal(i % 3);
        } else {
            HIT();
            caught++;
        }
    }
    return caught;
}

static volatile int compared;

static int compare(const void *left, const void *right) {
    HIT();
    int a = *(const int *)left, b = *(const int *)right;
    if (++compared % 16 == 0) {
        HIT();
        longjmp(env, a < b ? 1 : 2);
    }
    if (a < b) {
        HIT();
        return -1;
    }
    return a > b;
}

static NOINLINE int sorting(int times) {
    int numbers[32];
    volatile int stopped = 0;
    for (volatile int i = 0; i < times; i++) {
        for (int k = 0; k < 32; k++)
            numbers[k] = (k * 37 + i) % 101;
        HIT();
        if (setjmp(env) == 0) {
            HIT();
            qsort(numbers, i % 2 ? 32 : 4, sizeof *numbers, compare);
        } else {
            HIT();
            stopped++;
        }
    }
    return stopped;
}

static void *in_thread(void *unused) {
    HIT();
    sink = over(2) + again_and_again(4);
    return unused;
}

/* To a frame that has grown since: its stack pointer has changed. */
static NOINLINE int grown(int size) {
    HIT();
    if (setjmp(env) == 0) {
        HIT();
        volatile char *more = __builtin_alloca((size_t)size);
        more[0] = 1;
        sink = more[0];
        descend(1, size);
    }
    HIT();
    return size;
}

int main(void) {
    HIT();
    int total = over(-1) + over(0) + over(1) + over(3) + over(10);
    for (int i = 0; i < 5; i++) {
        HIT();
        total += over(50 + i);
    }
    total += again_and_again(9);
    total += in_a_loop(20) > 0;
    for (int value = 0; value < 6; value++) {
        HIT();
        total += nested(value) > 0;
    }
    total += signals(7);
    total += sorting(6);
    total += grown(4000) == 4000;
    for (int i = 0; i < 3; i++) {
        HIT();
        pthread_t thread;
        if (pthread_create(&thread, NULL, in_thread, NULL) == 0)
            pthread_join(thread, NULL);
    }
    HIT();
    return total;
}
