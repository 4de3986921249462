/* Threads jump, each with path registers of its own, while a library is loaded and unloaded again and again:
 * ROUNDS THREADS TIMES LIBRARY.  Prints how often with which value in the slot. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "register_slots.h"
#include "unit.h"

#define NOINLINE __attribute__((noinline))

UNIT('r', 1);

enum { MOST = 16, CONTENTS = 5 };

typedef long through(void (*callback)(void *back), long value);

static long rounds;
static volatile long sink;
static __thread jmp_buf env;

NOINLINE static void leave(void *back) {
    sink = (long)back;
    longjmp(env, 1);
}

static void (*volatile callback)(void *back) = leave;

NOINLINE static void with_cell(long value) {
    volatile long slot;
    SLOT(slot);
    slot = value;
    callback(NULL);
    sink = slot;
}

NOINLINE static void between(long value) {
    with_cell(value);
    sink = value;
}

static void *jump(void *argument) {
    for (volatile long i = 0; i < rounds; i++)
        if (setjmp(env) == 0)
            between((long)argument + i % CONTENTS);
    return NULL;
}

int main(int argc, char **argv) {
    pthread_t ids[MOST];
    long count = argc > 4 ? atol(argv[2]) : 0;
    rounds = atol(argv[1]);
    STEP(0);
    for (long i = 0; i < count; i++)
        pthread_create(&ids[i], NULL, jump, (void *)(1000 * (i + 1)));
    for (volatile long i = atol(argv[3]); i > 0; i--) {
        void *library = dlopen(argv[4], RTLD_NOW);
        through *go = NULL;
        if (library)
            *(void **)&go = dlsym(library, "through");
        if (!go)
            abort();
        for (volatile long k = 0; k < 4; k++)
            if (setjmp(env) == 0)
                sink = go(leave, k % 2);
        dlclose(library);
    }
    for (long i = 0; i < count; i++)
        pthread_join(ids[i], NULL);
    for (long i = 0; i < count; i++)
        for (long k = 0; k < CONTENTS; k++)
            printf("%lx %ld\n", 1000 * (i + 1) + k, (rounds - k + CONTENTS - 1) / CONTENTS);
    return 0;
}
