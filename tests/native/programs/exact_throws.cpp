// Exceptions through frames with and without cleanups, rethrown, out of constructors, past noexcept.
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

static volatile long sink;

// The code behind a call is a block of its own, so that its line tells whether the call returned.
#define RETURNED() (sink != -77)

struct Guard {
    __attribute__((noinline)) explicit Guard(int n) : number(n) {
        HIT();
    }
    __attribute__((noinline)) ~Guard() {
        HIT();
        sink = number;
    }
    int number;
};

__attribute__((noinline)) static void thrower(int n) {
    HIT();
    if (n % 3 == 0) {
        HIT();
        throw std::runtime_error("three");
    }
    if (n % 5 == 0) {
        HIT();
        throw n;
    }
    HIT();
}

__attribute__((noinline)) static int bare(int n) {
    HIT();
    thrower(n);
    if (RETURNED())
        HIT();
    sink = n;
    thrower(n + 1);
    if (RETURNED())
        HIT();
    return n;
}

__attribute__((noinline)) static int guarded(int n) {
    Guard guard(n);
    HIT();
    int result = bare(n);
    if (RETURNED())
        HIT();
    return result;
}

__attribute__((noinline)) static int again(int n) {
    try {
        HIT();
        return guarded(n);
    } catch (const std::exception &error) {
        HIT();
        if (n % 2) {
            HIT();
            throw;
        }
        HIT();
    }
    HIT();
    return 0;
}

struct Fragile {
    explicit Fragile(int n) : first(n), second(n + 1) {
        HIT();
        if (n % 4 == 0) {
            HIT();
            throw std::logic_error("fragile");
        }
        HIT();
    }
    Guard first, second;
};

__attribute__((noinline)) static int safe(int n) noexcept {
    HIT();
    try {
        thrower(n);
    } catch (...) {
        HIT();
        return 1;
    }
    HIT();
    return 0;
}

template <class T> __attribute__((noinline)) T largest(const std::vector<T> &values) {
    T best = values.at(0);
    for (const T &value : values) {
        HIT();
        if (best < value) {
            HIT();
            best = value;
        }
    }
    return best;
}

struct AtEnd {
    ~AtEnd() {
        HIT();
        for (int i = 0; i < 3; i++) {
            HIT();
            sink = i;
        }
    }
};
static AtEnd at_end;

int main() {
    long sum = 0;
    for (int i = 1; i <= 60; i++) {
        HIT();
        try {
            sum += again(i);
            if (RETURNED())
                HIT();
        } catch (const std::runtime_error &) {
            HIT();
            sum += 1;
        } catch (int number) {
            HIT();
            sum += number;
        }
    }
    for (int i = 0; i < 20; i++) {
        try {
            HIT();
            auto made = std::make_unique<Fragile>(i);
            if (RETURNED())
                HIT();
            sum += made->first.number;
        } catch (...) {
            HIT();
            try {
                throw;
            } catch (const std::logic_error &) {
                HIT();
            }
        }
        sum += safe(i);
    }
    for (int i = 0; i < 5; i++) {
        try {
            sum += largest(std::vector<int>(i, i));
            sum += largest(std::vector<long>{3, 1, 4, 1, 5, i + 6L});
            if (RETURNED())
                HIT();
        } catch (const std::out_of_range &) {
            HIT();
        }
    }
    sink = sum;
    return static_cast<int>(sum % 100);
}
