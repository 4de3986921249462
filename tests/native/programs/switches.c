/* Contexts of makecontext that take turns: some return, some are abandoned, one lies in a frame of main. */
#define BOOKKEEPER
#define BOOK 0
#include "books.h"
#include <stdlib.h>
#include <ucontext.h>

enum { CONTEXTS = 4, ROOM = 1 << 16 };

static ucontext_t boss, made[CONTEXTS];
static volatile int turns[CONTEXTS];
static volatile long sink;
#define BACK() (sink != -77)

__attribute__((noinline)) static void give_way(int who) {
    HIT();
    turns[who]++;
    swapcontext(&made[who], &boss);
    if (BACK())
        HIT();
}

__attribute__((noinline)) static int deep(int who, int depth) {
    HIT();
    if (depth == 0) {
        HIT();
        give_way(who);
        if (BACK())
            HIT();
        return 1;
    }
    int got = deep(who, depth - 1);
    if (BACK())
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
        if (BACK())
            HIT();
    }
    HIT();
    turns[who] += 100;
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
            if (turns[i] < 100) {
                HIT();
                swapcontext(&boss, &made[i]);
                if (BACK())
                    HIT();
            }
        }
    /* The stack of one that will never go on is used for something else. */
    for (int i = 0; i < ROOM; i++)
        ((volatile char *)made[2].uc_stack.ss_sp)[i] = 0;
    HIT();
    return again(4) + turns[0] + turns[1] - 200 + turns[3];
}
