/* The function behind an interposer. */
#define _GNU_SOURCE
#include "interpose/next_function.h"

#include <dlfcn.h>

#pragma weak dlsym
#pragma weak trodden_dlsym_next

extern void __msan_unpoison(const volatile void *, size_t) __attribute__((weak));

void *trodden_next_function(const char *name, void *interceptor) {
    if (interceptor)
        return interceptor;
    if (trodden_dlsym_next)
        return trodden_dlsym_next(name);
    return dlsym ? dlsym(RTLD_NEXT, name) : NULL;
}

void trodden_written(const void *memory, size_t bytes) {
    if (__msan_unpoison)
        __msan_unpoison(memory, bytes);
}
