/* The first thread ends before another, which then ends the process by returning; C11's way to end one. */
#define BOOKKEEPER
#define BOOK 0
#include "books.h"
#include <stdlib.h>
#include <threads.h>

static thrd_t first;

__attribute__((noinline)) static int leave(int turn) {
    HIT();
    if (turn == 2) {
        HIT();
        thrd_exit(7);
    }
    return turn;
}

static int second(void *unused) {
    (void)unused;
    HIT();
    int status = 0;
    thrd_join(first, &status);
    HIT();
    exit(status + 20);
}

int main(void) {
    thrd_t thread;
    HIT();
    first = thrd_current();
    thrd_create(&thread, second, NULL);
    for (int turn = 0; turn < 5; turn++) {
        HIT();
        leave(turn);
    }
    return 1;
}
