/* A signal that is pending when a jump or a switch of stacks restores the signal mask; the first argument says which.
   Its handler exits, jumps or returns. */
#define _GNU_SOURCE
#include "mapped_counts.h"

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

static volatile int sink, left = 3;
static sigjmp_buf back;
static ucontext_t home, away;
static char stack[1 << 16];

#define RETURNED() (sink != -77)

static int is(const char *mode, const char *name) { return strcmp(mode, name) == 0; }

static void set_blocked(int how, int number) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(how, &set, NULL);
}

static int is_blocked(int number) {
    sigset_t now;
    sigprocmask(SIG_BLOCK, NULL, &now);
    return sigismember(&now, number);
}

/* The signal is blocked here, and pending until the mask is restored. */
static void jumps(int number) {
    HIT();
    if (left-- > 0) {
        HIT();
        raise(number);
    }
    siglongjmp(back, 1);
}

static void exits(int number) {
    HIT();
    exit(number);
}

static void returns(int number) {
    HIT();
    sink = number;
}

NOINLINE static int deep(int level) {
    HIT();
    if (level == 0) {
        HIT();
        raise(SIGUSR1);
        if (RETURNED())
            HIT();
        return 0;
    }
    int below = deep(level - 1);
    if (RETURNED())
        HIT();
    return below + 1;
}

NOINLINE static void jump(void) {
    HIT();
    if (sigsetjmp(back, 1) == 0) {
        HIT();
        sink = deep(4);
        if (RETURNED())
            HIT();
    }
    HIT();
    if (sigsetjmp(back, 1) == 0) {
        HIT();
        set_blocked(SIG_BLOCK, SIGUSR2);
        raise(SIGUSR2);
        siglongjmp(back, 1);
    }
    printf("%d %d\n", is_blocked(SIGUSR1), is_blocked(SIGUSR2));
}

NOINLINE static void inner(const char *mode, int level) {
    HIT();
    if (level) {
        HIT();
        inner(mode, level - 1);
        if (RETURNED())
            HIT();
        return;
    }
    set_blocked(SIG_BLOCK, SIGUSR2);
    raise(SIGUSR2);
    HIT();
    if (is(mode, "return"))
        return;
    if (is(mode, "set")) {
        HIT();
        setcontext(&home);
    }
    swapcontext(&away, &home);
    if (RETURNED())
        HIT();
    printf("resumed: %d\n", is_blocked(SIGUSR2));
}

static void start(int high, int low) {
    HIT();
    if (is_blocked(SIGUSR1))
        HIT();
    inner((const char *)((unsigned long)(unsigned)high << 32 | (unsigned)low), 3);
    if (RETURNED())
        HIT();
}

NOINLINE static void outer(const char *mode) {
    HIT();
    getcontext(&away);
    away.uc_stack.ss_sp = stack;
    away.uc_stack.ss_size = sizeof stack;
    away.uc_link = &home;
    makecontext(&away, (void (*)(void))start, 2, (int)((unsigned long)mode >> 32), (int)(unsigned long)mode);
    if (is(mode, "start")) {
        HIT();
        set_blocked(SIG_BLOCK, SIGUSR2);
        raise(SIGUSR2);
    }
    swapcontext(&home, &away);
    if (RETURNED())
        HIT();
    if (is(mode, "swap returns")) {
        HIT();
        printf("at home: %d\n", is_blocked(SIGUSR2));
        swapcontext(&home, &away);
        if (RETURNED())
            HIT();
    }
}

int main(int count, char **arguments) {
    const char *mode = count > 1 ? arguments[1] : "";
    signal(SIGUSR1, jumps);
    signal(SIGUSR2, is(mode, "swap returns") || is(mode, "jump") ? returns : exits);
    if (is(mode, "jump"))
        jump();
    else
        outer(mode);
    if (RETURNED())
        HIT();
    return 7;
}
