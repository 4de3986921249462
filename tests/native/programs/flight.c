/* Calls, recursion and jumps that random numbers decide, until argv[1] branches were executed; then it crashes. */
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>

static uint64_t state = 88172645463325252ull, branches;
static jmp_buf back;
static unsigned *volatile nowhere;

static uint64_t roll(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

__attribute__((noinline)) static unsigned leaf(uint64_t x) {
    unsigned sum = 0;
    for (unsigned i = 0; i < 12; i++) {
        branches += 2;
        if (x >> i & 1) {
            sum += i;
        } else {
            branches++;
            if (x >> (i + 20) & 1)
                sum ^= i;
        }
    }
    return sum;
}

__attribute__((noinline)) static unsigned tree(uint64_t x, int depth) {
    branches += 2;
    if (depth == 0)
        return leaf(x);
    switch (x & 7) {
    case 0:
        return tree(x >> 3, depth - 1) + 1;
    case 1:
        return tree(x >> 2, depth - 1) ^ leaf(x);
    case 2:
        branches++;
        return x >> 30 & 1 ? leaf(x) * 3 : 5;
    case 3:
        branches++;
        if ((x >> 40 & 255) == 7)
            longjmp(back, 1);
        return leaf(x);
    default:
        return leaf(x >> 1) + tree(x >> 5, depth - 1);
    }
}

int main(int argc, char **argv) {
    uint64_t wanted = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
    volatile unsigned sum = 0;
    if (setjmp(back))
        sum++;
    for (;;) {
        sum += tree(roll(), 6);
        if (branches > wanted)
            *nowhere = sum;
    }
}
