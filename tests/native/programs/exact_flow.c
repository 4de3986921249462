/* Every form of control flow in a function and between functions, with reference counts. */
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

static volatile long sink;

__attribute__((noinline)) static int nested(int size) {
    int found = 0;
    HIT();
    for (int row = 0; row < size; row++) {
        HIT();
        if (row == 7) {
            HIT();
            continue;
        }
        for (int column = 0; column < row; column++) {
            HIT();
            int cell = 0;
            while (cell * cell < column) {
                HIT();
                cell++;
            }
            if (cell == 5) {
                HIT();
                break;
            }
            found += cell;
        }
    }
    return found;
}

__attribute__((noinline)) static int repeated(unsigned value) {
    int steps = 0;
    do {
        HIT();
        if (value & 1) {
            HIT();
            value = 3 * value + 1;
        } else {
            HIT();
            value /= 2;
        }
        steps++;
    } while (value != 1);
    HIT();
    return steps;
}

__attribute__((noinline)) static int choose(int which) {
    int result = 0;
    switch (which) {
    case 0:
    case 3:
    case 5:
    case 9:
        HIT();
        result += 1;
        /* fallthrough */
    case 1:
        HIT();
        result += 10;
        /* fallthrough */
    case 2:
        HIT();
        result += 100;
        break;
    case 7:
        HIT();
        return -1;
    case 100000:
        HIT();
        result = 4;
        break;
    default:
        HIT();
        result = which;
    }
    HIT();
    return result;
}

/* An interpreter with two dispatch points, so that the edges of indirect branches form more than one star. */
__attribute__((noinline)) static long interpret(const unsigned char *code, long rounds) {
    static const void *const table[] = {&&add, &&twice, &&test, &&back, &&stop};
    long value = 0, left = rounds;
    const unsigned char *at = code;
    HIT();
    goto *table[*at++];
add:
    HIT();
    value += 3;
    goto *table[*at++];
twice:
    HIT();
    value = (value * 2) % 1000003;
    goto *table[*at++];
test:
    HIT();
    if (value & 4) {
        HIT();
        at++;
    }
    sink = value;
    goto *table[*at++];
back:
    HIT();
    if (--left > 0) {
        HIT();
        at = code;
    }
    goto *table[*at++];
stop:
    HIT();
    return value;
}

__attribute__((noinline)) static int saved(int times) {
    jmp_buf place;
    volatile int entered = 0;
    for (int i = 0; i < times; i++) {
        if (setjmp(place) == 0) {
            HIT();
            entered = entered + 1;
        } else {
            HIT();
            entered = -1;
        }
    }
    HIT();
    return entered;
}

__attribute__((noinline)) static long fibonacci(int n) {
    HIT();
    if (n < 2) {
        HIT();
        return n;
    }
    return fibonacci(n - 1) + fibonacci(n - 2);
}

__attribute__((noinline)) static long total(int count, ...) {
    va_list rest;
    long sum = 0;
    va_start(rest, count);
    for (int i = 0; i < count; i++) {
        HIT();
        long next = va_arg(rest, long);
        if (next < 0) {
            HIT();
            va_end(rest);
            return next;
        }
        sum += next;
    }
    va_end(rest);
    HIT();
    return sum;
}

__attribute__((noinline)) static int jumps(int n) {
    int i = 0;
again:
    HIT();
    if (sink < -1 || i >= n)
        goto done;
    sink = i;
    if (sink % 3 == 1)
        goto skip;
    HIT();
    i++;
skip:
    HIT();
    i++;
    goto again;
done:
    HIT();
    return i;
}

__attribute__((always_inline)) static inline int clamp(int value) {
    if (value > 10) {
        HIT();
        return 10;
    }
    HIT();
    return value;
}

__attribute__((noinline)) static int never(int value) {
    HIT();
    return value + 1;
}

int main(int argc, char **argv) {
    static const unsigned char code[] = {0, 1, 2, 1, 0, 3, 4};
    long sum = nested(40);
    (void)argv;
    for (unsigned i = 2; i < 30; i++)
        sum += repeated(i);
    for (int i = 0; i < 50; i++)
        sum += choose(i % 11);
    sum += choose(100000);
    sum += interpret(code, 1000);
    sum += saved(13);
    sum += fibonacci(15);
    sum += total(0) + total(3, 1L, 2L, 3L) + total(4, 1L, -5L, 2L, 3L);
    sum += jumps(50);
    for (int i = 0; i < 25; i++) {
        HIT();
        sum += clamp(i) + clamp(2 * i);
    }
    if (argc > 1000) {
        HIT();
        sum += never(argc);
    }
    sink = sum;
    return 42;
}
