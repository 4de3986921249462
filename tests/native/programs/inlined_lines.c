/* Functions that are inlined: several times into a block, into each other,
   recursively, with loops.  A line that calls them counts itself in the same
   line. */
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"

#define INLINED static inline __attribute__((always_inline))
#define NOINLINE __attribute__((noinline)) static

INLINED unsigned next(unsigned x) {
    HIT();
    return x + 1;
}

INLINED unsigned half(unsigned x) {
    HIT();
    if (x & 1) {
        HIT();
        return x >> 1;
    }
    HIT();
    return x;
}

INLINED unsigned sum(unsigned x) {
    unsigned found = 0;
    for (unsigned i = 0; i < x; i++) {
        HIT(), found += half(i);
    }
    HIT();
    return found;
}

INLINED unsigned twice(unsigned x) {
    HIT(), x = next(next(x));
    return x;
}

NOINLINE unsigned straight(unsigned v) {
    HIT(), v = next(v);
    HIT(), v = next(v) + next(v + 1);
    HIT(), v = twice(v);
    return v;
}

NOINLINE unsigned deciding(unsigned v) {
    HIT(), v = half(v);
    HIT(), v += half(v) + half(v + 1);
    HIT();
    return v;
}

NOINLINE unsigned looping(unsigned v) {
    HIT(), v += sum(v);
    HIT(), v += sum(v % 7) + half(v);
    for (unsigned i = 0; i < 5; i++) {
        HIT(), v ^= sum(i);
    }
    return v;
}

NOINLINE unsigned on_one_line(unsigned v) {
    for (unsigned i = v % 5; i > 0; HIT(), i--) v += half(v);
    return v;
}

static unsigned tree(unsigned depth) {
    HIT();
    if (depth == 0) {
        HIT();
        return 1;
    }
    unsigned left, right;
    HIT(), left = tree(depth - 1);
    HIT(), right = depth > 1 ? tree(depth - 2) : 0;
    HIT();
    return left + right;
}

NOINLINE unsigned growing(unsigned depth) {
    unsigned leaves;
    HIT(), leaves = tree(depth);
    return leaves;
}

int main(void) {
    unsigned total = 0;
    for (unsigned i = 0; i < 10; i++) {
        HIT();
        total += straight(i) + deciding(i) + looping(i) + on_one_line(i) + growing(i);
    }
    return total & 63;
}
