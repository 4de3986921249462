/* Deaths in signal handlers, with signals blocked, and by real-time signals; the first argument says which. */
#define _GNU_SOURCE
#include "mapped_counts.h"

#include <signal.h>
#include <string.h>

static volatile int sink;
static volatile int *volatile null;

#define RETURNED() (sink != -77)

static int is(const char *mode, const char *name) { return strcmp(mode, name) == 0; }

static void returns(int number) {
    HIT();
    sink = number;
}

NOINLINE static int fault(void) {
    HIT();
    return *null;
}

static void faults(int number) {
    HIT();
    sink = fault() + number;
    if (RETURNED())
        HIT();
}

NOINLINE static int deep(int level, int number) {
    HIT();
    if (level == 0) {
        HIT();
        int got = number ? raise(number) : fault();
        if (RETURNED())
            HIT();
        return got;
    }
    int below = deep(level - 1, number);
    if (RETURNED())
        HIT();
    return below + 1;
}

static void handle(int number, void (*handler)(int), int flags, int block_all) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
    sigemptyset(&action.sa_mask);
    if (block_all)
        sigfillset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void *start(void *argument) {
    HIT();
    sink = deep(2, 0);
    if (RETURNED())
        HIT();
    return argument;
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    sigset_t all;
    pthread_t thread;
    sigfillset(&all);
    if (is(mode, "once"))
        handle(SIGSEGV, returns, (int)SA_RESETHAND, 0);
    if (is(mode, "once on a stack")) {
        static char memory[1 << 16];
        stack_t stack = {.ss_sp = memory, .ss_size = sizeof memory};
        sigaltstack(&stack, NULL);
        handle(SIGSEGV, returns, (int)SA_RESETHAND | SA_ONSTACK, 1);
    }
    if (is(mode, "twice"))
        handle(SIGSEGV, faults, 0, 0);
    if (is(mode, "in another"))
        handle(SIGUSR1, faults, 0, 1);
    if (is(mode, "blocked") || is(mode, "blocked and handled") || is(mode, "thread"))
        sigprocmask(SIG_SETMASK, &all, NULL);
    if (is(mode, "blocked and handled"))
        handle(SIGSEGV, returns, 0, 0);
    if (is(mode, "thread")) {
        HIT();
        pthread_create(&thread, NULL, start, NULL);
        pthread_join(thread, NULL);
    }
    HIT();
    sink = deep(5, is(mode, "in another") ? SIGUSR1 : is(mode, "realtime") ? SIGRTMIN + 3 : 0);
    if (RETURNED())
        HIT();
    return 7;
}
