/* How a finished file gets its name, if several processes want the same one at the same moment.
 *
 * A name that is free goes to the first, in one step.  A file that is nobody's any more may be replaced (names without
 * an id are used by one process after the other); whoever does so holds a lock on that very file, so that no two
 * processes replace the same one, and neither replaces what the other has just put there. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/system.h"
#include "process/output_file.h"

enum { RENAME_NOREPLACE_FLAG = 1 };

static bool is_named(int file, const char *path) {
    struct stat held, named;
    return fstat(file, &held) == 0 && stat(path, &named) == 0 && named.st_dev == held.st_dev &&
           named.st_ino == held.st_ino;
}

/* Replaces the file of that name, if it still is this one, and nobody needs it or is about to replace it. */
static bool replace_locked(int file, const char *from, const char *path) {
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && !trodden_output_is_taken(path) && is_named(file, path))
        return rename(from, path) == 0;
    errno = EEXIST;
    return false;
}

static bool take_over(const char *from, const char *path) {
    struct stat status;
    int file = trodden_sys_open(path, O_RDONLY | O_NONBLOCK);
    bool done = false;
    if (file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode))
        done = replace_locked(file, from, path);
    else
        errno = file >= 0 && S_ISDIR(status.st_mode) ? EISDIR : EEXIST;
    int error = errno;
    if (file >= 0)
        trodden_sys_close(file);
    errno = error;
    return done;
}

/* On a file system, or a kernel, that cannot rename to a free name alone: with a second name for the file, or, where
 * files have one name each, with an empty file that takes the name first. */
static bool claim_by_steps(const char *from, const char *path) {
    if (link(from, path) == 0)
        return unlink(from) == 0;
    if (errno == EEXIST)
        return false;
    int file = trodden_sys_open(path, O_WRONLY | O_CREAT | O_EXCL);
    if (file < 0)
        return false;
    bool own = false;
    if (flock(file, LOCK_EX | LOCK_NB) == 0 && is_named(file, path))
        own = rename(from, path) == 0;
    else
        errno = EEXIST;
    int error = errno;
    trodden_sys_close(file);
    errno = error;
    return own;
}

bool trodden_output_claim(const char *from, const char *path) {
    if (syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, path, RENAME_NOREPLACE_FLAG) == 0)
        return true;
    if ((errno == EINVAL || errno == ENOSYS || errno == EOPNOTSUPP) && claim_by_steps(from, path))
        return true;
    return errno == EEXIST && take_over(from, path);
}
