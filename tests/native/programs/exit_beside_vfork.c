/* The process exits, or with an argument dies by a signal, while a child of vfork keeps another thread waiting: until the
 * process has ended. */
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

static int started[2], open_until_exit[2];

__attribute__((noinline)) static void hit(void) { __asm__ volatile(""); }

static void *wait_for_child(void *argument) {
    if (vfork() == 0) {
        char byte = 0;
        close(open_until_exit[1]);
        write(started[1], &byte, 1);
        read(open_until_exit[0], &byte, 1);
        _exit(0);
    }
    return argument;
}

int main(int argc, char **argv) {
    pthread_t thread;
    char byte;
    if (pipe(started) != 0 || pipe(open_until_exit) != 0 || pthread_create(&thread, NULL, wait_for_child, NULL) != 0)
        return 1;
    read(started[0], &byte, 1);
    for (int i = 0; i < 5; i++)
        hit();
    if (argc > 1)
        raise(SIGTERM);
    return 0;
}
