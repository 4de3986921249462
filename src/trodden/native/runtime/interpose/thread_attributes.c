/* The signal mask among the attributes of a thread (glibc), and the attributes with another one: a thread with a mask
 * of its own would start with its signals open, before it has its shards (pthread_create.c).
 *
 * Masks and processors lie in a part of the attributes that only a pointer leads to.  The copy gets a part of its own.
 * Where that pointer lies is seen when a mask is set for the first time. */
#define _GNU_SOURCE
#include <features.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "interpose/thread_attributes.h"

#ifdef __GLIBC__
#pragma weak pthread_attr_getsigmask_np
#pragma weak pthread_attr_setsigmask_np
int pthread_attr_getsigmask_np(const pthread_attr_t *attributes, sigset_t *mask);
int pthread_attr_setsigmask_np(pthread_attr_t *attributes, const sigset_t *mask);

enum { WORDS = sizeof(pthread_attr_t) / sizeof(uint64_t) };

bool trodden_thread_mask_of(const pthread_attr_t *attributes, uint64_t *mask) {
    sigset_t set;
    if (!attributes || !pthread_attr_getsigmask_np || pthread_attr_getsigmask_np(attributes, &set) != 0)
        return false;
    memcpy(mask, &set, sizeof *mask);
    return true;
}

void trodden_copy_processors(pthread_attr_t *copy, const pthread_attr_t *attributes) {
    cpu_set_t processors, all; /* which stand for none in particular */
    memset(&all, -1, sizeof all);
    if (pthread_attr_getaffinity_np(attributes, sizeof processors, &processors) == 0 &&
        memcmp(&processors, &all, sizeof all) != 0)
        pthread_attr_setaffinity_np(copy, sizeof processors, &processors);
}

bool trodden_copy_with_all_blocked(pthread_attr_t *copy, const pthread_attr_t *attributes) {
    uint64_t before[WORDS], after[WORDS], own[WORDS];
    sigset_t all;
    sigfillset(&all);
    if (!pthread_attr_setsigmask_np || pthread_attr_init(copy) != 0)
        return false;
    memcpy(before, copy, sizeof before);
    int error = pthread_attr_setsigmask_np(copy, &all);
    memcpy(after, copy, sizeof after);
    memcpy(own, attributes, sizeof own);
    for (unsigned i = 0; i < WORDS; i++)
        if (before[i] != after[i])
            own[i] = after[i];
    memcpy(copy, own, sizeof own);
    if (error == 0)
        trodden_copy_processors(copy, attributes);
    return error == 0;
}
#else
bool trodden_thread_mask_of(const pthread_attr_t *attributes, uint64_t *mask) {
    (void)attributes, (void)mask;
    return false;
}

bool trodden_copy_with_all_blocked(pthread_attr_t *copy, const pthread_attr_t *attributes) {
    (void)copy, (void)attributes;
    return false;
}
#endif
