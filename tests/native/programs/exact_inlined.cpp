// Exceptions that leave functions which are inlined where others catch them, or clean up: no frame of the machine is left.
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"

#define INLINED __attribute__((always_inline)) static inline

static volatile long sink;

// The code behind a call is a block of its own, so that its line tells whether the call returned.
#define RETURNED() (sink != -77)

struct Guard {
    explicit Guard(int n) : number(n) {}
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
        throw n;
    }
    if (n % 7 == 0) {
        HIT();
        throw 'c';
    }
    sink = n;
}

INLINED void plain(int n) {
    HIT();
    if (n & 1) {
        HIT();
        thrower(n);
        if (RETURNED())
            HIT();
    }
    HIT();
}

INLINED void choosing(int n) {
    HIT();
    if (n & 2)
        thrower(n);
    else
        thrower(n + 1);
    if (RETURNED())
        HIT();
}

INLINED void throws(int n) {
    HIT();
    if (n % 4 == 3) {
        HIT();
        throw 1;
    }
    HIT();
}

INLINED void guarded(int n) {
    Guard guard(n);
    HIT();
    plain(n);
    if (RETURNED())
        HIT();
    throws(n);
    if (RETURNED())
        HIT();
}

INLINED void catching(int n) {
    HIT();
    try {
        HIT();
        guarded(n);
        if (RETURNED())
            HIT();
    } catch (char) {
        HIT();
    }
    if (RETURNED())
        HIT();
}

INLINED void middle(int n) {
    HIT();
    catching(n);
    if (RETURNED())
        HIT();
    guarded(n + 1);
    if (RETURNED())
        HIT();
}

INLINED void deeper(int n) {
    HIT();
    middle(n);
    if (RETURNED())
        HIT();
}

INLINED void rethrowing(int n) {
    HIT();
    try {
        HIT();
        deeper(n);
        if (RETURNED())
            HIT();
    } catch (int) {
        HIT();
        if (n % 5 == 0) {
            HIT();
            throw;
        }
    }
    HIT();
}

// What goes on through these frames is caught in another one.
__attribute__((noinline)) static void through(int n) {
    HIT();
    deeper(n);
    if (RETURNED())
        HIT();
    Guard guard(n);
    deeper(n + 1);
    if (RETURNED())
        HIT();
    rethrowing(n);
    if (RETURNED())
        HIT();
}

template <class F> static void attempt(F f) {
    try {
        HIT();
        f();
        if (RETURNED())
            HIT();
    } catch (...) {
        HIT();
    }
}

int main() {
    for (int i = 0; i < 84; i++) {
        HIT();
        try {
            HIT();
            plain(i);
            if (RETURNED())
                HIT();
            middle(i);
            if (RETURNED())
                HIT();
        } catch (int) {
            HIT();
        } catch (char) {
            HIT();
        }
        attempt([i] { choosing(i); });
        attempt([i] { deeper(i); });
        attempt([i] { rethrowing(i); });
        attempt([i] { through(i); });
        attempt([i] {
            throws(i);
            through(i + 1);
        });
    }
    return 11;
}
