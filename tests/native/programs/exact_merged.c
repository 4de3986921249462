// Calls that an optimiser would merge, since both ways end with the same one: jumps leave the function at either.
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <setjmp.h>

static jmp_buf back;
static volatile long sink;

// The code behind a call is a block of its own, so that its line tells whether the call returned.
#define RETURNED() (sink != -77)

__attribute__((noinline)) static void jumps(int n) {
    HIT();
    if (n % 3 == 0)
        longjmp(back, 1);
    sink = n;
}

__attribute__((noinline)) static void either(int n) {
    if (n & 1) {
        HIT();
        sink = 1;
        jumps(n);
    } else {
        HIT();
        sink = 2;
        jumps(n);
    }
    if (RETURNED())
        HIT();
}

int main(void) {
    for (volatile int i = 0; i < 40; i++) {
        if (setjmp(back) == 0) {
            HIT();
            either(i);
        } else {
            HIT();
        }
    }
    return 12;
}
