/* A program that keeps books of its call paths: each thread has a chain of the functions that are active, and a
 * function that is on the chain already goes back to where it stands. */
#ifndef CHAINS_H
#define CHAINS_H

#include <stdio.h>
#include <string.h>

#ifdef __cplusplus
#define NO_PROBES extern "C" __attribute__((no_profile_instrument_function, noinline))
#define NOTED extern "C" __attribute__((noinline))
#else
#define NO_PROBES __attribute__((no_profile_instrument_function, noinline))
#define NOTED __attribute__((noinline))
#endif

#define LONGEST 24
#define MOST 400

struct chain {
    int length;
    const char *functions[LONGEST];
};

#ifdef CHAINS_ELSEWHERE
extern __thread struct chain now;
#else
__thread struct chain now;
static struct {
    struct chain chain;
    int again;
    long count;
} book[MOST];
static int in_book, book_is_held;

static int same_chain(const struct chain *a, const struct chain *b) __attribute__((no_profile_instrument_function));
static int same_chain(const struct chain *a, const struct chain *b) {
    int same = a->length == b->length;
    for (int i = 0; same && i < a->length; i++)
        same = strcmp(a->functions[i], b->functions[i]) == 0;
    return same;
}

/* Answers what the chain was before. */
NO_PROBES struct chain enter(const char *function) {
    struct chain before = now;
    int at = 0, again;
    while (at < now.length && strcmp(now.functions[at], function) != 0)
        at++;
    again = at < now.length;
    now.functions[at] = function;
    now.length = at + 1;
    while (__atomic_exchange_n(&book_is_held, 1, __ATOMIC_ACQUIRE))
        ;
    int entry = 0;
    while (entry < in_book && !same_chain(&book[entry].chain, &now))
        entry++;
    if (entry == in_book)
        book[in_book++].chain = now;
    book[entry].again |= again;
    book[entry].count++;
    __atomic_store_n(&book_is_held, 0, __ATOMIC_RELEASE);
    return before;
}

/* The chain is what it was, however control came here. */
NO_PROBES void back_to(const struct chain *chain) { now = *chain; }

NO_PROBES void forget_book(void) {
    for (int i = 0; i < in_book; i++)
        book[i].count = book[i].again = 0;
}

NO_PROBES void print_book(void) {
    for (int i = 0; i < in_book; i++) {
        for (int k = 0; book[i].count && k < book[i].chain.length; k++)
            printf("%s%s", k ? ";" : "", book[i].chain.functions[k]);
        if (book[i].count)
            printf(" %ld%s\n", book[i].count, book[i].again ? " again" : "");
    }
    fflush(stdout);
}
#endif

#ifdef CHAINS_ELSEWHERE
#ifdef __cplusplus
extern "C" {
#endif
struct chain enter(const char *function);
void back_to(const struct chain *chain);
#ifdef __cplusplus
}
#endif
#endif

#define ENTER(name) struct chain before = enter(name)
#define LEAVE() back_to(&before)

#endif
