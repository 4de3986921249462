/* A trace of many chunks, which begin wherever a record may be: behind trip counts, in calls at any depth, in functions
 * with more regions than a byte can number, in recursion and behind longjmp. */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint32_t state = 1;
static jmp_buf target;
static uint8_t bytes[64];

__attribute__((noinline)) static uint32_t next(void) {
    state = state * 1664525u + 1013904223u;
    return state >> 8;
}

/* A self loop whose trips are counted, then a branch. */
__attribute__((noinline)) static uint32_t sum(uint32_t count, uint32_t step) {
    uint32_t total = 0;
    for (uint32_t turn = 0; turn < 8; turn++) {
        for (uint32_t i = 0; i < count; i++)
            total += bytes[i * step & 63] ^ total >> 3;
        if (total & 1)
            total += step;
    }
    return total;
}

/* Many branches without a call. */
__attribute__((noinline)) static uint32_t mix(uint32_t value) {
    uint32_t found = 0;
    for (uint32_t bit = 1; bit < 13; bit++)
        switch (value >> bit & 3) {
        case 0:
            found = found * 5 + bit;
            break;
        case 1:
            found ^= value;
            if (found & 4)
                found += 3;
            break;
        case 2:
            found = found > 9 ? found - 9 : found + 17;
            break;
        default:
            if (value & bit)
                return found;
        }
    return found + value;
}

__attribute__((noinline)) static uint32_t deep(uint32_t depth) {
    if (depth == 0) {
        if (next() % 64 == 0)
            longjmp(target, 1);
        return mix(next());
    }
    uint32_t below = deep(depth - 1);
    return below & 1 ? below + mix(below) : below ^ depth;
}

static int compare(const void *left, const void *right) { return *(const uint8_t *)left - *(const uint8_t *)right; }

int main(int argc, char **argv) {
    uint32_t rounds = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000, total = 0;
    for (volatile uint32_t i = 0; i < rounds; i++) {
        if (setjmp(target) == 0)
            total += deep(next() % 9);
        total += sum(next() % 40, next() | 1);
        if (next() % 16 == 0) {
            for (uint32_t k = 0; k < sizeof bytes; k++)
                bytes[k] = (uint8_t)next();
            qsort(bytes, sizeof bytes, 1, compare);
        }
    }
    printf("%u\n", total);
    return 0;
}
