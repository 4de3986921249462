/* The signal mask among the attributes of a thread (thread_attributes.c). */
#ifndef TRODDEN_INTERPOSE_THREAD_ATTRIBUTES_H
#define TRODDEN_INTERPOSE_THREAD_ATTRIBUTES_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* False: the attributes, or NULL, have none. */
bool trodden_thread_mask_of(const pthread_attr_t *attributes, uint64_t *mask);
/* The same attributes with a mask that blocks all signals.  False: there is no memory. */
bool trodden_copy_with_all_blocked(pthread_attr_t *copy, const pthread_attr_t *attributes);
/* With glibc: the copy gets the set of processors, if the attributes have one. */
void trodden_copy_processors(pthread_attr_t *copy, const pthread_attr_t *attributes);

#endif
