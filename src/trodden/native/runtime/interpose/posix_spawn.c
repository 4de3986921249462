/* Interposers of posix_spawn, posix_spawnp, system and popen: the program that is started inherits the signal mask that
 * its parent has set.
 *
 * The C library passes the kernel's mask on, which lacks the signals of faults that are blocked (sigmask.c).  They are
 * blocked until the real function has returned.  It is found as the next of that name in lookup order; with glibc in
 * a static program, under a name of its own.  musl has none there, so that these functions are not interposed. */
#define _GNU_SOURCE
#include <errno.h>
#include <features.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>

#include "interpose/interpose.h"
#include "interpose/next_function.h"
#include "platform/attributes.h"

#ifdef __GLIBC__
typedef int spawn_function(pid_t *, const char *, const posix_spawn_file_actions_t *, const posix_spawnattr_t *,
                           char *const[], char *const[]);
typedef int system_function(const char *);
typedef FILE *popen_function(const char *, const char *);

extern spawn_function __posix_spawn __attribute__((weak, visibility("hidden")));
extern spawn_function __posix_spawnp __attribute__((weak, visibility("hidden")));
extern system_function __libc_system __attribute__((weak, visibility("hidden")));
extern popen_function _IO_new_popen __attribute__((weak, visibility("hidden")));
TRODDEN_INTERCEPTOR(spawn_function, posix_spawn);
TRODDEN_INTERCEPTOR(spawn_function, posix_spawnp);
TRODDEN_INTERCEPTOR(system_function, system);
TRODDEN_INTERCEPTOR(popen_function, popen);

/* Calls the function that `name` stands for, with these arguments. */
#define WITH_FAULTS_BLOCKED(type, result_type, name, static_name, arguments)   \
    static type *real;                                                         \
    type *function = __atomic_load_n(&real, __ATOMIC_RELAXED);                 \
    if (!function && !(function = static_name))                                \
        *(void **)&function = TRODDEN_NEXT(name);                              \
    __atomic_store_n(&real, function, __ATOMIC_RELAXED);                       \
    uint64_t faults = trodden_block_kept_faults();                             \
    result_type result = function arguments;                                   \
    int saved_errno = errno;                                                   \
    trodden_unblock_kept_faults(faults);                                       \
    errno = saved_errno;                                                       \
    return result

EXPORTED int posix_spawn(pid_t *restrict pid, const char *restrict path, const posix_spawn_file_actions_t *actions,
                         const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],
                         char *const environment[restrict]) {
    WITH_FAULTS_BLOCKED(spawn_function, int, posix_spawn, __posix_spawn,
                        (pid, path, actions, attributes, arguments, environment));
}

EXPORTED int posix_spawnp(pid_t *restrict pid, const char *restrict file, const posix_spawn_file_actions_t *actions,
                          const posix_spawnattr_t *restrict attributes, char *const arguments[restrict],
                          char *const environment[restrict]) {
    WITH_FAULTS_BLOCKED(spawn_function, int, posix_spawnp, __posix_spawnp,
                        (pid, file, actions, attributes, arguments, environment));
}

EXPORTED int system(const char *command) {
    WITH_FAULTS_BLOCKED(system_function, int, system, __libc_system, (command));
}

EXPORTED FILE *popen(const char *command, const char *mode) {
    WITH_FAULTS_BLOCKED(popen_function, FILE *, popen, _IO_new_popen, (command, mode));
}
#endif
