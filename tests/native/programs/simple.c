/* Counts a little, and can change its directory and its environment before it exits. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "unit.h"

UNIT('a', 3);

static void at_end(void) {
    if (errno != 1234)
        puts("errno has changed");
}

int main(int argc, char **argv) {
    int started = errno;
    for (int i = 0; i < 3; i++)
        STEP(1);
    if (argc > 1 && (chdir(argv[1]) != 0 || unsetenv("TRODDEN_FILE") != 0))
        return 1;
    printf("%d\n", (int)getpid());
    atexit(at_end);
    errno = 1234;
    trodden_dump();
    if (errno != 1234 || started != 0)
        puts("errno has changed");
    STEP(2);
    return 9;
}
