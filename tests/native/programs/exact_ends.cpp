// The process ends inside functions that are inlined where an exception would be caught, and where none would.
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <cstdlib>

static volatile long sink;

// The code behind a call is a block of its own, so that its line tells whether the call returned.
#define RETURNED() (sink != -77)

__attribute__((noinline)) static void last(int n) {
    HIT();
    if (n == 7) {
        HIT();
        exit(9);
    }
    if (n > 90)
        throw n;
    sink = n;
}

__attribute__((always_inline)) static inline void inner(int n) {
    HIT();
    last(n);
    if (RETURNED())
        HIT();
}

__attribute__((always_inline)) static inline void outer(int n) {
    HIT();
    inner(n);
    if (RETURNED())
        HIT();
    inner(n + 1);
    if (RETURNED())
        HIT();
}

__attribute__((noinline)) static void unguarded(int n) {
    HIT();
    outer(n);
    if (RETURNED())
        HIT();
}

__attribute__((noinline)) static void guarded(int n) {
    try {
        HIT();
        outer(n);
        if (RETURNED())
            HIT();
    } catch (int) {
        HIT();
    }
}

int main() {
    for (int i = 0; i < 20; i++) {
        HIT();
        unguarded(i - 10);
        if (RETURNED())
            HIT();
        guarded(i);
        if (RETURNED())
            HIT();
    }
    return 1;
}
