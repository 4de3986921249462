/* Processes that have no file of their own: members of the family of the nearest ancestor that has one.
 *
 * A child that has given up its privileges, or is in another root directory, can create no file where its counts are
 * looked for.  But it has inherited the descriptor of its parent's live file, which no permission is needed for: it
 * counts there, with a header of its own behind everything else.  Where the descriptor has been closed, or the disk is
 * full, its counts are in memory alone; then an entry in the region table of that file says that there is such a
 * process.  It has inherited the mapping of the header, and the table has some space in advance.
 *
 * An entry goes when its process has written a raw file.  While there are any, nothing replaces the file. */
#define _GNU_SOURCE
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

#define file trodden_counted_file

static bool is_member;
static struct trodden_live_region *own_entry; /* NULL: there was no space for it */

/* False: the file is about to be replaced, or its header is no longer there. */
static bool enter(struct trodden_live_header *owner) {
    uint64_t members = __atomic_load_n(&owner->members, __ATOMIC_ACQUIRE);
    if (memcmp(owner->magic, TRODDEN_LIVE_MAGIC, sizeof owner->magic) != 0)
        return false;
    do
        if (members & TRODDEN_MEMBERS_CLOSED)
            return false;
    while (!__atomic_compare_exchange_n(&owner->members, &members, members + 1, false, __ATOMIC_ACQ_REL,
                                        __ATOMIC_ACQUIRE));
    return true;
}

static bool has_space(uint64_t index) {
    return index < (TRODDEN_LIVE_HEADER_BYTES - sizeof *file.owner) / sizeof *file.owner->regions &&
           sizeof *file.owner + (index + 1) * sizeof *file.owner->regions <= file.owner_reserved;
}

