/* The live file: how it is created, named, mapped and extended.
 *
 * Where there can be no such file (a read-only directory, a pipe as output, a full disk, a limit on the size of files),
 * regions are anonymous shared memory, and everything else stays the same.
 *
 * The header and the region table are kept twice: in memory, where the runtime reads them, and in the file, where it
 * only writes them.  Someone may truncate the file. */
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

enum {
    VERSION = 1,
    FEW_DESCRIPTORS = 64,       /* so low a limit is meant to be used up by the program */
    TABLE_STEP = 16 << 10,      /* bytes of the region table for which space is reserved at a time */
};

/* The program may close descriptors that it has not opened, and open another file with the same number: so the file
 * is identified by its inode. */
static struct {
    bool exists;
    int fd; /* -1: it is opened when it is needed */
    dev_t device;
    ino_t inode;
    struct trodden_live_header *header; /* the file's own */
    size_t reserved;                    /* bytes of it */
    uint64_t end;                       /* so long is the file, unless someone has truncated it */
    uint64_t length;                    /* so long it was when it was last looked at */
} file = {.fd = -1};

static bool is_live_file(int fd) {
    struct stat status;
    if (fd < 0 || fstat(fd, &status) != 0 || status.st_dev != file.device || status.st_ino != file.inode)
        return false;
    file.length = (uint64_t)status.st_size;
    return true;
}

bool trodden_live_is_shortened(void) { return file.length < file.end; }

int trodden_live_fd(void) { return is_live_file(file.fd) ? file.fd : -1; }

/* Moves the descriptor away from the lowest numbers, which some programs rely on; -1: there are too few of them. */
static int keep_descriptor(int fd) {
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t limit_fd = limit.rlim_cur < 1024 ? limit.rlim_cur : 1024;
    int high_fd = limit_fd > FEW_DESCRIPTORS ? fcntl(fd, F_DUPFD_CLOEXEC, (int)limit_fd - 24) : -1;
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
        file.fd = keep_descriptor(fd);
}

void trodden_live_abandon(void) {
    trodden_live_unmap_header();
    file.exists = false;
    file.fd = -1;
    trodden_output_remove_live();
}

void trodden_live_leave_file(void) {
    if (file.header)
        mmap(file.header, TRODDEN_LIVE_HEADER_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    file.exists = false;
}

/* The file has just been looked at.  If it has been truncated, its former pages must not come back as zeros. */
static bool extend(int fd, uint64_t offset, size_t bytes) {
    if (trodden_live_is_shortened()) {
        trodden_live_leave_file();
        trodden_live_mark(TRODDEN_LIVE_INCOMPLETE | TRODDEN_LIVE_COUNTS_LOST);
        return false;
    }
    if (!trodden_live_reserve(fd, offset, bytes))
        return false;
    file.end = offset + bytes > file.end ? offset + bytes : file.end;
    file.length = file.end;
    return true;
}

void *trodden_live_map(int fd, uint64_t *offset, size_t bytes) {
    void *memory = MAP_FAILED;
    if (fd >= 0 && *offset != TRODDEN_NO_OFFSET && extend(fd, *offset, bytes))
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)*offset);
    if (memory == MAP_FAILED) {
        *offset = TRODDEN_NO_OFFSET;
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    return memory == MAP_FAILED ? NULL : memory;
}

struct trodden_live_header *trodden_live_make_header(void) {
    uint64_t no_file = TRODDEN_NO_OFFSET;
    struct trodden_live_header *live = trodden_live_map(-1, &no_file, TRODDEN_LIVE_HEADER_BYTES);
    if (!live)
        return NULL;
    live->version = VERSION;
    live->header_bytes = TRODDEN_LIVE_HEADER_BYTES;
    live->pid = trodden_pid();
    live->parent = (uint64_t)getppid();
    live->start_time = trodden_process.start_time;
    live->start_ticks = trodden_process_start_ticks();
    live->pid_namespace = trodden_pid_namespace();
    live->size = TRODDEN_LIVE_HEADER_BYTES;
#ifdef __x86_64__
    live->machine = EM_X86_64;
#else
    live->machine = EM_AARCH64;
#endif
    return live;
}

