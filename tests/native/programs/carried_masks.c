/* The signal mask that jumps, contexts and new programs get, where signals of faults are blocked. */
#define _GNU_SOURCE
#include "mapped_counts.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#ifdef __GLIBC__
#include <ucontext.h>
#endif

#undef setjmp
extern int setjmp(jmp_buf) __attribute__((returns_twice)); /* that of BSD, which saves the mask with glibc */

extern char **environ;
static sigjmp_buf back, moved;
static volatile int sink;

static void show(const char *name) {
    sigset_t mask;
    sigprocmask(SIG_BLOCK, NULL, &mask);
    printf("%s:", name);
    for (int i = 1; i < 32; i++)
        if (sigismember(&mask, i) == 1)
            printf(" %d", i);
    printf("\n");
    fflush(stdout);
}

static void block(int first, int second) {
    sigset_t set;
    sigemptyset(&set);
    if (first)
        sigaddset(&set, first);
    if (second)
        sigaddset(&set, second);
    sigprocmask(SIG_SETMASK, &set, NULL);
}

NOINLINE static int jump(int level) {
    HIT();
    if (level == 0) {
        HIT();
        memcpy(moved, back, sizeof moved); /* a buffer may be copied */
        siglongjmp(moved, 1);
    }
    sink = jump(level - 1);
    return sink + 1;
}

NOINLINE static void jumps(int first, int second, int save_mask) {
    block(first, second);
    if (sigsetjmp(back, save_mask) == 0) {
        HIT();
        block(SIGBUS, 0);
        sink = jump(3);
    }
    HIT();
    show("jumped");
}

#ifdef __GLIBC__
static void contexts(void) {
    volatile int times = 0;
    ucontext_t here;
    block(SIGSEGV, SIGUSR1);
    if (setjmp(back) == 0) {
        HIT();
        block(0, 0);
        jump(1);
    }
    show("jumped as in BSD");
    getcontext(&here);
    HIT();
    printf("saved: %d %d\n", sigismember(&here.uc_sigmask, SIGSEGV), sigismember(&here.uc_sigmask, SIGBUS));
    if (times++ < 3) {
        HIT();
        block(SIGBUS, 0);
        setcontext(&here);
    }
    show("continued");
}
#endif

NOINLINE static int execute(char **arguments) {
    HIT();
    return execv("/proc/self/exe", arguments);
}

NOINLINE static void start(const char *name, const posix_spawnattr_t *attributes, int in_path) {
    char *arguments[] = {(char *)"carried_masks", (char *)name, NULL};
    pid_t child;
    HIT();
    fflush(stdout);
    int error = (in_path ? posix_spawnp : posix_spawn)(&child, "/proc/self/exe", NULL, attributes, arguments, environ);
    printf("%d\n", error);
    wait(NULL);
    show("after it");
}

static void programs(void) {
    char *arguments[] = {(char *)"carried_masks", (char *)"executed", NULL};
    posix_spawnattr_t attributes;
    sigset_t mask;
    pid_t child;
    block(SIGSEGV, SIGUSR1);
    fflush(stdout);
    if (vfork() == 0) {
        HIT();
        execute(arguments);
        _exit(127);
    }
    HIT();
    wait(NULL);
    start("spawned", NULL, 0);
    start("spawned by name", NULL, 1);
    sigemptyset(&mask);
    sigaddset(&mask, SIGFPE);
    sigaddset(&mask, SIGUSR2);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, &mask);
    start("spawned with a mask", &attributes, 0);
    printf("%d\n", posix_spawn(&child, "/nonexistent", NULL, NULL, arguments, environ) == ENOENT);
    show("after a failure");
}

int main(int count, char **arguments) {
    if (count > 1) {
        HIT();
        show(arguments[1]);
        return 5;
    }
    jumps(SIGSEGV, SIGUSR1, 1);
    jumps(0, 0, 1);
    jumps(SIGFPE, SIGSEGV, 1);
    jumps(SIGFPE, SIGSEGV, 0);
#ifdef __GLIBC__
    contexts();
#endif
    programs();
    HIT();
    return 7;
}
