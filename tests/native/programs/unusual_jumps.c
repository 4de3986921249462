/* Unusual jumps; the first argument says which. */
#define _GNU_SOURCE
#define FILE_NUMBER 0
#define COUNTS_OWNER
#include "reference_counts.h"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))

static jmp_buf env, other;
static volatile int sink;
static char room[65536];

#define RETURNED() (sink != -77)

static NOINLINE int leave(int levels) {
    HIT();
    if (levels)
        sink = leave(levels - 1);
    else
        longjmp(env, 1);
    if (RETURNED())
        HIT();
    return sink;
}

static void handle(int number) {
    HIT();
    if (RETURNED())
        sink = leave(number % 3);
}

static NOINLINE void send(int times) {
    HIT();
    if (times)
        send(times - 1);
    else
        raise(SIGUSR1);
    if (RETURNED())
        HIT();
}

/* From a signal handler with a stack of its own. */
static void other_stack(void) {
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (volatile int i = 0; i < 4; i++) {
        HIT();
        if (setjmp(env) == 0) {
            HIT();
            send(i);
        } else {
            HIT();
        }
    }
}

static NOINLINE int fault(int levels) {
    HIT();
    if (levels) {
        sink = fault(levels - 1);
        return sink + 1;
    }
    __builtin_trap();
}

/* From an instruction that is no call. */
static void in_the_middle(void) {
    signal(SIGILL, handle);
    signal(SIGTRAP, handle);
    if (setjmp(env) == 0) {
        HIT();
        fault(3);
    }
    HIT();
}

static void visit(void) {
    HIT();
    if (setjmp(other) == 0) {
        HIT();
        longjmp(env, 1);
    }
    HIT();
    longjmp(env, 2);
}

/* To another stack, and back. */
static void to_and_fro(void) {
    ucontext_t here, there;
    getcontext(&there);
    there.uc_stack = (stack_t){.ss_sp = room, .ss_size = sizeof room};
    there.uc_link = &here;
    makecontext(&there, visit, 0);
    int got = setjmp(env);
    if (got == 0) {
        HIT();
        swapcontext(&here, &there);
    } else if (got == 1) {
        HIT();
        longjmp(other, 1);
    }
    HIT();
}

/* A child leaves functions that its parent has entered. */
static NOINLINE void split(int levels) {
    HIT();
    if (levels) {
        split(levels - 1);
    } else if (fork() == 0) {
        longjmp(env, 1);
    } else {
        wait(NULL);
    }
    if (RETURNED())
        HIT();
}

static int in_a_child(void) {
    if (setjmp(env) == 0) {
        HIT();
        split(4);
        return 0;
    }
    HIT();
    return 9;
}

int main(int count, char **words) {
    const char *word = count > 1 ? words[1] : "";
    HIT();
    if (strcmp(word, "stack") == 0)
        other_stack();
    if (strcmp(word, "middle") == 0)
        in_the_middle();
    if (strcmp(word, "context") == 0)
        to_and_fro();
    if (strcmp(word, "child") == 0 && in_a_child())
        _exit(9);
    return 5;
}
