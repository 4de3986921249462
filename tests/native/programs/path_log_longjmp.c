/* longjmp out of two frames, back into a function that continues. */
#include <setjmp.h>

#include "path_log.h"

static jmp_buf back;
static int depth_there;

static int inner(int i) {
    enter_function("inner");
    if (i & 1)
        mark('a');
    if (i & 2)
        mark('b');
    if (i % 7 == 3) {
        mark('c');
        unwind_to(depth_there);
        longjmp(back, i);
    }
    mark('d');
    leave_function();
    return i;
}

static int between(int i) {
    int sum = 0;
    enter_function("between");
    if (i & 4)
        mark('a');
    for (int j = 0; j < 2; j++) {
        mark('b');
        if ((i ^ j) & 1)
            mark('c');
        sum += inner(i + j);
        if (returned)
            mark('d');
        end_path("back_edge");
    }
    mark('e');
    leave_function();
    return sum;
}

/* Its path ends before setjmp and another starts behind it, whichever time setjmp returns. */
static int target(int i) {
    volatile int tried = 0;
    enter_function("target");
    if (i & 1)
        mark('a');
    depth_there = depth - 1;
    end_path("cut");
    if (setjmp(back)) {
        depth++;
        active[depth - 1].function = "target";
        active[depth - 1].length = 0;
        mark('b');
        tried = 1;
    } else {
        mark('c');
    }
    if (i & 2)
        mark('d');
    if (!tried)
        between(i);
    if (returned)
        mark('e');
    leave_function();
    return tried;
}

int main(void) {
    int jumped = 0;
    enter_function("main");
    for (int i = 0; i < 200; i++) {
        mark('a');
        jumped += target(i);
        if (returned)
            mark('b');
        end_path("back_edge");
    }
    mark('c');
    leave_function();
    unwind_to(0);
    print_path_counts();
    return jumped;
}
