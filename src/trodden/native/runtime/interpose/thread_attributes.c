/* The signal mask among the attributes of a thread (glibc), and the attributes without it: a thread with a mask of its
 * own would start with its signals open, before it has its shards (pthread_create.c). */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "interpose/thread_attributes.h"

#ifdef __GLIBC__
#pragma weak pthread_attr_getsigmask_np
int pthread_attr_getsigmask_np(const pthread_attr_t *attributes, sigset_t *mask);

bool trodden_thread_mask_of(const pthread_attr_t *attributes, uint64_t *mask) {
    sigset_t set;
    if (!attributes || !pthread_attr_getsigmask_np || pthread_attr_getsigmask_np(attributes, &set) != 0)
        return false;
    memcpy(mask, &set, sizeof *mask);
    return true;
}

static void copy_affinity(pthread_attr_t *copy, const pthread_attr_t *attributes) {
    cpu_set_t processors;
    if (pthread_attr_getaffinity_np(attributes, sizeof processors, &processors) == 0 && CPU_COUNT(&processors) &&
        CPU_COUNT(&processors) < CPU_SETSIZE)
        pthread_attr_setaffinity_np(copy, sizeof processors, &processors);
}

bool trodden_copy_without_mask(pthread_attr_t *copy, const pthread_attr_t *attributes) {
    struct sched_param parameters;
    size_t size = 0, guard = 0;
    void *stack = NULL;
    int value = 0;
    if (pthread_attr_init(copy) != 0)
        return false;
    if (pthread_attr_getdetachstate(attributes, &value) == 0)
        pthread_attr_setdetachstate(copy, value);
    if (pthread_attr_getschedpolicy(attributes, &value) == 0)
        pthread_attr_setschedpolicy(copy, value);
    if (pthread_attr_getschedparam(attributes, &parameters) == 0)
        pthread_attr_setschedparam(copy, &parameters);
    if (pthread_attr_getinheritsched(attributes, &value) == 0)
        pthread_attr_setinheritsched(copy, value);
    if (pthread_attr_getscope(attributes, &value) == 0)
        pthread_attr_setscope(copy, value);
    if (pthread_attr_getguardsize(attributes, &guard) == 0)
        pthread_attr_setguardsize(copy, guard);
    if (pthread_attr_getstack(attributes, &stack, &size) == 0 && (uintptr_t)stack + size != 0)
        pthread_attr_setstack(copy, stack, size);
    else if (pthread_attr_getstacksize(attributes, &size) == 0)
        pthread_attr_setstacksize(copy, size);
    copy_affinity(copy, attributes);
    return true;
}
#else
bool trodden_thread_mask_of(const pthread_attr_t *attributes, uint64_t *mask) {
    (void)attributes, (void)mask;
    return false;
}

bool trodden_copy_without_mask(pthread_attr_t *copy, const pthread_attr_t *attributes) {
    (void)copy, (void)attributes;
    return false;
}
#endif
