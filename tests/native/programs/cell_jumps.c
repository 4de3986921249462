/* Jumps over functions with cells, which then says how often each of them was left with what in its cell:
 * ROUNDS THREADS DISTINCT. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "cells.h"
#include "unit.h"

#define APART __attribute__((noinline))

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

APART static void innermost(struct run *run) {
    places[0] = __builtin_return_address(0);
    longjmp(run->back, 1);
}

APART static long plain(struct run *run) {
    volatile long cell;
    CELL(cell);
    places[1] = __builtin_return_address(0);
    cell = run->number;
    innermost(run);
    return cell + sink;
}

APART static long aligned(struct run *run) {
    volatile long cell;
    _Alignas(64) volatile char room[64];
    CELL(cell);
    places[2] = __builtin_return_address(0);
    room[run->number & 63] = 1;
    cell = -run->number;
    long got = plain(run);
    return got + cell + room[7];
}

APART static long outer(struct run *run) {
    volatile long cell;
    volatile long others[20];
    CELL(cell);
    places[3] = __builtin_return_address(0);
    others[run->number % 20] = 1;
    cell = run->number * 2;
    long got = aligned(run);
    return got + cell + others[3];
}

/* What the frames of plain, aligned, outer and of this function hold when they are left. */
static void *jump(void *argument) {
    struct run run;
    volatile long cell;
    CELL(cell);
    for (volatile long i = 0; i < rounds; i++) {
        run.number = i % distinct;
        cell = run.number + 5;
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
