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

enum { VERSION = 1 };

struct trodden_counted_file trodden_counted_file = {.fd = -1};
#define file trodden_counted_file

static void forget_header(struct trodden_live_header *header) {
    if (header)
        mmap(header, TRODDEN_LIVE_HEADER_BYTES, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
}

void trodden_live_leave_file(void) {
    forget_header(file.header);
    if (file.owner != file.header)
        forget_header(file.owner);
    file.exists = false;
}

/* The file has just been looked at.  If it has been truncated, its former pages must not come back as zeros. */
static bool leave_if_shortened(void) {
    if (!trodden_live_is_shortened())
        return false;
    trodden_live_leave_file();
    trodden_live_mark(TRODDEN_LIVE_INCOMPLETE | TRODDEN_LIVE_COUNTS_LOST);
    return true;
}

/* The file has just been extended.  If it was truncated right before that, it has zeros where its pages were: it is
 * truncated again, so that whoever touches one gets another page (lost_pages.c). */
static bool leave_if_unsealed(int fd) {
    if (!file.owner || file.owner->regions[TRODDEN_LIVE_SEAL_INDEX].size == file.seal)
        return false;
    syscall(SYS_ftruncate, fd, 0l);
    trodden_live_leave_file();
    trodden_live_mark(TRODDEN_LIVE_INCOMPLETE | TRODDEN_LIVE_COUNTS_LOST);
    return true;
}

static bool extend(int fd, uint64_t offset, size_t bytes) {
    bool reserved = !leave_if_shortened() && trodden_live_reserve(fd, offset, bytes);
    if (leave_if_shortened() || !reserved || leave_if_unsealed(fd))
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
    if (!live->start_ticks && live->pid != trodden_process.first_pid) {
        live->start_ticks = trodden_ticks_now();
        live->flags = TRODDEN_LIVE_TICKS_ESTIMATED;
    }
    live->pid_namespace = trodden_pid_namespace();
    live->size = TRODDEN_LIVE_HEADER_BYTES;
#ifdef __x86_64__
    live->machine = EM_X86_64;
#else
    live->machine = EM_AARCH64;
#endif
    return live;
}

/* The file is opened for it if it is not `fd`. */
bool trodden_live_reserve_header(int fd, uint64_t base, size_t *reserved, size_t end) {
    size_t step_end = (end + TRODDEN_LIVE_TABLE_STEP - 1) / TRODDEN_LIVE_TABLE_STEP * TRODDEN_LIVE_TABLE_STEP;
    int own_fd = end <= *reserved || fd >= 0 ? fd : trodden_live_open();
    if (end > *reserved && own_fd >= 0 && extend(own_fd, base + *reserved, step_end - *reserved))
        *reserved = step_end;
    if (own_fd != fd)
        trodden_live_close(own_fd);
    return end <= *reserved;
}

/* A file that was truncated may have no valid size. */
uint64_t trodden_live_take_space(size_t bytes) {
    uint64_t offset = file.header ? __atomic_fetch_add(&file.owner->size, bytes, __ATOMIC_RELAXED) : 0;
    return offset < TRODDEN_LIVE_HEADER_BYTES ? TRODDEN_NO_OFFSET : offset;
}

bool trodden_live_write_region(const struct trodden_live_header *live, uint64_t index) {
    struct trodden_live_region *region = file.header ? &file.header->regions[index] : NULL;
    if (!region)
        return true;
    if (!trodden_live_reserve_header(-1, file.base, &file.reserved,
                                     (size_t)((uint8_t *)(region + 1) - (uint8_t *)file.header)))
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
    __atomic_store_n(&copy->state, live->state, __ATOMIC_RELEASE);
}

static bool is_inside(const struct trodden_live_header *header, uintptr_t address) {
    return header && address - (uintptr_t)header < TRODDEN_LIVE_HEADER_BYTES;
}

bool trodden_live_is_header(uintptr_t address) {
    return is_inside(file.header, address) || is_inside(file.owner, address);
}

void trodden_live_unmap_header(void) {
    trodden_unmap(file.header, TRODDEN_LIVE_HEADER_BYTES);
    if (file.owner == file.header)
        file.owner = NULL;
    file.header = NULL;
}

static bool map_header(int fd, struct trodden_live_header *live) {
    void *memory = MAP_FAILED;
    if (trodden_live_reserve_header(fd, file.base, &file.reserved, sizeof *live))
        memory = mmap(NULL, TRODDEN_LIVE_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd,
                      (off_t)file.base);
    if (memory == MAP_FAILED) {
        live->flags |= TRODDEN_LIVE_INCOMPLETE | TRODDEN_LIVE_NO_SPACE;
        errno = ENOSPC;
        return false;
    }
    file.header = memory;
    file.fd = fd;
    memcpy(file.header, live, sizeof *live);
    return true;
}

/* Can nothing be known of a new file, or is it on another device than that of the parent?  Then
 * another file system has been mounted over the directory, where nobody looks for it. */
static bool is_elsewhere(int fd, struct stat *status, bool has_parents, dev_t parents) {
    if (fstat(fd, status) != 0)
        return true;
    if (!has_parents || status->st_dev == parents)
        return false;
    trodden_output_moved();
    errno = ENOENT;
    return true;
}

bool trodden_live_begin(int fd, struct trodden_live_header *live) {
    struct stat status;
    bool has_parents = file.exists;
    dev_t parents = file.device;
    file = (struct trodden_counted_file){.fd = -1};
    if (fd < 0 || !live || is_elsewhere(fd, &status, has_parents, parents) || !map_header(fd, live)) {
        int error = errno;
        if (live)
            live->flags |= TRODDEN_LIVE_INCOMPLETE;
        if (fd >= 0) {
            trodden_output_remove_live();
            trodden_sys_close(fd);
        }
        errno = error;
        return false;
    }
    file.device = status.st_dev;
    file.inode = status.st_ino;
    file.owner = file.header;
    file.owner->regions[TRODDEN_LIVE_SEAL_INDEX].size = file.seal = TRODDEN_LIVE_SEAL;
    return true;
}

bool trodden_live_begin_inside(int fd, struct trodden_live_header *live) {
    live->flags &= ~(uint32_t)(TRODDEN_LIVE_INCOMPLETE | TRODDEN_LIVE_NO_SPACE);
    file.base = __atomic_fetch_add(&file.owner->size, TRODDEN_LIVE_HEADER_BYTES, __ATOMIC_RELAXED);
    file.reserved = 0;
    file.end = 0;
    if (file.base < TRODDEN_LIVE_HEADER_BYTES || !map_header(fd, live)) {
        live->flags |= TRODDEN_LIVE_INCOMPLETE;
        return false;
    }
    memcpy(file.header->magic, TRODDEN_LIVE_MAGIC, sizeof file.header->magic);
    return true;
}

void trodden_live_publish(void) {
    memcpy(file.header->magic, TRODDEN_LIVE_MAGIC, sizeof file.header->magic);
    file.exists = trodden_output_publish_live();
    int fd = file.fd;
    file.fd = -1;
    if (file.exists) {
        trodden_live_close(fd);
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
    else
        trodden_live_join_inherited(trodden_process.live, errno);
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

void trodden_live_notice_truncation(void) {
    int fd = trodden_live_open();
    if (fd >= 0)
        leave_if_shortened();
    trodden_live_close(fd);
}
