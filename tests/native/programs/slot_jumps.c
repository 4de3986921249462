/* Jumps over functions with path-register slots, and prints how often each was left with which value in its slot:
 * ROUNDS THREADS DISTINCT. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "register_slots.h"
#include "unit.h"

#define NOINLINE __attribute__((noinline))

UNIT('j', 1);

enum { LEVELS = 3 };

static long rounds, distinct;
static volatile long sink;
static void *places[LEVELS + 1];
static long totals[1 << 20];

struct run {
    jmp_buf back;
    long number;
};

NOINLINE static void innermost(struct run *run) {
    places[0] = __builtin_return_address(0);
    longjmp(run->back, 1);
}

NOINLINE static long plain(struct run *run) {
    volatile long slot;
    SLOT(slot);
    places[1] = __builtin_return_address(0);
    slot = run->number;
    innermost(run);
    return slot + sink;
}

NOINLINE static long aligned(struct run *run) {
    volatile long slot;
    _Alignas(64) volatile char room[64];
    SLOT(slot);
    places[2] = __builtin_return_address(0);
    room[run->number & 63] = 1;
    slot = -run->number;
    long got = plain(run);
    return got + slot + room[7];
}

NOINLINE static long outer(struct run *run) {
    volatile long slot;
    volatile long others[20];
    SLOT(slot);
    places[3] = __builtin_return_address(0);
    others[run->number % 20] = 1;
    slot = run->number * 2;
    long got = aligned(run);
    return got + slot + others[3];
}

/* What the frames of plain, aligned, outer and of this function hold when they are left. */
static void *jump(void *argument) {
    struct run run;
    volatile long slot;
    SLOT(slot);
    for (volatile long i = 0; i < rounds; i++) {
        run.number = i % distinct;
        slot = run.number + 5;
        if (setjmp(run.back) == 0)
            sink = outer(&run);
        else
            __atomic_fetch_add(&totals[run.number], 1, __ATOMIC_RELAXED);
    }
    return argument;
}

int main(int argc, char **argv) {
    long count = argc > 3 ? atol(argv[2]) : 1;
    pthread_t ids[16];
    rounds = atol(argv[1]);
    distinct = atol(argv[3]);
    STEP(0);
    for (long i = 1; i < count; i++)
        pthread_create(&ids[i], NULL, jump, NULL);
    jump(NULL);
    for (long i = 1; i < count; i++)
        pthread_join(ids[i], NULL);
    for (long i = 0; i < distinct; i++)
        if (totals[i]) {
            printf("%lx %lx %ld\n", (long)places[0], i, totals[i]);
            printf("%lx %lx %ld\n", (long)places[1], -i, totals[i]);
            printf("%lx %lx %ld\n", (long)places[2], i * 2, totals[i]);
            printf("%lx %lx %ld\n", (long)places[3], i + 5, totals[i]);
        }
    return 0;
}
