/* exit() three calls deep inside a loop. */
#include "trails.h"

static void end_it(void) {
    trails_break(0);
    print_book();
}

static int innermost(int i) {
    trail_opens("innermost");
    if (i & 1)
        mark('a');
    if (i & 4)
        mark('b');
    else
        mark('c');
    if (i == 37)
        exit(19);
    mark('d');
    trail_closes();
    return i & 3;
}

static int middle(int i) {
    int sum = 0;
    trail_opens("middle");
    if (i % 3)
        mark('a');
    for (int j = 0; j < 3; j++) {
        mark('b');
        if ((i + j) & 2)
            mark('c');
        sum += innermost(i);
        if (back_again)
            mark('d');
        if (sum & 1)
            mark('e');
        trail_ends("back_edge");
    }
    mark('f');
    trail_closes();
    return sum;
}

static int outer(int i) {
    trail_opens("outer");
    if (i & 2)
        mark('a');
    if (i & 8)
        mark('b');
    int sum = middle(i);
    if (back_again)
        mark('c');
    if (sum > 2)
        mark('d');
    trail_closes();
    return sum;
}

int main(void) {
    trail_opens("main");
    atexit(end_it);
    int sum = 0;
    for (int i = 0; i < 100; i++) {
        mark('a');
        if (i % 5 == 0)
            mark('b');
        sum += outer(i);
        if (back_again)
            mark('c');
        trail_ends("back_edge");
    }
    trail_closes();
    return sum != 0;
}
