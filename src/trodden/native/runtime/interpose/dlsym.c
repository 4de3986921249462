/* Interposer of dlsym, for a module that defines interposed functions itself.  It is compiled for each such module,
 * with TRODDEN_GIVEN_WAY as the list of these functions, in the form INTERPOSED(name) INTERPOSED(name); without, there
 * is nothing here.
 *
 * Their interposers have given way: the linker knows them by names that begin with OWN (linking/giving_way.py).  A
 * program that wraps a function of the C library finds the one behind its own by dlsym(RTLD_NEXT, ...).  That is the
 * interposer, which finds the C library's in its turn.
 *
 * The C library's dlsym cannot be looked up by dlsym.  glibc has dlvsym; in musl it is in the object that has dlerror,
 * too.  It is called in tail position: it tells by its return address which module asks for the next function. */
#ifdef TRODDEN_GIVEN_WAY
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

#include "interpose/next_function.h"
#include "platform/attributes.h"
#include "platform/dynamic_symbols.h"

#define OWN "__trodden_own_"

#define INTERPOSED(name) extern char own_##name[] __asm__(OWN #name) __attribute__((visibility("hidden")));
TRODDEN_GIVEN_WAY
#undef INTERPOSED

static const struct {
    const char *name;
    char *own;
} given_way[] = {
#define INTERPOSED(name) {#name, own_##name},
    TRODDEN_GIVEN_WAY
#undef INTERPOSED
};

/* The linker defines both. */
extern char module_begin[] __asm__("__ehdr_start") __attribute__((visibility("hidden")));
extern char module_end[] __asm__("_end") __attribute__((visibility("hidden")));

typedef void *lookup_function(void *restrict, const char *restrict);

#ifdef __GLIBC__
/* In the order of preference: of this glibc, and of those before 2.34 by machine. */
static void *find_dlsym(void) {
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    void *found = NULL;
    for (size_t i = 0; !found && i < sizeof versions / sizeof *versions; i++)
        found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return found;
}
#else
static void *find_dlsym(void) {
    static const char *const names[] = {"dlsym", NULL};
    uintptr_t address, range[2];
    trodden_find_dynamic_symbols((uintptr_t)&dlerror, names, &address, range);
    return (void *)address;
}
#endif

static lookup_function *real_dlsym(void) {
    static lookup_function *found;
    lookup_function *real = __atomic_load_n(&found, __ATOMIC_RELAXED);
    if (!real) {
        *(void **)&real = find_dlsym();
        __atomic_store_n(&found, real, __ATOMIC_RELAXED);
    }
    return real;
}

void *trodden_dlsym_next(const char *name) { return real_dlsym()(RTLD_NEXT, name); }

static void *interposer_behind(const char *name, const char *caller) {
    for (size_t i = 0; caller >= module_begin && caller < module_end && i < sizeof given_way / sizeof *given_way; i++)
        if (strcmp(given_way[i].name, name) == 0)
            return given_way[i].own;
    return NULL;
}

EXPORTED void *dlsym(void *restrict handle, const char *restrict name) {
    void *behind = handle == RTLD_NEXT ? interposer_behind(name, __builtin_return_address(0)) : NULL;
    if (behind)
        return behind;
    TAIL_CALL return real_dlsym()(handle, name);
}
#endif