/* One that is free again, or a new one.  Others may do the same at this moment. */
static struct trodden_live_region *find_entry(int fd) {
    struct trodden_live_header *owner = file.owner;
    uint64_t count = __atomic_load_n(&owner->region_count, __ATOMIC_RELAXED);
    for (uint64_t i = 0; i < count && has_space(i); i++) {
        uint32_t kind = TRODDEN_REGION_FORMER_MEMBER;
        if (__atomic_compare_exchange_n(&owner->regions[i].kind, &kind, TRODDEN_REGION_NEW_MEMBER, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return &owner->regions[i];
    }
    if (!has_space(count) && fd >= 0)
        trodden_live_reserve_header(fd, 0, &file.owner_reserved, sizeof *owner + (count + 1) * sizeof *owner->regions);
    if (!has_space(count))
        return NULL;
    uint64_t index = __atomic_fetch_add(&owner->region_count, 1, __ATOMIC_RELAXED);
    if (index == TRODDEN_LIVE_SEAL_INDEX)
        index = __atomic_fetch_add(&owner->region_count, 1, __ATOMIC_RELAXED);
    return has_space(index) ? &owner->regions[index] : NULL;
}

static bool join(int fd, struct trodden_live_header *live, int error) {
    is_member = true;
    own_entry = find_entry(fd);
    bool inside = own_entry && fd >= 0 && live && trodden_live_begin_inside(fd, live);
    file.exists = inside;
    if (!own_entry)
        return false;
    own_entry->offset = inside ? file.base : TRODDEN_NO_OFFSET;
    own_entry->size = inside ? 0 : (uint64_t)error;
    own_entry->address = live ? live->start_ticks : 0;
    own_entry->module = trodden_process.pid;
    __atomic_store_n(&own_entry->kind, TRODDEN_REGION_MEMBER, __ATOMIC_RELEASE);
    return inside;
}

static void forget_membership(void) {
    is_member = false;
    own_entry = NULL;
}

bool trodden_live_join_parents(const struct trodden_counted_file *parents, int fd, struct trodden_live_header *live,
                               int error) {
    if (parents->header != parents->owner)
        trodden_unmap(parents->header, TRODDEN_LIVE_HEADER_BYTES);
    file = *parents;
    file.header = NULL;
    file.owner_reserved = parents->header == parents->owner ? parents->reserved : parents->owner_reserved;
    file.exists = file.owner != NULL;
    forget_membership();
    int opened = fd >= 0 ? fd : trodden_live_open();
    file.fd = opened;
    if (!file.owner || (opened >= 0 && !trodden_live_has_name()) || !enter(file.owner)) {
        trodden_unmap(file.owner, TRODDEN_LIVE_HEADER_BYTES);
        file = (struct trodden_counted_file){.fd = -1};
    }
    bool inside = file.owner && join(opened, live, error);
    if (opened != fd && inside)
        trodden_live_close(opened);
    else if (opened != fd)
        trodden_sys_close(opened);
    if (inside)
        trodden_live_pass_on();
    else
        file.fd = -1;
    return inside;
}

void trodden_live_leave_parents(const struct trodden_counted_file *parents) {
    if (parents->header != parents->owner)
        trodden_unmap(parents->header, TRODDEN_LIVE_HEADER_BYTES);
    trodden_unmap(parents->owner, TRODDEN_LIVE_HEADER_BYTES);
    forget_membership();
}

static bool read_head(int fd, struct trodden_live_header *head) {
    return syscall(SYS_pread64, fd, head, sizeof *head, 0l) == sizeof *head &&
           memcmp(head->magic, TRODDEN_LIVE_MAGIC, sizeof head->magic) == 0 &&
           head->header_bytes == TRODDEN_LIVE_HEADER_BYTES;
}

/* Is it the descriptor of a live file that has not been removed? */
static bool is_anybodys(int fd) {
    struct trodden_live_header head;
    struct stat status;
    return fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_nlink &&
           (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR && read_head(fd, &head);
}

static bool adopt(int fd) {
    struct trodden_live_header head;
    struct stat status;
    if (fstat(fd, &status) != 0 || !read_head(fd, &head))
        return false;
    void *memory = mmap(NULL, TRODDEN_LIVE_HEADER_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    if (memory == MAP_FAILED)
        return false;
    file = (struct trodden_counted_file){.fd = fd, .device = status.st_dev, .inode = status.st_ino, .owner = memory};
    /* As much of the table as is in use has space. */
    file.owner_reserved = sizeof head + head.region_count * sizeof *head.regions;
    /* Another version of the runtime may have made the file. */
    file.seal = file.owner->regions[TRODDEN_LIVE_SEAL_INDEX].size;
    return true;
}

int trodden_live_inherited(void) {
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    int end = limit.rlim_cur < TRODDEN_MOST_DESCRIPTORS ? (int)limit.rlim_cur : TRODDEN_MOST_DESCRIPTORS;
    for (int fd = end - TRODDEN_OWN_DESCRIPTORS; fd >= 0 && fd < end; fd++)
        if (is_anybodys(fd))
            return fd;
    return -1;
}

bool trodden_live_join_inherited(struct trodden_live_header *live, int error) {
    int fd = trodden_live_inherited();
    if (fd < 0 || !live || !adopt(fd))
        return false;
    bool inside = enter(file.owner) && join(fd, live, error);
    if (!is_member) {
        trodden_unmap(file.owner, TRODDEN_LIVE_HEADER_BYTES);
        file = (struct trodden_counted_file){.fd = -1};
    }
    return inside;
}

static void remove_if_unused(void) {
    uint64_t none = 0;
    const char *path = trodden_output_live_path();
    if (__atomic_compare_exchange_n(&file.owner->members, &none, TRODDEN_MEMBERS_CLOSED, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED) &&
        trodden_live_is_at(path))
        unlink(path);
}

void trodden_live_withdraw(void) {
    if (!is_member)
        return;
    if (own_entry)
        __atomic_store_n(&own_entry->kind, TRODDEN_REGION_FORMER_MEMBER, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&file.owner->members, 1, __ATOMIC_ACQ_REL);
    forget_membership();
    if (__atomic_load_n(&file.owner->flags, __ATOMIC_ACQUIRE) & TRODDEN_LIVE_MEMBERS_ONLY)
        remove_if_unused();
}

bool trodden_live_close_family(void) {
    uint64_t none = 0;
    return !file.exists || file.owner != file.header ||
           __atomic_compare_exchange_n(&file.owner->members, &none, TRODDEN_MEMBERS_CLOSED, false, __ATOMIC_ACQ_REL,
                                       __ATOMIC_RELAXED);
}

void trodden_live_leave_to_family(void) {
    trodden_live_mark(TRODDEN_LIVE_MEMBERS_ONLY);
    remove_if_unused();
}
