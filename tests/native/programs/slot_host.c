/* Jumps over functions of libraries that are loaded and unloaded, and ends in one that is still loaded.  Prints at the end
 * where the last one returns to. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include "unit.h"

UNIT('h', 1);

typedef long through(void (*callback)(void *back), long value);

static jmp_buf env;
static volatile long sink;

static void jump(void *back) {
    sink = (long)back;
    longjmp(env, 1);
}

static void end(void *back) {
    printf("%lx\n", (long)back);
    exit(6);
}

int main(int argc, char **argv) {
    STEP(0);
    for (volatile int i = 1; i < argc; i++) {
        void *library = dlopen(argv[i], RTLD_NOW);
        through *go = NULL;
        if (library)
            *(void **)&go = dlsym(library, "through");
        if (!go)
            abort();
        for (volatile long k = 0; k < 300; k++)
            if (setjmp(env) == 0)
                sink = go(jump, k % 3);
        if (i + 1 == argc)
            sink = go(end, 4711);
        dlclose(library);
    }
    return 0;
}
