/* A program that knows who has called whom directly, and has come back: what trodden has to find.
 *
 * A function begins with ENTER and ends with LEAVE; a call that may be one of a function with probes is in CALL.  Code
 * without probes that calls back says nothing, and is not counted. */
#include <stdio.h>
#include <stdlib.h>

enum { CROSSING_NAMES = 32 };
#define UNSEEN __attribute__((no_profile_instrument_function, noinline))
#define SEEN __attribute__((noinline))

#ifndef CROSSINGS_ELSEWHERE
__thread const char *crossing_caller;
static const char *crossing_names[CROSSING_NAMES];
static unsigned long crossing_counts[CROSSING_NAMES][CROSSING_NAMES];

UNSEEN static int crossing_number(const char *name) {
    int number = 0;
    for (;; number++) {
        const char *known = __atomic_load_n(&crossing_names[number], __ATOMIC_ACQUIRE);
        if (!known && __atomic_compare_exchange_n(&crossing_names[number], &known, name, 0, __ATOMIC_ACQ_REL,
                                                  __ATOMIC_ACQUIRE))
            return number;
        for (int i = 0;; i++) {
            if (known[i] != name[i])
                break;
            if (!name[i])
                return number;
        }
    }
}

UNSEEN void crossing_done(const char *caller, const char *callee) {
    if (caller)
        __atomic_fetch_add(&crossing_counts[crossing_number(caller)][crossing_number(callee)], 1, __ATOMIC_RELAXED);
}

UNSEEN static void crossing_print(const char *process) {
    for (int i = 0; i < CROSSING_NAMES; i++)
        for (int k = 0; k < CROSSING_NAMES; k++)
            if (crossing_counts[i][k])
                printf("%s %s %s %lu\n", process, crossing_names[i], crossing_names[k], crossing_counts[i][k]);
    fflush(stdout);
}

UNSEEN static void crossing_reset(void) {
    for (int i = 0; i < CROSSING_NAMES; i++)
        for (int k = 0; k < CROSSING_NAMES; k++)
            crossing_counts[i][k] = 0;
}
#else
extern __thread const char *crossing_caller;
void crossing_done(const char *caller, const char *callee);
#endif

#define ENTER()                                                                                                        \
    const char *volatile crossing_from = crossing_caller;                                                              \
    crossing_caller = NULL
#define LEAVE() crossing_done(crossing_from, __func__)
#define CALL(call) (crossing_caller = __func__, call)
