/* A library of C that exceptions pass through. */
#define LEDGER_IN_LIBRARY
#include "ledger.h"

static volatile int sink;

long through(long n, void (*call)(long));

APART static long inner(long n, void (*call)(long)) {
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
