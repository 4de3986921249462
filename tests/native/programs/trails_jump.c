/* longjmp out of two frames, back into a function that goes on. */
#include <setjmp.h>

#include "trails.h"

static jmp_buf back;
static int depth_there;

static int inner(int i) {
    trail_opens("inner");
    if (i & 1)
        mark('a');
    if (i & 2)
        mark('b');
    if (i % 7 == 3) {
        mark('c');
        trails_break(depth_there);
        longjmp(back, i);
    }
    mark('d');
    trail_closes();
    return i;
}

static int between(int i) {
    int sum = 0;
    trail_opens("between");
    if (i & 4)
        mark('a');
    for (int j = 0; j < 2; j++) {
        mark('b');
        if ((i ^ j) & 1)
            mark('c');
        sum += inner(i + j);
        if (back_again)
            mark('d');
        trail_ends("back_edge");
    }
    mark('e');
    trail_closes();
    return sum;
}

/* Its path ends before setjmp and another one starts behind, whichever time setjmp returns. */
static int target(int i) {
    volatile int tried = 0;
    trail_opens("target");
    if (i & 1)
        mark('a');
    depth_there = depth - 1;
    trail_ends("cut");
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
    if (back_again)
        mark('e');
    trail_closes();
    return tried;
}

int main(void) {
    int jumped = 0;
    trail_opens("main");
    for (int i = 0; i < 200; i++) {
        mark('a');
        jumped += target(i);
        if (back_again)
            mark('b');
        trail_ends("back_edge");
    }
    mark('c');
    trail_closes();
    trails_break(0);
    print_book();
    return jumped;
}
