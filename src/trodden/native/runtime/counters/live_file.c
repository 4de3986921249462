/* The live file: how it is created, named and extended.
 *
 * It is extended by writing its last byte, which, unlike setting its size, can never truncate it concurrently.  Where
 * there can be no such file (a read-only directory, a pipe as output, a limit on the size of files), regions are
 * anonymous shared memory, and everything else stays the same. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/live_internal.h"
#include "platform/system.h"
#include "process/output_file.h"
#include "process/process.h"

enum { VERSION = 1, PREALLOCATE_LIMIT = 256 << 10 };
#define MAGIC "TRODLIVE"

/* The program may close descriptors that it has not opened, and open another file with the same number: so the file
 * is identified by its inode. */
static struct {
    int fd;
    dev_t device;
    ino_t inode;
} file = {.fd = -1};

static bool is_live_file(int fd) {
    struct stat status;
    return fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == file.device && status.st_ino == file.inode;
}

int trodden_live_fd(void) { return is_live_file(file.fd) ? file.fd : -1; }

/* Moves the descriptor away from the lowest numbers, which some programs rely on. */
static int move_to_high_fd(int fd) {
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t limit_fd = limit.rlim_cur < 1024 ? limit.rlim_cur : 1024;
    int high_fd = limit_fd > 64 ? fcntl(fd, F_DUPFD_CLOEXEC, (int)limit_fd - 24) : -1;
    if (high_fd < 0)
        return fd;
    trodden_sys_close(fd);
    return high_fd;
}

int trodden_live_reopen(void) {
    const char *path = trodden_output_live_path();
    if (is_live_file(file.fd))
        return file.fd;
    if (file.fd < 0 || !path[0])
        return -1;
    int fd = trodden_sys_open(path, O_RDWR | O_NOFOLLOW);
    if (!is_live_file(fd)) {
        if (fd >= 0)
            trodden_sys_close(fd);
        return -1;
    }
    return file.fd = move_to_high_fd(fd);
}

void trodden_live_abandon(void) {
    file.fd = -1;
    trodden_output_remove_live();
}

static bool within_size_limit(uint64_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

/* A write to a page that the disk has no space for raises a signal, which the program may have blocked.  Therefore
 * space is allocated in advance for all regions that are small; the pages of large ones are replaced when that
 * happens (trodden_live_replace_page). */
static bool preallocate(int fd, uint64_t offset, size_t bytes) {
    long done = syscall(SYS_fallocate, fd, 0, (off_t)offset,
                        (off_t)(bytes <= PREALLOCATE_LIMIT ? bytes : trodden_page_size()));
    return done == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
}

void *trodden_live_map(int fd, uint64_t *offset, size_t bytes) {
    void *memory = MAP_FAILED;
    if (fd >= 0 && *offset != TRODDEN_NO_OFFSET && within_size_limit(*offset + bytes) &&
        preallocate(fd, *offset, bytes) &&
        syscall(SYS_pwrite64, fd, "", 1ul, (off_t)(*offset + bytes - 1)) == 1) /* not a cancellation point */
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)*offset);
    if (memory == MAP_FAILED) {
        *offset = TRODDEN_NO_OFFSET;
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    return memory == MAP_FAILED ? NULL : memory;
}

struct trodden_live_header *trodden_live_make_header(int fd) {
    uint64_t offset = 0;
    struct trodden_live_header *live = trodden_live_map(fd, &offset, TRODDEN_LIVE_HEADER_BYTES);
    if (!live)
        return NULL;
    live->version = VERSION;
    live->header_bytes = TRODDEN_LIVE_HEADER_BYTES;
    live->pid = trodden_pid();
    live->parent = (uint64_t)getppid();
    live->start_time = trodden_process.start_time;
    live->start_ticks = trodden_process_start_ticks();
    live->size = TRODDEN_LIVE_HEADER_BYTES;
#ifdef __x86_64__
    live->machine = EM_X86_64;
#else
    live->machine = EM_AARCH64;
#endif
    if (offset == TRODDEN_NO_OFFSET)
        live->flags = TRODDEN_LIVE_INCOMPLETE;
    return live;
}

void trodden_live_publish(int fd, struct trodden_live_header *live) {
    struct stat status;
    file.fd = -1;
    if (fd < 0)
        return;
    bool valid = live && live->flags == 0 && fstat(fd, &status) == 0;
    if (valid) {
        memcpy(live->magic, MAGIC, sizeof live->magic);
        valid = trodden_output_publish_live();
    }
    if (!valid) {
        trodden_output_remove_live();
        trodden_sys_close(fd);
        return;
    }
    file.device = status.st_dev;
    file.inode = status.st_ino;
    file.fd = move_to_high_fd(fd);
}

void trodden_live_init(void) {
    int fd = trodden_output_create_live();
    trodden_process.live = trodden_live_make_header(fd);
    trodden_live_publish(fd, trodden_process.live);
}

uint64_t trodden_live_next_data(uint64_t offset) {
    int fd = offset == TRODDEN_NO_OFFSET ? -1 : trodden_live_fd();
    if (fd < 0)
        return offset;
    off_t found = lseek(fd, (off_t)offset, SEEK_DATA);
    return found >= 0 ? (uint64_t)found : errno == ENXIO ? TRODDEN_NO_OFFSET : offset;
}
