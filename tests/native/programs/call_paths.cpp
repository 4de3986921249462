// Call paths in C++: exceptions that pass through functions, are caught, rethrown, and met by destructors.
#include <cstdlib>
#include <stdexcept>

#include "call_path_log.h"

static volatile long sink;

LOGGED long leaf(long n) {
    ENTER("leaf");
    sink += n;
    LEAVE();
    return n + 1;
}

struct Guard {
    long n;
    __attribute__((noinline)) explicit Guard(long n) : n(n) {
        ENTER("Guard::Guard(long)");
        leaf(n);
        LEAVE();
    }
    // Called while the exception propagates, by the function that the object belongs to.
    struct call_path owner = current_path;
    __attribute__((noinline)) ~Guard() {
        restore_path(&owner);
        ENTER("Guard::~Guard()");
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

LOGGED long may_fail(long n) {
    ENTER("may_fail");
    if (n % 3 == 0)
        fails(n);
    long result = leaf(n);
    LEAVE();
    return result;
}

LOGGED long passes(long n) {
    ENTER("passes");
    long result = 0;
    {
        Guard guard(n);
        result = may_fail(n) + may_fail(n + 1);
    }
    LEAVE();
    return result;
}

LOGGED long passes_bare(long n) {
    ENTER("passes_bare");
    long result = n % 2 ? may_fail(n) : passes(n);
    result += leaf(result);
    LEAVE();
    return result;
}

LOGGED long catches(long n) {
    ENTER("catches");
    struct call_path own = current_path;
    long result = 0;
    try {
        result = passes_bare(n);
    } catch (const std::runtime_error &) {
        restore_path(&own);
        result = leaf(n);
    }
    LEAVE();
    return result;
}

LOGGED long catches_all(long n) {
    ENTER("catches_all");
    struct call_path own = current_path;
    long result = 0;
    for (long i = 0; i < n; i++) {
        try {
            result += catches(i);
        } catch (...) {
            restore_path(&own);
            result += leaf(-i);
        }
        if (i % 10 == 0)
            result += passes(1);
    }
    LEAVE();
    return result;
}

LOGGED long throws_again(long n) {
    ENTER("throws_again");
    struct call_path own = current_path;
    try {
        passes_bare(n);
    } catch (...) {
        restore_path(&own);
        leaf(n);
        throw;
    }
    LEAVE();
    return n;
}

// Code without probes that catches, and continues to call.
NO_PROBES long tries(long n) {
    struct call_path own = current_path;
    long failed = 0;
    for (long i = 0; i < n; i++) {
        try {
            i % 2 ? throws_again(i) : i % 4 ? may_fail(i) : passes_bare(i);
        } catch (...) {
            restore_path(&own);
            failed++;
        }
        leaf(failed);
        try {
            fails(i);
        } catch (...) {
            restore_path(&own);
        }
        leaf(i);
    }
    return failed;
}

LOGGED long recursive(long n) {
    ENTER("recursive");
    struct call_path own = current_path;
    long result = 0;
    {
        Guard guard(n);
        try {
            result = n == 0 ? may_fail(3) : recursive(n - 1);
        } catch (long) {
            restore_path(&own);
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
    struct call_path own = current_path;
    catches_all(40);
    tries(30);
    for (int i = 0; i < 3; i++) {
        try {
            recursive(i * 3);
        } catch (const std::exception &) {
            restore_path(&own);
            leaf(i);
        }
    }
    restore_path(&own);
    (void)before;
    print_log();
    std::exit(22);
}
