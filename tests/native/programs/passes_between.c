/* C code that exceptions pass. */
#define BOOK 1
#include "books.h"

static volatile long sink;
#define BACK() (sink != -77)

int through(int (*function)(int), int value) {
    int sum = 0;
    HIT();
    for (int i = 0; i < 2; i++) {
        HIT();
        if (value & 1)
            HIT();
        sum += function(value + i);
        if (BACK())
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
    if (BACK())
        HIT();
    return got;
}
