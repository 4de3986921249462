/* Exceptions that pass C functions, functions that catch others, and functions with cleanups; caught, rethrown,
 * stored and thrown later, thrown while others propagate. */
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <exception>
#include <stdexcept>

extern "C" int through(int (*function)(int), int value);
extern "C" int deeper(int (*function)(int), int value, int depth);

static volatile long sink;
#define RETURNED() (sink != -77)

struct Guard {
    ~Guard() {
        HIT();
        sink = sink + 1;
    }
};

__attribute__((noinline)) static int thrower(int value) {
    HIT();
    if (value % 7 == 3) {
        HIT();
        throw value;
    }
    if (value % 7 == 5) {
        HIT();
        throw std::runtime_error("five");
    }
    HIT();
    return value;
}

__attribute__((noinline)) static int plain(int value) {
    HIT();
    int got = thrower(value);
    if (RETURNED())
        HIT();
    return got + 1;
}

__attribute__((noinline)) static int cleaning(int value) {
    Guard guard;
    HIT();
    int got = through(plain, value);
    if (RETURNED())
        HIT();
    return got;
}

__attribute__((noinline)) static int choosy(int value) {
    HIT();
    try {
        int got = deeper(cleaning, value, value % 4);
        if (RETURNED())
            HIT();
        return got;
    } catch (const char *) {
        HIT();
        return -1;
    }
}

__attribute__((noinline)) static int again(int value) {
    HIT();
    try {
        return choosy(value);
    } catch (int thrown) {
        HIT();
        if (thrown % 2)
            throw;
        HIT();
        return thrown;
    }
}

__attribute__((noinline)) static int nested(int value) {
    HIT();
    try {
        return again(value);
    } catch (...) {
        HIT();
        try {
            through(thrower, value + 2);
            if (RETURNED())
                HIT();
        } catch (const std::exception &) {
            HIT();
        }
        std::exception_ptr kept = std::current_exception();
        HIT();
        std::rethrow_exception(kept);
    }
}

int main() {
    int caught = 0, other = 0;
    for (int i = 0; i < 140; i++) {
        HIT();
        try {
            sink = through(nested, i);
            if (RETURNED())
                HIT();
        } catch (int) {
            HIT();
            caught++;
        } catch (const std::exception &) {
            HIT();
            other++;
        }
    }
    HIT();
    return caught * 3 + other;
}
