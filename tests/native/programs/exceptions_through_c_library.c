/* C code that exceptions pass through. */
#define FILE_NUMBER 1
#include "reference_counts.h"

static volatile long sink;
#define RETURNED() (sink != -77)

int through(int (*function)(int), int value) {
    int sum = 0;
    HIT();
    for (int i = 0; i < 2; i++) {
        HIT();
        if (value & 1)
            HIT();
        sum += function(value + i);
        if (RETURNED())
            HIT();
    }
    HIT();
    return sum;
}

int deeper(int (*function)(int), int value, int depth) {
    HIT();
    if (depth == 0)
        return function(value);
    HIT();
    int got = deeper(function, value, depth - 1);
    if (RETURNED())
        HIT();
    return got;
}
