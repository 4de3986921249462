/* Functions of many shapes, each with a path-register slot.  At the end, or before a jump, every active one prints where
 * it will return to and what its slot holds. */
#define _GNU_SOURCE
#include <alloca.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "register_slots.h"
#include "unit.h"

#define NOINLINE __attribute__((noinline))

UNIT('c', 1);

enum { MOST = 64 };

static const char *mode;
static volatile long sink;
static long base;

/* The active calls, outermost first. */
static __thread struct {
    void *back;
    long slot;
} active[MOST];
static __thread int depth;
static __thread long calling; /* what the slot of the calling function holds */

#define ENTERED() (active[depth].back = __builtin_return_address(0), active[depth++].slot = calling)
#define CALLS(value) (slot = base + (value), calling = slot)
#define DONE() (depth--)

static void report(void) {
    while (depth--)
        printf("%lx %lx\n", (unsigned long)active[depth].back, (unsigned long)active[depth].slot);
    fflush(stdout);
}

static void on_signal(int number) {
    sink = number;
    report();
    _exit(3);
}

/* It is interrupted; where, is not printed exactly. */
NOINLINE static void trap(void) {
    volatile long slot;
    SLOT(slot);
    ENTERED();
    CALLS(77);
    active[depth].back = (void *)trap;
    active[depth++].slot = calling;
    __builtin_trap();
}

NOINLINE static void the_end(void) {
    ENTERED();
    calling = 0;
    if (strcmp(mode, "trap") == 0)
        trap();
    if (strcmp(mode, "raise") == 0) {
        raise(SIGUSR1);
        sink++;
    }
    if (strcmp(mode, "fork") == 0) {
        if (fork() == 0) {
            report();
            _exit(4);
        }
        wait(NULL);
    }
    report();
    if (strcmp(mode, "_exit") == 0)
        _exit(3);
    exit(3);
}

NOINLINE static long recursive(int n) {
    volatile long slot;
    SLOT(slot);
    ENTERED();
    CALLS(n * 1000);
    if (n == 0)
        the_end();
    else
        sink += recursive(n - 1);
    DONE();
    return sink + slot;
}

NOINLINE long many(long a, long b, long c, long d, long e, long f, long g, long h, long i, long j) {
    volatile long slot;
    SLOT(slot);
    ENTERED();
    CALLS(a + j);
    long got = recursive(4);
    DONE();
    return got + a + b + c + d + e + f + g + h + i + j + slot;
}

/* Pushes arguments for its call, at -Os; all of them, as others might call that function too. */
NOINLINE static long pushing(long x) {
    volatile long slot;
    SLOT(slot);
    ENTERED();
    CALLS(x);
    long got = many(x, x, 1, 2, 3, 4, x, 6, x, 8);
    DONE();
    return got + slot;
}

NOINLINE __attribute__((noreturn)) void last(long a, long b, long c, long d, long e, long f, long g, long h) {
    ENTERED();
    calling = 0;
    many(a, b, c, d, e, f, g, h, 1, 2);
    exit((int)sink);
}

NOINLINE static long aligned_pushing(long x) {
    volatile long slot;
    _Alignas(32) volatile char room[32];
    SLOT(slot);
    ENTERED();
    room[x & 31] = 1;
    CALLS(0x1000000 + x);
    if (strcmp(mode, "last") == 0)
        last(x, x, 1, 2, 3, 4, x, 6);
    long got = many(x, x, 1, 2, 3, 4, x, 6, x, 8);
    got += many(x, x, 1, 2, 3, 4, 5, 6, 7, got);
    got += pushing(x);
    DONE();
    return got + room[5] + slot;
}

NOINLINE static long aligned(long x) {
    volatile long slot;
    _Alignas(128) volatile char room[256];
    SLOT(slot);
    ENTERED();
    room[x & 255] = 1;
    CALLS(0x7fffffff00 + x);
    bool twice = strcmp(mode, "aligned") == 0 || strcmp(mode, "last") == 0;
    long got = twice ? aligned_pushing(x) : pushing(x);
    DONE();
    return got + room[5] + slot;
}

NOINLINE static long dynamic(long x) {
    volatile long slot;
    SLOT(slot);
    ENTERED();
    volatile char *room = alloca((size_t)x * 40 + 8);
    room[x] = 1;
    CALLS(-x);
    long got = aligned(x + room[x]);
    DONE();
    return got + room[x] + slot;
}

NOINLINE static long both(long x) {
    volatile long slot;
    _Alignas(64) volatile char room[64];
    SLOT(slot);
    ENTERED();
    char more[x * 3 + 1];
    memset(more, 1, sizeof more);
    room[x & 63] = more[x];
    CALLS(x * x);
    long got = dynamic(x + room[x & 63]);
    DONE();
    return got + room[1] + more[0] + slot;
}

NOINLINE static long large(long x) {
    volatile long slot;
    volatile char room[100000];
    SLOT(slot);
    ENTERED();
    room[x] = 1;
    CALLS(x << 40);
    long got = both(x + room[x]);
    DONE();
    return got + room[x] + slot;
}

/* It has no slot. */
NOINLINE static long without(long x) {
    ENTERED();
    calling = 0;
    long got = large(x);
    DONE();
    return got + sink;
}

static void *thread(void *argument) {
    volatile long slot;
    SLOT(slot);
    CALLS(4);
    sink += without(9);
    return argument;
}

int main(int argc, char **argv) {
    volatile long slot;
    SLOT(slot);
    mode = argc > 1 ? argv[1] : "exit";
    base = 0x100;
    STEP(0);
    signal(SIGUSR1, on_signal);
    signal(SIGILL, on_signal);
    signal(SIGTRAP, on_signal);
    if (strcmp(mode, "thread") == 0) {
        pthread_t id;
        pthread_create(&id, NULL, thread, NULL);
        pthread_join(id, NULL);
    }
    CALLS(3);
    return (int)(without(8) + slot);
}
