/* Forks where its file system has space for a part of what the child copies: argv[1] is a tmpfs, which gets another size
 * before each fork, argv[2] says where the fork is.

   Each child counts, and there is space again when it ends.  Prints how many children ended as they should, and how many
   there were. */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STEP_BYTES = 64 << 10, MOST_BYTES = 2400 << 10, PLENTY = 256 << 20 };

static const char *directory, *place;
static volatile int sum, new_paths;
static jmp_buf target;
static pid_t child;
static int ready[2], go[2];

#define TEST(bit)   \
    if (n >> (bit) & 1) \
    sum += bit
#define EIGHT(first)                                                                                           \
    TEST(first); TEST(first + 1); TEST(first + 2); TEST(first + 3); TEST(first + 4); TEST(first + 5);          \
    TEST(first + 6); TEST(first + 7)

__attribute__((noinline)) static void few(int n) { EIGHT(0); EIGHT(8); TEST(16); }
__attribute__((noinline)) static void many(int n) { EIGHT(0); EIGHT(8); EIGHT(16); }

static void jump(int depth) {
    if (!depth)
        longjmp(target, 1);
    jump(depth - 1);
}

static void leaf_a(void) { sum++; }
static void leaf_b(void) { sum++; }
#define LEVEL(name, below) \
    static void name##_a(void) { below##_a(), below##_b(); } \
    static void name##_b(void) { below##_a(), below##_b(); }
LEVEL(first, leaf)
LEVEL(second, first)
LEVEL(third, second)
LEVEL(fourth, third)
LEVEL(fifth, fourth)
LEVEL(sixth, fifth)
LEVEL(seventh, sixth)
LEVEL(eighth, seventh)

/* A kilobyte of each table for every page. */
static void work(void) {
    for (int n = 0; n < 256; n++)
        few(n * 512);
    for (int n = 0; n < 7000; n++)
        many(n * 1024);
    if (!setjmp(target))
        jump(3);
    eighth_a();
}

/* So many bytes more than are in use. */
static void resize(unsigned long more) {
    struct statfs now;
    char options[64];
    if (statfs(directory, &now) != 0)
        exit(2);
    unsigned long used = (now.f_blocks - now.f_bfree) * (unsigned long)now.f_bsize;
    snprintf(options, sizeof options, "size=%lu", used + more);
    if (mount("tmpfs", directory, "tmpfs", MS_REMOUNT, options) != 0)
        exit(3);
}

static void fork_child(void) {
    char byte = 0;
    child = fork();
    if (child)
        return;
    work();
    if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1)
        exit(1);
    exit(7);
}

static void on_signal(int number) {
    (void)number;
    fork_child();
}

static void *run_thread(void *unused) {
    fork_child();
    return unused;
}

static void fork_there(void) {
    pthread_t thread;
    if (strcmp(place, "thread") == 0 && pthread_create(&thread, NULL, run_thread, NULL) == 0)
        pthread_join(thread, NULL);
    else if (strcmp(place, "handler") == 0)
        raise(SIGUSR1);
    else
        fork_child();
}

int main(int count, char **arguments) {
    int status, children = 0, well = 0;
    char byte = 0;
    if (count < 3 || pipe(ready) || pipe(go))
        return 4;
    directory = arguments[1];
    place = arguments[2];
    signal(SIGUSR1, on_signal);
    work();
    for (unsigned long more = 0; more < MOST_BYTES; more += STEP_BYTES) {
        resize(more);
        if (strcmp(place, "lost") == 0)
            for (int n = 0; n < 40; n++)
                many(8000 * 1024 + new_paths++);
        fork_there();
        children++;
        /* A child that has died does not write. */
        close(ready[1]);
        int counted = read(ready[0], &byte, 1) == 1;
        resize(PLENTY);
        counted &= write(go[1], &byte, 1) == 1 && waitpid(child, &status, 0) == child;
        well += counted && WIFEXITED(status) && WEXITSTATUS(status) == 7;
        close(ready[0]);
        if (pipe(ready))
            return 5;
    }
    printf("%d of %d\n", well, children);
    return 0;
}
