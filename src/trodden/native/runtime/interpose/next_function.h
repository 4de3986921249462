/* The function behind an interposer, in a dynamic program.
 *
 * It is the next of that name in lookup order; but a sanitizer that is linked into the same module has interceptors
 * under weak names, which ours replace.  They have a second name, and come first: each knows what it has to do
 * before it calls the C library. */
#ifndef TRODDEN_INTERPOSE_NEXT_FUNCTION_H
#define TRODDEN_INTERPOSE_NEXT_FUNCTION_H

#include <stddef.h>

/* Declares a sanitizer's interceptor of a function with this type. */
#define TRODDEN_INTERCEPTOR(type, name) extern type __interceptor_##name __attribute__((weak))

/* The next function of that name, as a pointer; NULL if there is none. */
#define TRODDEN_NEXT(name) trodden_next_function(#name, (void *)__interceptor_##name)

void *trodden_next_function(const char *name, void *interceptor);

/* The same by the real dlsym, in a module that has an interposer of dlsym (dlsym.c); NULL in others. */
void *trodden_dlsym_next(const char *name);

/* Marks memory that the runtime has written as initialized, for MemorySanitizer, which does not see it. */
void trodden_written(const void *memory, size_t bytes);

#endif
