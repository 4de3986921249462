/* Copies of regions, for a forked child.
 *
 * A page is never written by way of a mapping of the child's file, and one of the parent's file is never read by way of
 * its mapping unless the file has it: the disk may run out of space at any page, and somebody may truncate the
 * parent's file.  System calls say so, where an instruction would raise SIGBUS. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "counters/live_internal.h"
#include "platform/system.h"

enum { SMALL_REGION = 32 << 10 }; /* copied as a whole: to ask where it has data takes longer */

struct region_copy {
    const struct trodden_live_region *from;
    int fd;          /* of the file that the copy lies in; -1: it is memory at `target` */
    uint64_t offset; /* in that file */
    uint8_t *target;
};

static bool write_all(const struct region_copy *copy, const uint8_t *bytes, size_t count, uint64_t at) {
    while (count) {
        long written = syscall(SYS_pwrite64, copy->fd, bytes, count, (off_t)(copy->offset + at));
        if (written <= 0)
            return false;
        bytes += written;
        count -= (size_t)written;
        at += (uint64_t)written;
    }
    return true;
}

/* The page is in memory, or it is read into `buffer`.  One that the parent's file does not have was never written, or
 * is lost. */
static const uint8_t *page_of(const struct trodden_live_region *from, uint64_t at, uint8_t *buffer) {
    size_t bytes = trodden_page_size();
    uint8_t *home = (uint8_t *)(uintptr_t)from->address;
    struct iovec local = {buffer, bytes}, remote = {home + at, bytes};
    if (from->offset == TRODDEN_NO_OFFSET)
        return home + at;
    if (syscall(SYS_process_vm_readv, syscall(SYS_gettid), &local, 1ul, &remote, 1ul, 0ul) == (long)bytes)
        return buffer;
    if (errno != EFAULT)
        return home + at; /* it cannot be asked whether the page is there; if not, it is replaced (lost_pages.c) */
    memset(buffer, 0, bytes);
    trodden_live_rebuild_page(from, &(struct trodden_lost_page){from->kind, home, from->size, at, buffer, bytes});
    return buffer;
}

/* False: there is no space. */
static bool copy_page(const struct region_copy *copy, uint64_t at) {
    size_t bytes = trodden_page_size();
    uint8_t buffer[bytes];
    const uint8_t *page = page_of(copy->from, at, buffer);
    if (trodden_live_is_zero(page, bytes))
        return true;
    if (copy->fd >= 0)
        return write_all(copy, page, bytes, at);
    memcpy(copy->target + at, page, bytes);
    return true;
}

static bool copy_pages(const struct region_copy *copy, uint64_t at, uint64_t end) {
    for (; at < end; at += trodden_page_size())
        if (!copy_page(copy, at))
            return false;
    return true;
}

static bool copy_data(const struct region_copy *copy, uint64_t at, uint64_t end) {
    if (copy->fd < 0)
        return copy_pages(copy, at, end);
    if (write_all(copy, (const uint8_t *)(uintptr_t)copy->from->address + at, end - at, at))
        return true;
    return errno == EFAULT && copy_pages(copy, at, end); /* the file has been truncated meanwhile */
}

/* Copies what the parent's file has.  If it is not known what that is, all pages are read. */
static bool copy_all(const struct region_copy *copy, int parent_fd) {
    uint64_t start = copy->from->offset, size = copy->from->size, page = trodden_page_size();
    if (parent_fd < 0 || start == TRODDEN_NO_OFFSET)
        return copy_pages(copy, 0, size);
    if (size <= SMALL_REGION && copy->fd >= 0)
        return copy_data(copy, 0, size);
    for (uint64_t at = 0, end; at < size; at = end) {
        uint64_t data = trodden_live_next_data_in(parent_fd, start + at);
        if (data == TRODDEN_NO_OFFSET || data - start >= size)
            return true;
        off_t hole = lseek(parent_fd, (off_t)data, SEEK_HOLE);
        at = (data - start) & ~(page - 1);
        end = hole > (off_t)data ? ((uint64_t)hole - start + page - 1) & ~(page - 1) : at + page;
        end = end < size ? end : size;
        if (!copy_data(copy, at, end))
            return false;
    }
    return true;
}

void *trodden_live_copy_region(const struct trodden_live_region *from, int parent_fd, int fd, uint64_t *offset) {
    void *memory = trodden_live_map(fd, offset, from->size);
    bool in_file = memory && *offset != TRODDEN_NO_OFFSET;
    struct region_copy copy = {from, in_file ? fd : -1, *offset, memory};
    if (!memory || copy_all(&copy, parent_fd) || !in_file)
        return memory;
    /* There is no space after all: the file gives back what it has got. */
    trodden_unmap(memory, from->size);
    syscall(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)*offset, (off_t)from->size);
    *offset = TRODDEN_NO_OFFSET;
    copy.fd = -1;
    copy.target = memory = trodden_live_map(-1, offset, from->size);
    if (memory)
        copy_all(&copy, parent_fd);
    return memory;
}

/* Page by page, by way of the stack. */
void trodden_live_copy_in_place(const struct trodden_live_region *region, bool empty) {
    size_t bytes = trodden_page_size();
    uint8_t buffer[bytes], *home = (uint8_t *)(uintptr_t)region->address;
    for (uint64_t at = 0; at < region->size; at += bytes) {
        if (!empty)
            memmove(buffer, page_of(region, at, buffer), bytes);
        mmap(home + at, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (!empty)
            memcpy(home + at, buffer, bytes);
    }
}
