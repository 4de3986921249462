/* A program that keeps books of the paths it walks: every function lays a trail of marks, which ends where
 * a path ends (when a loop goes round again, when the function is left) and then counts once. */
#ifndef TRAILS_H
#define TRAILS_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST 400

struct trail {
    const char *function;
    char marks[60];
    volatile int length;
};

static struct trail active[64];
static int depth;

/* What follows a call is a block of its own: a path that was cut short in the call has not come there. */
static volatile int back_again = 1;
static struct {
    char what[80];
    long count;
} book[MOST];

static void enter_in_book(const struct trail *trail, const char *how) {
    char what[80];
    snprintf(what, sizeof what, "%s %.*s %s", trail->function, trail->length, trail->marks, how);
    for (int i = 0; i < MOST; i++) {
        if (!book[i].count)
            strcpy(book[i].what, what);
        if (strcmp(book[i].what, what) == 0) {
            book[i].count++;
            return;
        }
    }
}

static void trail_opens(const char *function) {
    active[depth].function = function;
    active[depth].length = 0;
    depth++;
}

static void trail_ends(const char *how) {
    enter_in_book(&active[depth - 1], how);
    active[depth - 1].length = 0;
}

static void trail_closes(void) {
    trail_ends("exit");
    depth--;
}

/* All trails down to a depth are cut short, in the middle of what they were doing. */
static void trails_break(int down_to) {
    while (depth > down_to) {
        enter_in_book(&active[depth - 1], "unwound");
        depth--;
    }
}

static void mark(char letter) { active[depth - 1].marks[active[depth - 1].length++] = letter; }

static void print_book(void) {
    for (int i = 0; i < MOST && book[i].count; i++)
        printf("%s %ld\n", book[i].what, book[i].count);
}

#endif