/* Space for the file's header up to that byte; the file is opened for it if it is not `fd`. */
static bool reserve_header(int fd, size_t end) {
    size_t step_end = (end + TABLE_STEP - 1) / TABLE_STEP * TABLE_STEP;
    int own_fd = end <= file.reserved || fd >= 0 ? fd : trodden_live_open();
    if (end > file.reserved && own_fd >= 0 && extend(own_fd, file.reserved, step_end - file.reserved))
        file.reserved = step_end;
    if (own_fd != fd)
        trodden_live_close(own_fd);
    return end <= file.reserved;
}

bool trodden_live_write_region(const struct trodden_live_header *live, uint64_t index) {
    struct trodden_live_region *region = file.header ? &file.header->regions[index] : NULL;
    if (!region)
        return true;
    if (!reserve_header(-1, (size_t)((uint8_t *)(region + 1) - (uint8_t *)file.header)))
        return false;
    region->offset = live->regions[index].offset;
    region->size = live->regions[index].size;
    region->address = live->regions[index].address;
    region->module = live->regions[index].module;
    __atomic_store_n(&region->kind, live->regions[index].kind, __ATOMIC_RELEASE);
    return true;
}

void trodden_live_write_header(const struct trodden_live_header *live) {
    struct trodden_live_header *copy = file.header;
    if (!copy)
        return;
    copy->signal = live->signal;
    copy->incomplete = live->incomplete;
    __atomic_store_n(&copy->flags, live->flags, __ATOMIC_RELAXED);
    copy->size = live->size;
    copy->region_count = live->region_count;
    __atomic_store_n(&copy->state, live->state, __ATOMIC_RELEASE);
}

bool trodden_live_is_header(uintptr_t address) {
    return file.header && address - (uintptr_t)file.header < TRODDEN_LIVE_HEADER_BYTES;
}

void trodden_live_unmap_header(void) {
    trodden_unmap(file.header, TRODDEN_LIVE_HEADER_BYTES);
    file.header = NULL;
}

bool trodden_live_begin(int fd, struct trodden_live_header *live) {
    struct stat status;
    file.exists = false;
    file.fd = -1;
    file.header = NULL;
    file.reserved = 0;
    file.end = file.length = 0;
    void *memory = MAP_FAILED;
    if (fd >= 0 && live && fstat(fd, &status) == 0 && reserve_header(fd, sizeof *live))
        memory = mmap(NULL, TRODDEN_LIVE_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED) {
        if (fd >= 0) {
            trodden_output_remove_live();
            trodden_sys_close(fd);
        }
        if (live)
            live->flags = TRODDEN_LIVE_INCOMPLETE | (fd >= 0 ? TRODDEN_LIVE_NO_SPACE : 0);
        return false;
    }
    file.header = memory;
    file.device = status.st_dev;
    file.inode = status.st_ino;
    file.fd = fd;
    memcpy(file.header, live, sizeof *live);
    return true;
}

void trodden_live_publish(void) {
    memcpy(file.header->magic, TRODDEN_LIVE_MAGIC, sizeof file.header->magic);
    file.exists = trodden_output_publish_live();
    int fd = file.fd;
    file.fd = -1;
    if (file.exists) {
        file.fd = keep_descriptor(fd);
    } else {
        trodden_live_unmap_header();
        trodden_output_remove_live();
        trodden_sys_close(fd);
        trodden_live_mark(TRODDEN_LIVE_INCOMPLETE);
    }
}

void trodden_live_init(void) {
    trodden_process.live = trodden_live_make_header(); /* reads /proc, before it needs a descriptor for the file */
    int fd = trodden_output_create_live();
    if (trodden_live_begin(fd, trodden_process.live))
        trodden_live_publish();
}

bool trodden_live_is_truncated(uint64_t offset) {
    struct stat status;
    int fd = trodden_live_open();
    bool truncated = fd >= 0 && fstat(fd, &status) == 0 && (uint64_t)status.st_size <= offset;
    trodden_live_close(fd);
    return truncated;
}

uint64_t trodden_live_next_data_in(int fd, uint64_t offset) {
    if (fd < 0 || offset == TRODDEN_NO_OFFSET)
        return offset;
    off_t found = lseek(fd, (off_t)offset, SEEK_DATA);
    return found >= 0 ? (uint64_t)found : errno == ENXIO ? TRODDEN_NO_OFFSET : offset;
}

uint64_t trodden_live_next_data(uint64_t offset) { return trodden_live_next_data_in(trodden_live_fd(), offset); }
