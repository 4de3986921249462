/* C++ exceptions through three functions, one of which has a cleanup. */
#include "path_log.h"

static int cleaned;

struct Guard {
    ~Guard() { cleaned++; }
};

static int lowest(int i) {
    enter_function("lowest(int)");
    if (i & 1)
        mark('a');
    if (i & 4)
        mark('b');
    if (i % 5 == 2) {
        mark('c');
        unwind_to(1);
        throw i;
    }
    mark('d');
    leave_function();
    return i;
}

static int second(int i) {
    enter_function("second(int)");
    if (i & 2)
        mark('a');
    else
        mark('b');
    int found = lowest(i);
    if (returned)
        mark('c');
    leave_function();
    return found;
}

static int third(int i) {
    int sum = 0;
    enter_function("third(int)");
    if (i & 8)
        mark('a');
    for (int j = 0; j < 3; j++) {
        mark('b');
        if ((i + j) & 4)
            mark('c');
        sum += second(i + j);
        if (returned)
            mark('d');
        end_path("back_edge");
    }
    mark('e');
    leave_function();
    return sum;
}

int main() {
    int caught = 0, sum = 0;
    enter_function("main");
    for (int i = 0; i < 150; i++) {
        mark('a');
        try {
            Guard guard;
            sum += third(i);
            if (returned)
                mark('b');
        } catch (int) {
            mark('c');
            caught++;
        }
        mark('d');
        end_path("back_edge");
    }
    mark('e');
    leave_function();
    print_path_counts();
    return caught + cleaned - 150 + (sum == 0);
}
