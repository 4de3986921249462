/* Jumps that are out of the ordinary, by the word that it is given. */
#define _GNU_SOURCE
#define BOOK 0
#define BOOKKEEPER
#include "books.h"
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define APART __attribute__((noinline))

static jmp_buf place, other;
static volatile int sink;
static char room[65536];

#define BACK() (sink != -77)

static APART int leave(int levels) {
    HIT();
    if (levels)
        sink = leave(levels - 1);
    else
        longjmp(place, 1);
    if (BACK())
        HIT();
    return sink;
}

static void handle(int number) {
    HIT();
    if (BACK())
        sink = leave(number % 3);
}

static APART void send(int times) {
    HIT();
    if (times)
        send(times - 1);
    else
        raise(SIGUSR1);
    if (BACK())
        HIT();
}

/* From a handler that has a stack of its own. */
static void other_stack(void) {
    stack_t stack = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_ONSTACK | SA_NODEFER};
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    for (volatile int i = 0; i < 4; i++) {
        HIT();
        if (setjmp(place) == 0) {
            HIT();
            send(i);
        } else {
            HIT();
        }
    }
}

static APART int fault(int levels) {
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
    if (setjmp(place) == 0) {
        HIT();
        fault(3);
    }
    HIT();
}

static void visit(void) {
    HIT();
    if (setjmp(other) == 0) {
        HIT();
        longjmp(place, 1);
    }
    HIT();
    longjmp(place, 2);
}

/* To another stack, and back again. */
static void to_and_fro(void) {
    ucontext_t here, there;
    getcontext(&there);
    there.uc_stack = (stack_t){.ss_sp = room, .ss_size = sizeof room};
    there.uc_link = &here;
    makecontext(&there, visit, 0);
    int got = setjmp(place);
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
static APART void split(int levels) {
    HIT();
    if (levels) {
        split(levels - 1);
    } else if (fork() == 0) {
        longjmp(place, 1);
    } else {
        wait(NULL);
    }
    if (BACK())
        HIT();
}

static int in_a_child(void) {
    if (setjmp(place) == 0) {
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
