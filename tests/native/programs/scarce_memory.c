/* Children that count at the same time, each on all pages of a large path table: argv[1] is their number.

   Child i takes the paths n * 512 + i % 64 for n below 256.  Prints how many children ended as they should.  With
   "killed" all of them are killed when they have counted.  With "orphans" their parent ends before them, and with
   "grandchildren" each of them has a child that does the same. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sum;

#define STEP(bit)                                                                                                      \
    if (n >> bit & 1)                                                                                                  \
    sum += bit

__attribute__((noinline)) static void path(int n) {
    STEP(0); STEP(1); STEP(2); STEP(3); STEP(4); STEP(5); STEP(6); STEP(7); STEP(8);
    STEP(9); STEP(10); STEP(11); STEP(12); STEP(13); STEP(14); STEP(15); STEP(16);
}

static pid_t children[1024];

static void kill_all(int number) {
    for (int i = 0; i < number; i++)
        kill(children[i], SIGKILL);
}

static void child(int number, int ready, int go, const char *mode) {
    char byte = 0;
    if (!strcmp(mode, "grandchildren"))
        fork();
    for (int n = 0; n < 256; n++)
        path(n * 512 + number % 64);
    if (write(ready, &byte, 1) != 1 || read(go, &byte, 1) != 0)
        exit(1);
    exit(7);
}

int main(int argc, char **argv) {
    int number = argc > 1 ? atoi(argv[1]) : 0, well = 0, ready[2], go[2], status;
    char byte;
    const char *mode = argc > 2 ? argv[2] : "";
    int outlived = !strcmp(mode, "orphans") || !strcmp(mode, "grandchildren");
    int all = strcmp(mode, "grandchildren") ? number : 2 * number;
    if (pipe(ready) || pipe(go))
        return 2;
    for (int i = 0; i < number; i++)
        if (!(children[i] = fork())) {
            if (!outlived)
                close(go[1]);
            child(i, ready[1], go[0], mode);
        }
    close(ready[1]);
    for (int i = 0; i < all && read(ready[0], &byte, 1) == 1; i++)
        continue;
    if (outlived)
        return 0;
    if (!strcmp(mode, "killed"))
        kill_all(number);
    close(go[1]); /* all have counted: none may end before */
    while (wait(&status) > 0)
        well += *mode ? WIFSIGNALED(status) : WIFEXITED(status) && WEXITSTATUS(status) == 7;
    printf("%d\n", well);
    return 0;
}
