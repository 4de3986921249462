/* The spool file: chunks of all threads, in the order in which they were full.
 *
 * It has the name of the output file with ".trace" behind it.  Each chunk is appended by one system call, which needs no
 * lock.  Whoever reads the file while the process runs may punch holes into what has been read. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "counters/live_internal.h"
#include "platform/system.h"
#include "process/output_file.h"
#include "process/process.h"
#include "trace/streams.h"

enum { VERSION = 1, PATIENCE_MS = 2000 };

/* As with the live file: the program may close the descriptor, and open another file with its number. */
static struct {
    char path[TRODDEN_PATH_BYTES + 8];
    int fd;
    dev_t device;
    ino_t inode;
} spool = {.fd = -1};

static bool is_spool(int fd, struct stat *status) {
    return fd >= 0 && fstat(fd, status) == 0 && status->st_dev == spool.device && status->st_ino == spool.inode;
}

static int open_again(struct stat *status) {
    int fd = trodden_sys_open(spool.path, O_WRONLY | O_APPEND | O_NOFOLLOW);
    if (!is_spool(fd, status)) {
        if (fd >= 0)
            trodden_sys_close(fd);
        return -1;
    }
    return fd;
}

static void release(int fd) {
    if (fd >= 0 && fd != spool.fd)
        spool.fd = trodden_live_keep_descriptor(fd);
}

static enum trodden_trace_reason reason_of(int error) {
    return error == ENOSPC || error == EDQUOT ? TRODDEN_TRACE_NO_SPACE
           : error == EFBIG                   ? TRODDEN_TRACE_TOO_LARGE
                                              : TRODDEN_TRACE_FAILED;
}

void trodden_trace_spool_open(void) {
    static const char suffix[] = ".trace";
    const char *path = trodden_output_path();
    struct stat status;
    struct trodden_trace_spool header = {.version = VERSION,
                                         .header_bytes = sizeof header,
                                         .pid = trodden_process.pid,
                                         .start_time = trodden_process.start_time};
    int saved_errno = errno, fd = -1;
    if (trodden_output_live_path()[0]) {
        size_t length = strlen(path);
        memcpy(spool.path, path, length);
        memcpy(spool.path + length, suffix, sizeof suffix);
        unlink(spool.path); /* of an earlier process with this name */
        fd = trodden_sys_open(spool.path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW);
    }
    memcpy(header.magic, TRODDEN_TRACE_SPOOL_MAGIC, sizeof header.magic);
    if (fd < 0 || fstat(fd, &status) != 0) {
        trodden_trace_stop(fd < 0 ? reason_of(errno) : TRODDEN_TRACE_FAILED);
    } else {
        spool.device = status.st_dev;
        spool.inode = status.st_ino;
        errno = ENOSPC;
        if (trodden_sys_write(fd, &header, sizeof header) != sizeof header)
            trodden_trace_stop(reason_of(errno));
        release(fd);
    }
    errno = saved_errno;
}

static int open_spool(struct stat *status) {
    int fd = __atomic_load_n(&spool.fd, __ATOMIC_RELAXED);
    return is_spool(fd, status) ? fd : open_again(status);
}

/* Less than was asked for is written where the disk is full, or the file as large as it may be. */
static enum trodden_trace_reason reason_of_short_write(const struct stat *before, size_t count) {
    struct rlimit limit;
    bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
                   (uint64_t)before->st_size + count > limit.rlim_cur;
    return limited ? TRODDEN_TRACE_TOO_LARGE : TRODDEN_TRACE_NO_SPACE;
}

bool trodden_trace_spool(const void *bytes, size_t count) {
    struct stat status;
    int saved_errno = errno, fd = open_spool(&status);
    long written = -1;
    if (fd < 0 || !status.st_nlink) {
        trodden_trace_stop(TRODDEN_TRACE_REMOVED);
    } else {
        do
            written = trodden_sys_write(fd, bytes, count);
        while (written < 0 && errno == EINTR);
        if (written < 0)
            trodden_trace_stop(reason_of(errno));
        else if ((size_t)written < count)
            trodden_trace_stop(reason_of_short_write(&status, count));
        else
            __atomic_fetch_add(&trodden_process.trace.spooled, count, __ATOMIC_RELAXED);
    }
    release(fd);
    errno = saved_errno;
    return written >= 0 && (size_t)written == count;
}

/* The thread waits with its own signal mask, and nothing of its trace has changed yet. */
void trodden_trace_wait_for_drainer(void) {
    uint64_t backlog = trodden_process.trace.backlog, least = UINT64_MAX;
    struct stat status;
    for (unsigned waited = 0; backlog && is_spool(spool.fd, &status) && (uint64_t)status.st_blocks * 512 > backlog;) {
        if (__atomic_load_n(&trodden_process.trace.stopped, __ATOMIC_RELAXED))
            return;
        waited = (uint64_t)status.st_blocks < least ? 0 : waited + 1;
        least = (uint64_t)status.st_blocks < least ? (uint64_t)status.st_blocks : least;
        if (waited > PATIENCE_MS)
            trodden_trace_stop(TRODDEN_TRACE_NOT_DRAINED);
        trodden_sleep(1000000);
    }
}

/* The child must not append to its parent's file. */
void trodden_trace_spool_after_fork(void) {
    struct stat status;
    if (is_spool(spool.fd, &status))
        trodden_sys_close(spool.fd);
    spool.fd = -1;
    trodden_trace_spool_open();
}
