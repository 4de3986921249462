/* A log of call paths that the program keeps itself: each thread has a list of the active functions, and a function
 * that is called recursively returns to its position in the list. */
#ifndef CALL_PATH_LOG_H
#define CALL_PATH_LOG_H

#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
#define NO_PROBES extern "C" __attribute__((no_profile_instrument_function, noinline))
#define LOGGED extern "C" __attribute__((noinline))
#else
#define NO_PROBES __attribute__((no_profile_instrument_function, noinline))
#define LOGGED __attribute__((noinline))
#endif

#define MAX_LENGTH 24
#define MAX_PATHS 400

struct call_path {
    int length;
    const char *functions[MAX_LENGTH];
};

#ifdef CALL_PATH_LOG_EXTERN
extern __thread struct call_path current_path;
#else
__thread struct call_path current_path;
static struct {
    struct call_path call_path;
    int again;
    long count;
} call_path_counts[MAX_PATHS];
static int path_count, log_lock;

static int same_path(const struct call_path *a, const struct call_path *b) __attribute__((no_profile_instrument_function));
static int same_path(const struct call_path *a, const struct call_path *b) {
    int same = a->length == b->length;
    for (int i = 0; same && i < a->length; i++)
        same = strcmp(a->functions[i], b->functions[i]) == 0;
    return same;
}

/* Returns the path before the call. */
NO_PROBES struct call_path enter(const char *function) {
    struct call_path before = current_path;
    int at = 0, again;
    while (at < current_path.length && strcmp(current_path.functions[at], function) != 0)
        at++;
    again = at < current_path.length;
    current_path.functions[at] = function;
    current_path.length = at + 1;
    while (__atomic_exchange_n(&log_lock, 1, __ATOMIC_ACQUIRE))
        ;
    int entry = 0;
    while (entry < path_count && !same_path(&call_path_counts[entry].call_path, &current_path))
        entry++;
    if (entry == path_count)
        call_path_counts[path_count++].call_path = current_path;
    call_path_counts[entry].again |= again;
    call_path_counts[entry].count++;
    __atomic_store_n(&log_lock, 0, __ATOMIC_RELEASE);
    return before;
}

/* The path is restored, however control came here. */
NO_PROBES void restore_path(const struct call_path *call_path) { current_path = *call_path; }

NO_PROBES void reset_log(void) {
    for (int i = 0; i < path_count; i++)
        call_path_counts[i].count = call_path_counts[i].again = 0;
}

NO_PROBES void print_log(void) {
    for (int i = 0; i < path_count; i++) {
        for (int k = 0; call_path_counts[i].count && k < call_path_counts[i].call_path.length; k++)
            printf("%s%s", k ? ";" : "", call_path_counts[i].call_path.functions[k]);
        if (call_path_counts[i].count)
            printf(" %ld%s\n", call_path_counts[i].count, call_path_counts[i].again ? " again" : "");
    }
    fflush(stdout);
}
#endif

#ifdef CALL_PATH_LOG_EXTERN
#ifdef __cplusplus
extern "C" {
#endif
struct call_path enter(const char *function);
void restore_path(const struct call_path *call_path);
#ifdef __cplusplus
}
#endif
#endif

#define ENTER(name) struct call_path before = enter(name)
#define LEAVE() restore_path(&before)

#endif
