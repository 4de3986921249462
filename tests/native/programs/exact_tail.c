/* Recursion that needs no stack where tail calls are optimised, and far too much where they are not. */
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"

static volatile long sink;

#ifdef __OPTIMIZE__
#define DEEP 20000000L
#else
#define DEEP 2000L
#endif
static long even(long n, long seen);
__attribute__((noinline)) static long odd(long n, long seen) {
    sink = n;
    if (n == 0) {
        HIT();
        return -seen;
    }
    return even(n - 1, seen + 1);
}
__attribute__((noinline)) static long even(long n, long seen) {
    sink = n;
    if (n == 0) {
        HIT();
        return seen;
    }
    return odd(n - 1, seen + 1);
}

int main(void) {
    sink = even(DEEP, 0) + odd(101, 0);
    return 7;
}
