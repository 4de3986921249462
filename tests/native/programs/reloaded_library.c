/* A library that is loaded and unloaded; its constructor and destructor count, too. */
#define COUNTS_IN_LIBRARY
#include "mapped_counts.h"

#include <setjmp.h>

static volatile int sink;

NOINLINE static long inner(long n) {
    if (n % 3 == 0) {
        HIT();
        return n;
    }
    HIT();
    return n + 1;
}

long use(long n);
void jump(long levels, jmp_buf env);

long use(long n) {
    long sum = 0;
    for (long i = 0; i < n % 16; i++) {
        HIT();
        sum += inner(i);
    }
    HIT();
    return sum;
}

void jump(long levels, jmp_buf env) {
    HIT();
    if (levels == 0) {
        HIT();
        longjmp(env, 1);
    }
    jump(levels - 1, env);
    if (sink != -77)
        HIT();
}

__attribute__((constructor(200))) static void loaded(void) {
    HIT();
    sink = 1;
}

__attribute__((destructor)) static void unloaded(void) {
    HIT();
    sink = 2;
}
