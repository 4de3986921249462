/* A C library that exceptions pass through. */
#define COUNTS_IN_LIBRARY
#include "mapped_counts.h"

static volatile int sink;

long through(long n, void (*call)(long));

NOINLINE static long inner(long n, void (*call)(long)) {
    HIT();
    call(n);
    if (sink != -77)
        HIT();
    return n;
}

long through(long n, void (*call)(long)) {
    HIT();
    long result = inner(n, call);
    if (sink != -77)
        HIT();
    return result;
}
