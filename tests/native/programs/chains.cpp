// Call paths of C++: exceptions that pass through functions, are caught, thrown again, and met by destructors.
#include <cstdlib>
#include <stdexcept>

#include "chains.h"

static volatile long sink;

NOTED long leaf(long n) {
    ENTER("leaf");
    sink += n;
    LEAVE();
    return n + 1;
}

struct Guard {
    long n;
    __attribute__((noinline)) explicit Guard(long n) : n(n) {
        ENTER("Guard::{base ctor}(long)");
        leaf(n);
        LEAVE();
    }
    // It is called where the exception is on its way, by the function whose object it is.
    struct chain owner = now;
    __attribute__((noinline)) ~Guard() {
        back_to(&owner);
        ENTER("Guard::{base dtor}()");
        leaf(n);
        LEAVE();
    }
};

extern "C" [[noreturn]] __attribute__((noinline)) void fails(long n) {
    enter("fails");
    leaf(n);
    if (n % 2)
        throw std::runtime_error("odd");
    throw n;
}

NOTED long may_fail(long n) {
    ENTER("may_fail");
    if (n % 3 == 0)
        fails(n);
    long result = leaf(n);
    LEAVE();
    return result;
}

NOTED long passes(long n) {
    ENTER("passes");
    long result = 0;
    {
        Guard guard(n);
        result = may_fail(n) + may_fail(n + 1);
    }
    LEAVE();
    return result;
}

NOTED long passes_bare(long n) {
    ENTER("passes_bare");
    long result = n % 2 ? may_fail(n) : passes(n);
    result += leaf(result);
    LEAVE();
    return result;
}

NOTED long catches(long n) {
    ENTER("catches");
    struct chain own = now;
    long result = 0;
    try {
        result = passes_bare(n);
    } catch (const std::runtime_error &) {
        back_to(&own);
        result = leaf(n);
    }
    LEAVE();
    return result;
}

NOTED long catches_all(long n) {
    ENTER("catches_all");
    struct chain own = now;
    long result = 0;
    for (long i = 0; i < n; i++) {
        try {
            result += catches(i);
        } catch (...) {
            back_to(&own);
            result += leaf(-i);
        }
        if (i % 10 == 0)
            result += passes(1);
    }
    LEAVE();
    return result;
}

NOTED long throws_again(long n) {
    ENTER("throws_again");
    struct chain own = now;
    try {
        passes_bare(n);
    } catch (...) {
        back_to(&own);
        leaf(n);
        throw;
    }
    LEAVE();
    return n;
}

// Code without probes that catches, and goes on calling.
NO_PROBES long tries(long n) {
    struct chain own = now;
    long failed = 0;
    for (long i = 0; i < n; i++) {
        try {
            i % 2 ? throws_again(i) : i % 4 ? may_fail(i) : passes_bare(i);
        } catch (...) {
            back_to(&own);
            failed++;
        }
        leaf(failed);
        try {
            fails(i);
        } catch (...) {
            back_to(&own);
        }
        leaf(i);
    }
    return failed;
}

NOTED long recursive(long n) {
    ENTER("recursive");
    struct chain own = now;
    long result = 0;
    {
        Guard guard(n);
        try {
            result = n == 0 ? may_fail(3) : recursive(n - 1);
        } catch (long) {
            back_to(&own);
            result = leaf(n);
        }
        if (n == 2)
            fails(6);
    }
    LEAVE();
    return result;
}

int main() {
    ENTER("main");
    struct chain own = now;
    catches_all(40);
    tries(30);
    for (int i = 0; i < 3; i++) {
        try {
            recursive(i * 3);
        } catch (const std::exception &) {
            back_to(&own);
            leaf(i);
        }
    }
    back_to(&own);
    (void)before;
    print_book();
    std::exit(22);
}
