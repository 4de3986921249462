/* Contexts of makecontext that alternate: some return, some are abandoned, one lies in a frame of main. */
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <stdlib.h>
#include <ucontext.h>

enum { CONTEXTS = 4, ROOM = 1 << 16 };

static ucontext_t boss, made[CONTEXTS];
static volatile int iterations[CONTEXTS];
static volatile long sink;
#define RETURNED() (sink != -77)

__attribute__((noinline)) static void give_way(int who) {
    HIT();
    iterations[who]++;
    swapcontext(&made[who], &boss);
    if (RETURNED())
        HIT();
}

__attribute__((noinline)) static int deep(int who, int depth) {
    HIT();
    if (depth == 0) {
        HIT();
        give_way(who);
        if (RETURNED())
            HIT();
        return 1;
    }
    int got = deep(who, depth - 1);
    if (RETURNED())
        HIT();
    if (got & 1)
        got += 2;
    return got;
}

static void body(int who, int rounds) {
    HIT();
    for (int i = 0; i < rounds; i++) {
        HIT();
        deep(who, i + who);
        if (RETURNED())
            HIT();
    }
    HIT();
    iterations[who] += 100;
}

__attribute__((noinline)) static int again(int most) {
    ucontext_t here;
    volatile int times = 0;
    HIT();
    getcontext(&here);
    HIT();
    times++;
    if (times < most) {
        HIT();
        setcontext(&here);
    }
    HIT();
    return times;
}

int main(void) {
    char local[ROOM];
    HIT();
    for (int i = 0; i < CONTEXTS; i++) {
        HIT();
        getcontext(&made[i]);
        made[i].uc_stack.ss_sp = i == 3 ? local : malloc(ROOM);
        made[i].uc_stack.ss_size = ROOM;
        made[i].uc_link = &boss;
        makecontext(&made[i], (void (*)(void))body, 2, i, i < 2 ? 3 : 50);
    }
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < CONTEXTS; i++) {
            HIT();
            if (iterations[i] < 100) {
                HIT();
                swapcontext(&boss, &made[i]);
                if (RETURNED())
                    HIT();
            }
        }
    /* The stack of one that is never resumed is used for something else. */
    for (int i = 0; i < ROOM; i++)
        ((volatile char *)made[2].uc_stack.ss_sp)[i] = 0;
    HIT();
    return again(4) + iterations[0] + iterations[1] - 200 + iterations[3];
}
