/* Interposers of the exec functions.
 *
 * What a process has counted before an exec stays in its live file; the program that it executes has a file of its
 * own.  The functions that are active then are left for good, as at any other end (process/fatal_signal.c).  If exec
 * fails, all of this is undone.  For a child of vfork see vfork.c. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/live_regions.h"
#include "interpose/interpose.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/fatal_signal.h"
#include "process/output_file.h"
#include "process/process.h"
#include "process/stop_threads.h"

extern char **environ;

enum exec_scope { NOT_RECORDED, WHOLE_PROCESS, VFORK_CHILD };

static enum exec_scope record_before_exec(const struct trodden_regs *regs) {
    if (!trodden_is_leader() || !trodden_process.live || trodden_process.final_written)
        return NOT_RECORDED;
    if (trodden_pid() != trodden_process.pid)
        return trodden_vfork_child_leaves(regs, 1) ? VFORK_CHILD : NOT_RECORDED;
    struct trodden_images *images = trodden_images_snapshot();
    uint64_t mask = trodden_lock();
    trodden_set_images(images);
    trodden_save_all_threads(regs, false);
    trodden_live_set_state(TRODDEN_STATE_EXEC, 0);
    /* The signal mask is inherited by the new program.  The other threads are stopped, so that none of them takes the
     * lock. */
    trodden_unlock(mask);
    return WHOLE_PROCESS;
}

static int undo_after_failure(enum exec_scope scope, const struct trodden_regs *regs) {
    int saved_errno = errno;
    if (scope == VFORK_CHILD)
        trodden_vfork_child_leaves(regs, -1);
    if (scope == WHOLE_PROCESS) {
        uint64_t mask = trodden_lock();
        trodden_live_set_state(TRODDEN_STATE_RUNNING, 0);
        trodden_live_discard_end();
        trodden_trace_exec_failed(regs, false);
        trodden_resume_threads();
        trodden_unlock(mask);
    }
    errno = saved_errno;
    return -1;
}

static int exec_at(int directory, const char *path, char *const *arguments, char *const *environment, int flags,
                   const struct trodden_regs *regs) {
    /* An exec that is bound to fail is detected before all threads are stopped. */
    bool not_executable = directory == AT_FDCWD && !flags && path && faccessat(AT_FDCWD, path, X_OK, AT_EACCESS) != 0;
    enum exec_scope scope = not_executable ? NOT_RECORDED : record_before_exec(regs);
    uint64_t faults = trodden_block_kept_faults();
    if (directory == AT_FDCWD && !flags)
        syscall(SYS_execve, path, arguments, environment);
    else
        syscall(SYS_execveat, directory, path, arguments, environment, flags);
    int saved_errno = errno;
    trodden_unblock_kept_faults(faults);
    errno = saved_errno;
    return undo_after_failure(scope, regs);
}

EXPORTED int execve(const char *path, char *const arguments[], char *const environment[]) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    return exec_at(AT_FDCWD, path, arguments, environment, 0, &regs);
}

EXPORTED int execv(const char *path, char *const arguments[]) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    return exec_at(AT_FDCWD, path, arguments, environ, 0, &regs);
}

EXPORTED int execveat(int directory, const char *path, char *const arguments[], char *const environment[],
                      int flags) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    return exec_at(directory, path, arguments, environment, flags, &regs);
}

EXPORTED int fexecve(int file, char *const arguments[], char *const environment[]) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    if (file < 0) {
        errno = EINVAL;
        return -1;
    }
    return exec_at(file, "", arguments, environment, AT_EMPTY_PATH, &regs);
}

/* A file of unknown format is a shell script. */
static int exec_script(const char *path, char *const *arguments, char *const *environment,
                       const struct trodden_regs *regs) {
    size_t count = 0;
    while (arguments[count])
        count++;
    char *script_arguments[count + 3];
    script_arguments[0] = (char *)"/bin/sh";
    script_arguments[1] = (char *)path;
    memcpy(script_arguments + 2, arguments + (count ? 1 : 0), (count ? count : 1) * sizeof *script_arguments);
    return exec_at(AT_FDCWD, script_arguments[0], script_arguments, environment, 0, regs);
}

static int exec_in_path(const char *file, char *const *arguments, char *const *environment,
                        const struct trodden_regs *regs) {
    if (!*file) {
        errno = ENOENT;
        return -1;
    }
    if (strchr(file, '/')) {
        exec_at(AT_FDCWD, file, arguments, environment, 0, regs);
        return errno == ENOEXEC ? exec_script(file, arguments, environment, regs) : -1;
    }
    const char *path = getenv("PATH");
    if (!path)
        path = "/bin:/usr/bin";
    size_t length = strnlen(file, TRODDEN_PATH_BYTES);
    bool access_denied = false;
    for (const char *end; path; path = *end ? end + 1 : NULL) {
        end = strchrnul(path, ':');
        size_t part = (size_t)(end - path);
        if (length + part + 2 > TRODDEN_PATH_BYTES)
            continue;
        char candidate[part + length + 2];
        memcpy(candidate, path, part);
        candidate[part] = '/';
        memcpy(candidate + part + (part ? 1 : 0), file, length + 1);
        /* Most directories do not contain it; that is detected before all threads are stopped. */
        if (faccessat(AT_FDCWD, candidate, X_OK, AT_EACCESS) == 0) {
            exec_at(AT_FDCWD, candidate, arguments, environment, 0, regs);
            if (errno == ENOEXEC)
                return exec_script(candidate, arguments, environment, regs);
        }
        access_denied = access_denied || errno == EACCES;
        if (errno != EACCES && errno != ENOENT && errno != ENOTDIR && errno != ESTALE && errno != ENODEV &&
            errno != ETIMEDOUT)
            return -1;
    }
    errno = access_denied ? EACCES : ENOENT;
    return -1;
}

EXPORTED int execvpe(const char *file, char *const arguments[], char *const environment[]) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    return exec_in_path(file, arguments, environment, &regs);
}

EXPORTED int execvp(const char *file, char *const arguments[]) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    return exec_in_path(file, arguments, environ, &regs);
}

static size_t count_arguments(va_list list) {
    size_t count = 1;
    while (va_arg(list, const char *))
        count++;
    return count;
}

static void copy_arguments(va_list list, char **arguments) {
    while ((*arguments++ = va_arg(list, char *)))
        ;
}

/* Defines `arguments` as the array of the variable arguments from `first` on. */
#define COLLECT_ARGUMENTS(arguments, first)             \
    va_list list;                                       \
    va_start(list, first);                              \
    size_t count = (first) ? count_arguments(list) : 0; \
    va_end(list);                                       \
    char *arguments[count + 1];                         \
    arguments[0] = (char *)(first);                     \
    va_start(list, first);                              \
    if (first)                                          \
    copy_arguments(list, arguments + 1)

EXPORTED int execl(const char *path, const char *first, ...) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    COLLECT_ARGUMENTS(arguments, first);
    va_end(list);
    return exec_at(AT_FDCWD, path, arguments, environ, 0, &regs);
}

EXPORTED int execlp(const char *file, const char *first, ...) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    COLLECT_ARGUMENTS(arguments, first);
    va_end(list);
    return exec_in_path(file, arguments, environ, &regs);
}

EXPORTED int execle(const char *path, const char *first, ...) {
    struct trodden_regs regs;
    TRODDEN_CAPTURE_REGS(&regs);
    COLLECT_ARGUMENTS(arguments, first);
    char *const *environment = va_arg(list, char *const *);
    va_end(list);
    return exec_at(AT_FDCWD, path, arguments, environment, 0, &regs);
}
