/* Stacks of makecontext, between which setjmp and longjmp switch. */
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <setjmp.h>
#include <ucontext.h>

enum { CONTEXTS = 3, ROOM = 1 << 16 };

static ucontext_t creator, made[CONTEXTS];
static char stacks[CONTEXTS][ROOM];
static jmp_buf boss, worker[CONTEXTS], created;
static volatile int iterations[CONTEXTS];
static volatile long sink;
#define RETURNED() (sink != -77)

__attribute__((noinline)) static void give_way(int who) {
    HIT();
    iterations[who]++;
    if (_setjmp(worker[who]) == 0) {
        HIT();
        _longjmp(boss, 1);
    }
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
    return got + 1;
}

static void body(int who) {
    HIT();
    if (_setjmp(worker[who]) == 0) {
        HIT();
        _longjmp(created, 1);
    }
    for (int i = 0; i < 40; i++) {
        HIT();
        deep(who, i + who);
        if (RETURNED())
            HIT();
    }
}

__attribute__((noinline)) static void create(int who) {
    HIT();
    getcontext(&made[who]);
    made[who].uc_stack.ss_sp = stacks[who];
    made[who].uc_stack.ss_size = ROOM;
    made[who].uc_link = NULL;
    makecontext(&made[who], (void (*)(void))body, 1, who);
    if (_setjmp(created) == 0) {
        HIT();
        swapcontext(&creator, &made[who]);
    }
    HIT();
}

__attribute__((noinline)) static void resume(int who) {
    HIT();
    if (_setjmp(boss) == 0) {
        HIT();
        _longjmp(worker[who], 1);
    }
    HIT();
}

int main(void) {
    HIT();
    for (int i = 0; i < CONTEXTS; i++)
        create(i);
    for (int round = 0; round < 5; round++)
        for (int i = 0; i < CONTEXTS; i++) {
            HIT();
            resume(i);
        }
    HIT();
    return iterations[0] + iterations[1] + iterations[2];
}
