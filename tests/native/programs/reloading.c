/* Threads that load libraries, use and unload them, while others run in the program, or jump in it. */
#define _GNU_SOURCE
#define FILE_NUMBER 0
#include "mapped_counts.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef long use_function(long);
typedef void jump_function(long, jmp_buf);

static volatile int sink;
static int loading, rounds;

NOINLINE static long own(long n) {
    if (n & 1) {
        HIT();
        return n * 3;
    }
    HIT();
    return n / 2;
}

NOINLINE static int use(const char *path, long n) {
    HIT();
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    use_function *function = library ? (use_function *)(uintptr_t)dlsym(library, "use") : NULL;
    jump_function *jump = library ? (jump_function *)(uintptr_t)dlsym(library, "jump") : NULL;
    jmp_buf env;
    if (!function || !jump)
        abort();
    sink = (int)function(n);
    if (setjmp(env) == 0) {
        HIT();
        jump(n % 4, env);
    } else {
        HIT();
        sink = 1;
    }
    return dlclose(library);
}

static void *load(void *path) {
    for (int i = 0; i < rounds; i++) {
        HIT();
        sink = use((const char *)path, i) + (int)own(i);
    }
    __atomic_fetch_sub(&loading, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

NOINLINE static void deep(int levels, jmp_buf env) {
    HIT();
    if (levels == 0) {
        HIT();
        longjmp(env, 1);
    }
    deep(levels - 1, env);
    if (sink != -77)
        HIT();
}

NOINLINE static void hop(int levels) {
    jmp_buf env;
    if (setjmp(env) == 0) {
        HIT();
        deep(levels, env);
    } else {
        HIT();
        sink = levels;
    }
}

static void *run(void *jumps) {
    for (int i = 0; __atomic_load_n(&loading, __ATOMIC_SEQ_CST); i++) {
        HIT();
        sink = (int)own(i);
        if (jumps) {
            HIT();
            hop(i % 5);
        }
    }
    return NULL;
}

/* How often; the libraries, one for each thread. */
int main(int argc, char **argv) {
    pthread_t ids[8], runner, jumper;
    rounds = atoi(argv[1]);
    loading = argc - 2;
    pthread_create(&runner, NULL, run, NULL);
    pthread_create(&jumper, NULL, run, argv);
    for (int i = 2; i < argc; i++)
        pthread_create(&ids[i], NULL, load, argv[i]);
    for (int i = 2; i < argc; i++)
        pthread_join(ids[i], NULL);
    pthread_join(runner, NULL);
    pthread_join(jumper, NULL);
    HIT();
    return 5;
}
