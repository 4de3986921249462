/* A parent with three children: one exits, one executes this program again, one is killed. */
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile unsigned sink;

__attribute__((noinline)) static void work(unsigned times) {
    for (unsigned i = 0; i < times; i++) {
        if (i % 3)
            sink += i;
        else
            sink ^= 5;
    }
}

int main(int argc, char **argv) {
    int ready[2];
    char byte = 0;
    if (argc > 1 && !strcmp(argv[1], "again")) {
        work(70);
        return 0;
    }
    work(100);
    if (pipe(ready))
        return 1;
    if (!fork()) {
        work(50);
        _exit(0);
    }
    if (!fork()) {
        work(20);
        execl(argv[0], argv[0], "again", (char *)0);
        _exit(1);
    }
    pid_t child = fork();
    if (!child) {
        work(5);
        if (write(ready[1], &byte, 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    if (read(ready[0], &byte, 1) != 1)
        return 1;
    kill(child, SIGKILL);
    while (wait((int *)0) > 0)
        continue;
    return 0;
}
