/* Every fatal signal, three calls deep in unfinished loops; the first argument says which. */
#define _GNU_SOURCE
#include "mapped_counts.h"

#include <assert.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static volatile int sink, zero;
static volatile sig_atomic_t handled;
static sigjmp_buf env;

/* The code behind a call is a block of its own, so that its line tells whether the call returned. */
#define RETURNED() (sink != -77)

static int is(const char *mode, const char *name) { return strcmp(mode, name) == 0; }

static void counts(int number) {
    HIT();
    handled = number;
}

static void raises_again(int number) {
    HIT();
    signal(number, SIG_DFL);
    raise(number);
    if (RETURNED())
        HIT();
}

static void leaves(int number) {
    HIT();
    _exit(40 + number);
}

static void jumps(int number) {
    HIT();
    siglongjmp(env, number);
}

NOINLINE static int overflow(int level) {
    volatile char room[256];
    room[level & 255] = (char)level;
    HIT();
    int below = overflow(level + 1);
    if (RETURNED())
        HIT();
    return below + room[level & 255];
}

static void small_stack(void) {
    struct rlimit limit;
    getrlimit(RLIMIT_STACK, &limit);
    if (limit.rlim_cur > 1 << 20) {
        limit.rlim_cur = 1 << 20;
        setrlimit(RLIMIT_STACK, &limit);
    }
}

/* The fault is the last instruction of its block. */
NOINLINE static void fault(const char *mode) {
    HIT();
    if (is(mode, "segv")) {
        HIT();
        *(volatile int *)16 = 1;
    }
    if (is(mode, "fpe")) {
        HIT();
        sink = 7 / zero;
    }
    if (is(mode, "ill")) {
        HIT();
        __builtin_trap();
    }
    if (is(mode, "overflow"))
        sink = overflow(1);
}

NOINLINE static void leave(const char *mode) {
    HIT();
    if (is(mode, "exit")) {
        HIT();
        exit(3);
    }
    if (is(mode, "_exit")) {
        HIT();
        _exit(4);
    }
    if (is(mode, "quick_exit")) {
        HIT();
        quick_exit(5);
    }
    if (is(mode, "abort")) {
        HIT();
        abort();
    }
    if (is(mode, "assert")) {
        HIT();
        assert(zero);
    }
}

NOINLINE static void raise_one(const char *mode) {
    static const struct {
        const char *name;
        int number;
    } known[] = {{"term", SIGTERM}, {"int", SIGINT}, {"hup", SIGHUP},   {"pipe", SIGPIPE}, {"alrm", SIGALRM},
                 {"kill", SIGKILL}, {"bus", SIGBUS}, {"usr1", SIGUSR1}, {"rt", 40},        {"quit", SIGQUIT}};
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++) {
        HIT();
        if (is(mode, known[i].name)) {
            HIT();
            kill(getpid(), known[i].number);
            if (RETURNED())
                HIT();
        }
    }
}

/* Signals that the program handles itself. */
NOINLINE static void handle(const char *mode) {
    if (is(mode, "returns")) {
        HIT();
        signal(SIGTERM, counts);
        raise(SIGTERM);
        if (handled)
            HIT();
        _exit(50);
    }
    if (is(mode, "again")) {
        HIT();
        signal(SIGSEGV, raises_again);
        raise(SIGSEGV);
        if (RETURNED())
            HIT();
    }
    if (is(mode, "leaves")) {
        HIT();
        signal(SIGABRT, leaves);
        abort();
    }
    if (is(mode, "jumps")) {
        HIT();
        signal(SIGINT, jumps);
        if (sigsetjmp(env, 1) == 0) {
            HIT();
            raise(SIGINT);
        } else {
            HIT();
            kill(getpid(), SIGTERM);
        }
        if (RETURNED())
            HIT();
    }
    if (is(mode, "ignored")) {
        HIT();
        raise(SIGINT); /* inherited */
        if (RETURNED())
            HIT();
        exit(signal(SIGINT, SIG_DFL) == SIG_IGN ? 51 : 52);
    }
    if (is(mode, "default")) {
        HIT();
        signal(SIGTERM, SIG_IGN);
        raise(SIGTERM);
        if (RETURNED())
            HIT();
        signal(SIGTERM, SIG_DFL);
        raise(SIGTERM);
        if (RETURNED())
            HIT();
    }
}

/* What a program is told about its signals. */
static void show_signals(void) {
    for (int number = 1; number < 65; number++) {
        struct sigaction now;
        memset(&now, 0, sizeof now);
        int known = sigaction(number, NULL, &now);
        printf("%d:%d,%d,%x", number, known, known == 0 && now.sa_handler == SIG_DFL, (unsigned)now.sa_flags);
        if (number == SIGKILL || number == SIGSTOP || (number >= 32 && number < 35)) {
            puts("");
            continue;
        }
        printf(" %d", signal(number, counts) == SIG_DFL);
        printf(" %d", signal(number, SIG_IGN) == counts);
        printf(" %d", signal(number, SIG_DFL) == SIG_IGN);
        sigaction(number, NULL, &now);
        printf(" %d,%x,%d\n", now.sa_handler == SIG_DFL, (unsigned)now.sa_flags,
               sigismember(&now.sa_mask, SIGUSR2));
    }
}

NOINLINE static int walk(int n, const char *mode) {
    for (int i = 0; i < 5; i++) {
        HIT();
        if (n == 2 && i == 3) {
            HIT();
            leave(mode);
            fault(mode);
            handle(mode);
            raise_one(mode);
        }
        if (RETURNED())
            HIT();
    }
    HIT();
    return n;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "none";
    if (is(mode, "overflow"))
        small_stack();
    if (is(mode, "signals"))
        show_signals();
    for (int i = 0; i < 4; i++) {
        HIT();
        sink = walk(i, mode);
        if (RETURNED())
            HIT();
    }
    return 6;
}
