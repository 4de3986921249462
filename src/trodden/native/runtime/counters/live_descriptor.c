/* The descriptor of the live file, and its name: whether they still are what they were.
 *
 * The program may close descriptors that it has not opened, and open another file with the same number; it may have so
 * low a limit that it needs all of them; it may lose the permission to open the file again, or be in another root
 * directory; and somebody may remove the file. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "counters/live_internal.h"
#include "platform/system.h"
#include "process/output_file.h"
#include "process/process.h"

#define file trodden_counted_file

enum { FEW_DESCRIPTORS = 64 }; /* so low a limit is meant to be used up by the program */

static bool is_live_file(int fd) {
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_dev != file.device || status.st_ino != file.inode)
        return false;
    file.length = (uint64_t)status.st_size;
    return true;
}

bool trodden_live_is_shortened(void) { return file.length < file.end; }

void trodden_live_look_at(int fd) {
    struct stat status;
    if (fstat(fd, &status) == 0)
        file.length = (uint64_t)status.st_size;
}

int trodden_live_fd(void) { return is_live_file(file.fd) ? file.fd : -1; }

/* Moves the descriptor away from the lowest numbers, which some programs rely on; -1: there are too few of them. */
int trodden_live_keep_descriptor(int fd) {
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t limit_fd = limit.rlim_cur < TRODDEN_MOST_DESCRIPTORS ? limit.rlim_cur : TRODDEN_MOST_DESCRIPTORS;
    int high_fd = limit_fd > FEW_DESCRIPTORS ? fcntl(fd, F_DUPFD_CLOEXEC, (int)limit_fd - TRODDEN_OWN_DESCRIPTORS) : -1;
    if (high_fd < 0 && limit_fd > FEW_DESCRIPTORS)
        return fd;
    trodden_sys_close(fd);
    return high_fd;
}

int trodden_live_open(void) {
    const char *path = trodden_output_live_path();
    if (is_live_file(file.fd))
        return file.fd;
    if (!file.exists || !path[0])
        return -1;
    int fd = trodden_sys_open(path, O_RDWR | O_NOFOLLOW);
    if (is_live_file(fd))
        return fd;
    if (fd >= 0)
        trodden_sys_close(fd);
    return -1;
}

void trodden_live_close(int fd) {
    if (fd >= 0 && fd != file.fd)
        file.fd = trodden_live_keep_descriptor(fd);
}

bool trodden_live_is(const struct stat *status) {
    return status->st_dev == file.device && status->st_ino == file.inode;
}

bool trodden_live_is_at(const char *path) {
    struct stat status;
    return stat(path, &status) == 0 && trodden_live_is(&status);
}

bool trodden_live_has_name(void) {
    struct stat status;
    return trodden_live_fd() >= 0 && fstat(file.fd, &status) == 0 && status.st_nlink > 0;
}

bool trodden_live_exists(void) { return file.exists; }

void trodden_live_hold(void) {
    uint64_t mask;
    bool held = trodden_live_acquire(&trodden_process, &mask);
    trodden_live_close(trodden_live_open());
    trodden_live_release(&trodden_process, held, mask);
}

void trodden_live_pass_on(void) {
    int fd = trodden_live_fd();
    if (fd >= 0)
        fcntl(fd, F_SETFD, 0);
}
