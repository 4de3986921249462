/* Space for the live file.
 *
 * It is reserved before anything is written there, unless there is plenty of it: else a full disk would be noticed by
 * the program, as a SIGBUS, at whatever instruction touches a page first. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/live_internal.h"
#include "platform/system.h"

enum {
    SMALL_REGION = 256 << 10, /* always reserved */
    PLENTY = 64 /* times the size of a larger region, and four times this in MiB, have to be free */
};

static bool within_size_limit(uint64_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

static bool write_zeros(int fd, uint64_t offset, uint64_t end) {
    static const char zeros[4096];
    while (offset < end) {
        size_t bytes = end - offset < sizeof zeros ? (size_t)(end - offset) : sizeof zeros;
        long written = syscall(SYS_pwrite64, fd, zeros, bytes, (off_t)offset); /* not a cancellation point */
        if (written <= 0)
            return false;
        offset += (uint64_t)written;
    }
    return true;
}

/* Most of a path table is never touched, and reserving it would cost time, and on tmpfs memory.  Where there is plenty
 * of space, that is not done; should it be used up later, pages that are touched then are replaced (lost_pages.c).
 * Where space is scarce, a process has all of its counts in the file, or none of this region. */
static bool may_have_holes(int fd, size_t bytes) {
    struct statfs status;
    if (bytes <= SMALL_REGION || fstatfs(fd, &status) != 0)
        return false;
    uint64_t free_bytes = (uint64_t)status.f_bavail * (uint64_t)status.f_bsize;
    return free_bytes >= (uint64_t)bytes * PLENTY && free_bytes >= (uint64_t)PLENTY << 22;
}

static bool allocate(int fd, int mode, uint64_t offset, uint64_t bytes) {
    long done;
    do
        done = syscall(SYS_fallocate, fd, mode, (off_t)offset, (off_t)bytes);
    while (done != 0 && errno == EINTR);
    return done == 0;
}

/* Also extends the file, which it never shortens.  If somebody truncates the file meanwhile, all pages that it had would
 * come back as zeros.  Therefore space is reserved first, which takes long, waits for whoever changes the file, and leaves
 * its length as it is; then the file is looked at, and what remains to be done is done at once.
 *
 * Not every file system can reserve space without writing. */
bool trodden_live_reserve(int fd, uint64_t offset, size_t bytes) {
    uint64_t end = offset + bytes;
    if (!within_size_limit(end))
        return false;
    bool holes = may_have_holes(fd, bytes), reserved = !holes && allocate(fd, FALLOC_FL_KEEP_SIZE, offset, bytes);
    if (!holes && !reserved && (errno == ENOSPC || errno == EDQUOT || errno == EFBIG || errno == EIO))
        return false;
    trodden_live_look_at(fd);
    if (trodden_live_is_shortened())
        return false;
    if (holes)
        return write_zeros(fd, end - 1, end) && write_zeros(fd, offset, offset + trodden_page_size());
    return reserved ? allocate(fd, 0, end - 1, 1) : write_zeros(fd, offset, end);
}
