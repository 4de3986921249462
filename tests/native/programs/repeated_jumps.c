/* Jumps repeatedly over frames that have been jumped over before: MODE TIMES [TIMES OF A CHILD]. Prints how many
 * system calls the runtime makes for all but the first of these times.
 * - sites: from 2401 calls, each with a return address of its own;
 * - deep: over 500 frames of one function;
 * - slots: over a function whose path-register slot holds 1000 different values. */
#define _GNU_SOURCE
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "register_slots.h"
#include "unit.h"

#define NOINLINE __attribute__((noinline))

UNIT('k', 1);

static jmp_buf env;
static volatile long sink, calls;

/* The runtime makes all system calls that go with the lock, or with reading the stack, by this function. */
long syscall(long number, ...) {
    va_list rest;
    va_start(rest, number);
    long a = va_arg(rest, long), b = va_arg(rest, long), c = va_arg(rest, long), d = va_arg(rest, long),
         e = va_arg(rest, long), f = va_arg(rest, long), result;
    va_end(rest);
    calls++;
#ifdef __x86_64__
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
#else
    register long x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c,
                  x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
    __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
    result = x0;
#endif
    if (result < 0 && result > -4096) {
        errno = (int)-result;
        return -1;
    }
    return result;
}

NOINLINE static void really_leave(void) { longjmp(env, 1); }

static void (*volatile leave)(void) = really_leave;

#define CALL(n)                                                                                        \
    case n:                                                                                            \
        leave();                                                                                       \
        __asm__ volatile("/* %c0 */" : : "i"(n));                                                      \
        break;
#define CALLS_7(n) CALL(n) CALL(n + 1) CALL(n + 2) CALL(n + 3) CALL(n + 4) CALL(n + 5) CALL(n + 6)
#define CALLS_49(n)                                                                                    \
    CALLS_7(n) CALLS_7(n + 7) CALLS_7(n + 14) CALLS_7(n + 21) CALLS_7(n + 28) CALLS_7(n + 35) CALLS_7(n + 42)
#define CALLS_343(n)                                                                                   \
    CALLS_49(n) CALLS_49(n + 49) CALLS_49(n + 98) CALLS_49(n + 147) CALLS_49(n + 196) CALLS_49(n + 245)  \
    CALLS_49(n + 294)

NOINLINE static void from_sites(long number) {
    switch (number) {
        CALLS_343(0) CALLS_343(343) CALLS_343(686) CALLS_343(1029) CALLS_343(1372) CALLS_343(1715) CALLS_343(2058)
    }
    sink = number;
}

static void really_deep(long number);
static void (*volatile deeper)(long number) = really_deep;

NOINLINE static void really_deep(long number) {
    if (number == 0)
        leave();
    else
        deeper(number - 1);
    sink = number;
}

NOINLINE static void with_slot(long number) {
    volatile long slot;
    SLOT(slot);
    slot = number;
    leave();
    sink = slot;
}

static void jump(void (*volatile from)(long number), volatile long low, volatile long high) {
    for (; low < high; low++)
        if (setjmp(env) == 0)
            from(low);
}

static const struct mode {
    const char *name;
    void (*from)(long number);
    long low, high;
} modes[] = {{"sites", from_sites, 0, 2401}, {"deep", really_deep, 500, 501}, {"slots", with_slot, 0, 1000}};

int main(int argc, char **argv) {
    const struct mode *mode = modes;
    STEP(0);
    while (strcmp(mode->name, argv[1]) != 0)
        mode++;
    for (volatile long i = 0; i < atol(argv[2]); i++) {
        jump(mode->from, mode->low, mode->high);
        if (i == 0)
            calls = 0;
    }
    printf("%ld\n", calls);
    fflush(stdout);
    if (argc > 3 && fork() == 0)
        for (volatile long i = 0; i < atol(argv[3]); i++)
            jump(mode->from, mode->low, mode->high);
    while (wait(NULL) > 0)
        ;
    return 0;
}
