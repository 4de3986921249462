/* C++ exceptions through three functions, one of which has something to clean up. */
#include "trails.h"

static int cleaned;

struct Guard {
    ~Guard() { cleaned++; }
};

static int lowest(int i) {
    trail_opens("lowest(int)");
    if (i & 1)
        mark('a');
    if (i & 4)
        mark('b');
    if (i % 5 == 2) {
        mark('c');
        trails_break(1);
        throw i;
    }
    mark('d');
    trail_closes();
    return i;
}

static int second(int i) {
    trail_opens("second(int)");
    if (i & 2)
        mark('a');
    else
        mark('b');
    int found = lowest(i);
    if (back_again)
        mark('c');
    trail_closes();
    return found;
}

static int third(int i) {
    int sum = 0;
    trail_opens("third(int)");
    if (i & 8)
        mark('a');
    for (int j = 0; j < 3; j++) {
        mark('b');
        if ((i + j) & 4)
            mark('c');
        sum += second(i + j);
        if (back_again)
            mark('d');
        trail_ends("back_edge");
    }
    mark('e');
    trail_closes();
    return sum;
}

int main() {
    int caught = 0, sum = 0;
    trail_opens("main");
    for (int i = 0; i < 150; i++) {
        mark('a');
        try {
            Guard guard;
            sum += third(i);
            if (back_again)
                mark('b');
        } catch (int) {
            mark('c');
            caught++;
        }
        mark('d');
        trail_ends("back_edge");
    }
    mark('e');
    trail_closes();
    print_book();
    return caught + cleaned - 150 + (sum == 0);
}
