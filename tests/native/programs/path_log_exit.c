/* exit() three calls deep inside a loop. */
#include "path_log.h"

static void end_it(void) {
    unwind_to(0);
    print_path_counts();
}

static int innermost(int i) {
    enter_function("innermost");
    if (i & 1)
        mark('a');
    if (i & 4)
        mark('b');
    else
        mark('c');
    if (i == 37)
        exit(19);
    mark('d');
    leave_function();
    return i & 3;
}

static int middle(int i) {
    int sum = 0;
    enter_function("middle");
    if (i % 3)
        mark('a');
    for (int j = 0; j < 3; j++) {
        mark('b');
        if ((i + j) & 2)
            mark('c');
        sum += innermost(i);
        if (returned)
            mark('d');
        if (sum & 1)
            mark('e');
        end_path("back_edge");
    }
    mark('f');
    leave_function();
    return sum;
}

static int outer(int i) {
    enter_function("outer");
    if (i & 2)
        mark('a');
    if (i & 8)
        mark('b');
    int sum = middle(i);
    if (returned)
        mark('c');
    if (sum > 2)
        mark('d');
    leave_function();
    return sum;
}

int main(void) {
    enter_function("main");
    atexit(end_it);
    int sum = 0;
    for (int i = 0; i < 100; i++) {
        mark('a');
        if (i % 5 == 0)
            mark('b');
        sum += outer(i);
        if (returned)
            mark('c');
        end_path("back_edge");
    }
    leave_function();
    return sum != 0;
}
