/* A signal arrives while the counts are written: its handler, which says so, is counted or does not run. */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "own_syscall.h"

static int ending;

UNCOUNTED static void before_call(long number, const long *values) {
    (void)values;
    if (number == SYS_openat && ending && !--ending)
        kill(getpid(), SIGUSR1);
}

static void handler(int number) {
    (void)number;
    if (write(STDOUT_FILENO, "handled", 7) != 7)
        abort();
}

int main(int count, char **arguments) {
    (void)arguments;
    signal(SIGUSR1, handler);
    ending = 1;
    if (count == 1)
        quick_exit(0);
    _exit(0);
}
