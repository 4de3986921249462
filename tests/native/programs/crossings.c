/* Calls of all kinds: recursive, indirect, variadic, through code without probes, out of handlers, in threads, behind
 * setjmp, in a forked child, in a library. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#include "crossings.h"

int library_sum(int (*each)(int), int count);
int library_direct(int value);

SEEN static int leaf(int value) {
    ENTER();
    int result = value & 1 ? value * 3 : value + 1;
    LEAVE();
    return result;
}

SEEN int other(int value) {
    ENTER();
    int result = value;
    for (int i = 0; i < (value & 3); i++)
        result += i & 1 ? i : 2;
    LEAVE();
    return result;
}

SEEN static int count_down(int n) {
    ENTER();
    int result = 1;
    if (n > 1) {
        result = CALL(count_down(n - 1));
        if (n & 1)
            result += CALL(count_down(n - 2));
    }
    LEAVE();
    return result;
}

SEEN static int sum(int count, ...) {
    ENTER();
    va_list list;
    va_start(list, count);
    int result = 0;
    for (int i = 0; i < count; i++)
        result += CALL(leaf(va_arg(list, int)));
    va_end(list);
    LEAVE();
    return result;
}

static int (*volatile pointers[])(int) = {leaf, other, abs};

SEEN static int through_pointers(int count) {
    ENTER();
    int result = 0;
    for (int i = 0; i < count; i++)
        result += CALL(pointers[i % 3](i));
    LEAVE();
    return result;
}

/* Called by qsort only. */
SEEN static int compare(const void *one, const void *two) {
    crossing_caller = NULL;
    ENTER();
    int a = CALL(leaf(*(const int *)one)), b = CALL(leaf(*(const int *)two));
    LEAVE();
    return a < b ? -1 : a > b;
}

SEEN static void sort(int count) {
    ENTER();
    int numbers[64];
    for (int i = 0; i < count; i++)
        numbers[i] = i * 37 % 64;
    crossing_caller = NULL;
    qsort(numbers, (size_t)count, sizeof *numbers, compare);
    LEAVE();
}

static volatile int handled;

/* Handlers call the very functions that may be called when they come. */
static void handle(int number) {
    const char *caller = crossing_caller;
    crossing_caller = NULL;
    handled += CALL(leaf(number)) != 0;
    crossing_caller = caller;
}

SEEN static int busy(int rounds) {
    ENTER();
    int result = 0;
    for (int i = 0; i < rounds; i++) {
        result += CALL(leaf(i));
        if (i % 3 == 0)
            result -= CALL(other(i));
    }
    LEAVE();
    return result;
}

static jmp_buf buffer;

/* Of these calls nothing comes back. */
SEEN static void jumps(int value) {
    ENTER();
    if (value & 1)
        longjmp(buffer, value);
    LEAVE();
}

SEEN static int lands(int rounds) {
    ENTER();
    volatile int landed = 0;
    for (volatile int i = 0; i < rounds; i++) {
        if (setjmp(buffer) == 0)
            CALL(jumps(i));
        else
            landed++;
        CALL(leaf(i));
    }
    LEAVE();
    return landed;
}

static ucontext_t here, there;
static char stack[1 << 16];

SEEN static void elsewhere(void) {
    crossing_caller = NULL;
    ENTER();
    for (int i = 0; i < 5; i++) {
        CALL(leaf(i));
        crossing_caller = NULL;
        swapcontext(&there, &here);
    }
    LEAVE();
    swapcontext(&there, &here);
}

SEEN static void switches(void) {
    ENTER();
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    makecontext(&there, elsewhere, 0);
    for (int i = 0; i < 6; i++) {
        CALL(other(i));
        crossing_caller = NULL;
        swapcontext(&here, &there);
    }
    LEAVE();
}

static void *thread(void *argument) {
    crossing_caller = NULL;
    for (int i = 0; i < 200; i++)
        CALL(through_pointers(i % 7));
    return argument;
}

SEEN static void forks(void) {
    ENTER();
    crossing_print("parent");
    pid_t child = fork();
    if (child == 0) {
        crossing_reset();
        CALL(count_down(5));
        CALL(library_sum(leaf, 3));
        crossing_print("child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    LEAVE();
}

int main(int argc, char **argv) {
    (void)argv;
    struct sigaction action = {.sa_handler = handle, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGUSR1, &action, NULL);
    crossing_caller = NULL;
    CALL(count_down(12));
    CALL(sum(3, 1, 2, 3));
    CALL(through_pointers(30));
    CALL(sort(64));
    for (int i = 0; i < 5; i++) {
        crossing_caller = NULL;
        raise(SIGUSR1);
    }
    ualarm(200, 200);
    CALL(busy(300000));
    ualarm(0, 0);
    CALL(lands(21));
    CALL(switches());
    CALL(library_sum(leaf, 9));
    CALL(library_sum(other, 4));
    CALL(library_direct(argc));
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    CALL(forks());
    return handled < 5;
}
