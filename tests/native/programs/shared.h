// Inline functions and templates that several units contain; the linker keeps one COMDAT copy of each.
#ifndef SHARED_H
#define SHARED_H
#define HEADER_HIT() (line_counts[2][__LINE__] = line_counts[2][__LINE__] + 1)

inline int __attribute__((noinline)) collatz(int n) {
    int steps = 0;
    while (n != 1) {
        HEADER_HIT();
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
    }
    HEADER_HIT();
    return steps;
}

template <class T> __attribute__((noinline)) T limited(T value, T limit) {
    if (value > limit) {
        HEADER_HIT();
        return limit;
    }
    HEADER_HIT();
    return value;
}

inline int small(int value) {
    HEADER_HIT();
    return value ^ 1;
}
#endif
