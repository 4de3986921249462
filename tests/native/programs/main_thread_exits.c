/* The first thread exits before another, which then ends the process by returning; thrd_exit of C11. */
#define COUNTS_OWNER
#define FILE_NUMBER 0
#include "reference_counts.h"
#include <stdlib.h>
#include <threads.h>

static thrd_t first;

__attribute__((noinline)) static int leave(int iteration) {
    HIT();
    if (iteration == 2) {
        HIT();
        thrd_exit(7);
    }
    return iteration;
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
    for (int iteration = 0; iteration < 5; iteration++) {
        HIT();
        leave(iteration);
    }
    return 1;
}
