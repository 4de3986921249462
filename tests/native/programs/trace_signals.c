/* Signals that arrive at any instruction of a thread that records consecutive numbers.  Their handler records how far
 * the thread was, and may jump out. */
#define _GNU_SOURCE
#include "trace_probes.h"
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { WORK, HANDLE, MOST_BETWEEN = 2000 };

static volatile uint64_t number, handled, last;
static volatile int may_send = 1, jumps;
static uint64_t signals;
static pthread_t worker;
static sigjmp_buf start;

static void handle(int unused) {
    (void)unused;
    ENTER(HANDLE);
    TRIPS(handled, HANDLE, 3);
    TRIPS(number, HANDLE, 5);
    handled = handled + 1;
    last = number;
    may_send = 1;
    if (jumps && handled % 3 == 0)
        siglongjmp(start, 1);
    SYMBOL(1, HANDLE, 7);
}

static void *send(void *unused) {
    unsigned delay = 1;
    while (handled < signals) {
        if (may_send) {
            delay = delay * 1103515245 + 12345;
            for (volatile unsigned i = 0; i < delay >> 20 % 12; i++)
                ;
            may_send = 0;
            pthread_kill(worker, SIGUSR1);
        }
        sched_yield();
    }
    return unused;
}

__attribute__((noinline)) static void record(void) {
    TRIPS(number, WORK, 3);
    number = number + 1;
}

int main(int argc, char **argv) {
    stack_t stack = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
    struct sigaction action = {.sa_flags = 0};
    pthread_t sender;
    signals = strtoull(argv[2], NULL, 10);
    jumps = argc > 1 && strchr(argv[1], 'j') != NULL;
    if (strchr(argv[1], 'a')) {
        sigaltstack(&stack, NULL);
        action.sa_flags = SA_ONSTACK;
    }
    action.sa_handler = handle;
    ENTER(WORK);
    STEP(0);
    worker = pthread_self();
    sigsetjmp(start, 1);
    if (!handled && !number) {
        sigaction(SIGUSR1, &action, NULL);
        pthread_create(&sender, NULL, send, NULL);
    }
    while (handled < signals) {
        record();
        while (number - last > MOST_BETWEEN && handled < signals)
            sched_yield();
    }
    pthread_join(sender, NULL);
    return 3;
}
