// An uncaught exception, thrown three calls deep; or one that leaves a noexcept function.
#include "mapped_counts.h"

#include <cstring>
#include <stdexcept>

namespace {

volatile int sink;

struct Guard {
    ~Guard() {
        HIT();
        sink = 1;
    }
};

NOINLINE int fall(int levels) {
    HIT();
    if (levels == 0) {
        HIT();
        throw std::runtime_error("down");
    }
    Guard guard;
    int result = fall(levels - 1);
    if (sink != -77)
        HIT();
    return result;
}

NOINLINE int quiet(int levels) noexcept {
    HIT();
    int result = fall(levels);
    if (sink != -77)
        HIT();
    return result;
}

} // namespace

int main(int, char **argv) {
    for (int i = 0; i < 3; i++) {
        HIT();
        try {
            sink = fall(i);
        } catch (const std::exception &) {
            HIT();
            sink = 2;
        }
    }
    if (std::strcmp(argv[1], "noexcept") == 0) {
        HIT();
        sink = quiet(2);
    } else {
        HIT();
        sink = fall(2);
    }
    if (sink != -77)
        HIT();
    return 0;
}
