/* A log of paths that the program keeps itself: every function appends marks to its current path, which ends where a
 * path ends (at a back edge, when the function is left) and is then counted once. */
#ifndef PATH_LOG_H
#define PATH_LOG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PATHS 400

struct path_marks {
    const char *function;
    char marks[60];
    volatile int length;
};

static struct path_marks active[64];
static int depth;

/* The code behind a call is a block of its own: a path that was cut short in the call has not reached it. */
static volatile int returned = 1;
static struct {
    char what[80];
    long count;
} path_counts[MAX_PATHS];

static void count_path(const struct path_marks *path_marks, const char *how) {
    char what[80];
    snprintf(what, sizeof what, "%s %.*s %s", path_marks->function, path_marks->length, path_marks->marks, how);
    for (int i = 0; i < MAX_PATHS; i++) {
        if (!path_counts[i].count)
            strcpy(path_counts[i].what, what);
        if (strcmp(path_counts[i].what, what) == 0) {
            path_counts[i].count++;
            return;
        }
    }
}

static void enter_function(const char *function) {
    active[depth].function = function;
    active[depth].length = 0;
    depth++;
}

static void end_path(const char *how) {
    count_path(&active[depth - 1], how);
    active[depth - 1].length = 0;
}

static void leave_function(void) {
    end_path("exit");
    depth--;
}

/* All paths down to a depth are cut short. */
static void unwind_to(int down_to) {
    while (depth > down_to) {
        count_path(&active[depth - 1], "unwound");
        depth--;
    }
}

static void mark(char letter) { active[depth - 1].marks[active[depth - 1].length++] = letter; }

static void print_path_counts(void) {
    for (int i = 0; i < MAX_PATHS && path_counts[i].count; i++)
        printf("%s %ld\n", path_counts[i].what, path_counts[i].count);
}

#endif
