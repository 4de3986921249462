/* The live file and its regions.
 *
 * Regions are added without the lock, since notes and call paths grow inside instrumented code and signal handlers;
 * one thread at a time does so, with signals blocked.  The file is made longer by writing its last byte, which,
 * other than setting its size, can never make it shorter behind somebody's back.
 *
 * Where there can be no such file (a read-only directory, a pipe as target, a limit on the size of files), regions
 * are shared memory without one, and everything else stays the same. */
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "internal.h"

enum { HEADER_BYTES = 4 << 20, VERSION = 1, PREALLOCATE_LIMIT = 256 << 10 };
#define MAGIC "TRODLIVE"

/* Of the file: a program may close what it has not opened, and open something else under the same number. */
static struct {
    int fd;
    dev_t device;
    ino_t inode;
} file = {.fd = -1};

size_t trodden_round_to_pages(size_t bytes) {
    size_t page = trodden_page_size();
    return (bytes + page - 1) & ~(page - 1);
}

static bool is_live_file(int fd) {
    struct stat status;
    return fd >= 0 && fstat(fd, &status) == 0 && status.st_dev == file.device && status.st_ino == file.inode;
}

/* Out of the way of those who count on the lowest numbers. */
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

static bool reopen(void) {
    const char *path = trodden_output_live_path();
    if (is_live_file(file.fd))
        return true;
    if (file.fd < 0 || !path[0])
        return false;
    int fd = trodden_sys_open(path, O_RDWR | O_NOFOLLOW);
    if (!is_live_file(fd)) {
        if (fd >= 0)
            trodden_sys_close(fd);
        return false;
    }
    file.fd = move_to_high_fd(fd);
    return true;
}

static bool within_size_limit(uint64_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

/* Where the disk has no room for a page that is written to, the program gets a signal, which it may have blocked.  So
 * room is made for all that is small; the rest is repaired when it comes to that (below). */
static bool preallocate(int fd, uint64_t offset, size_t bytes) {
    long done = syscall(SYS_fallocate, fd, 0, (off_t)offset, (off_t)(bytes <= PREALLOCATE_LIMIT ? bytes : trodden_page_size()));
    return done == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
}

/* Memory at that place of the file, or anywhere if there is none. */
static void *map_region(int fd, uint64_t *offset, size_t bytes) {
    void *memory = MAP_FAILED;
    if (fd >= 0 && *offset != TRODDEN_NO_OFFSET && within_size_limit(*offset + bytes) && preallocate(fd, *offset, bytes) &&
        syscall(SYS_pwrite64, fd, "", 1ul, (off_t)(*offset + bytes - 1)) == 1) /* no thread is cancelled here */
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, (off_t)*offset);
    if (memory == MAP_FAILED) {
        *offset = TRODDEN_NO_OFFSET;
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    return memory == MAP_FAILED ? NULL : memory;
}

static struct trodden_live_header *make_header(int fd) {
    uint64_t offset = 0;
    struct trodden_live_header *live = map_region(fd, &offset, HEADER_BYTES);
    if (!live)
        return NULL;
    live->version = VERSION;
    live->header_bytes = HEADER_BYTES;
    live->pid = trodden_pid();
    live->parent = (uint64_t)getppid();
    live->start_time = trodden_process.start_time;
    live->start_ticks = trodden_process_start_ticks();
    live->size = HEADER_BYTES;
#ifdef __x86_64__
    live->machine = EM_X86_64;
#else
    live->machine = EM_AARCH64;
#endif
    if (offset == TRODDEN_NO_OFFSET)
        live->flags = TRODDEN_LIVE_INCOMPLETE;
    return live;
}

/* What is valid from its first moment gets its name. */
static void publish(int fd, struct trodden_live_header *live) {
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
    trodden_process.live = make_header(fd);
    publish(fd, trodden_process.live);
}

static void append_region(struct trodden_live_header *live, uint32_t kind, uint32_t module, void *memory, size_t bytes,
                         uint64_t offset) {
    uint64_t index = __atomic_fetch_add(&live->region_count, 1, __ATOMIC_RELAXED);
    if (index >= (live->header_bytes - sizeof *live) / sizeof *live->regions) {
        live->flags |= TRODDEN_LIVE_INCOMPLETE;
        return;
    }
    struct trodden_live_region *region = &live->regions[index];
    region->offset = offset;
    region->size = bytes;
    region->address = (uintptr_t)memory;
    region->module = module;
    __atomic_store_n(&region->kind, kind, __ATOMIC_RELEASE);
}

void *trodden_live_alloc(enum trodden_region_kind kind, uint32_t module, size_t bytes) {
    return __trodden_keep(kind, module, bytes);
}

/* Nobody else adds a region or takes one away while this thread holds them: false if it does already.  Signals are
 * blocked, so that no handler waits for the thread that it has interrupted. */
static bool acquire_regions(struct trodden_process *process, uint64_t *mask) {
    uintptr_t own_tp = trodden_thread_pointer(), expected = 0;
    *mask = trodden_block_signals();
    while (!__atomic_compare_exchange_n(&process->region_owner, &expected, own_tp, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (expected == own_tp)
            return false;
        expected = 0;
        syscall(SYS_sched_yield);
    }
    return true;
}

static void release_regions(struct trodden_process *process, bool held, uint64_t mask) {
    if (held)
        __atomic_store_n(&process->region_owner, 0, __ATOMIC_RELEASE);
    trodden_restore_signals(mask);
}

static void *add_region(struct trodden_live_header *live, uint32_t kind, uint32_t module, size_t bytes) {
    uint64_t offset = __atomic_fetch_add(&live->size, bytes, __ATOMIC_RELAXED);
    void *memory = map_region(reopen() ? file.fd : -1, &offset, bytes);
    if (offset == TRODDEN_NO_OFFSET)
        live->flags |= TRODDEN_LIVE_INCOMPLETE;
    if (memory)
        append_region(live, kind, module, memory, bytes, offset);
    return memory;
}

void *__trodden_keep(uint32_t kind, uint32_t module, size_t bytes) {
    uint64_t mask;
    if (!trodden_process.live)
        trodden_init();
    if (!trodden_process.live)
        return NULL;
    int saved_errno = errno;
    bool held = acquire_regions(&trodden_process, &mask);
    void *memory = add_region(trodden_process.live, kind, module, trodden_round_to_pages(bytes));
    release_regions(&trodden_process, held, mask);
    errno = saved_errno;
    return memory;
}

/* The kernel can do it without the file, but emulators may not know. */
bool trodden_live_map_alias(void *memory, uint64_t offset, size_t bytes, void *target) {
    if (mremap(memory, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target)
        return true;
    return offset != TRODDEN_NO_OFFSET && reopen() &&
           mmap(target, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.fd, (off_t)offset) == target;
}

static uint64_t region_count(const struct trodden_live_header *live) {
    uint64_t capacity = (live->header_bytes - sizeof *live) / sizeof *live->regions;
    uint64_t used = __atomic_load_n(&live->region_count, __ATOMIC_RELAXED);
    return used < capacity ? used : capacity;
}

void trodden_live_free(void *memory, size_t bytes) {
    struct trodden_process *process = __trodden_leader();
    struct trodden_live_header *live = process->live;
    uint64_t mask;
    bytes = trodden_round_to_pages(bytes);
    bool held = acquire_regions(process, &mask);
    for (uint64_t i = region_count(live); memory && i-- > 0;)
        if (live->regions[i].address == (uintptr_t)memory && live->regions[i].kind) {
            __atomic_store_n(&live->regions[i].kind, TRODDEN_REGION_FREE, __ATOMIC_RELEASE);
            if (live->regions[i].offset != TRODDEN_NO_OFFSET && is_live_file(file.fd))
                syscall(SYS_fallocate, file.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)live->regions[i].offset, (off_t)bytes);
            break;
        }
    trodden_unmap(memory, bytes);
    release_regions(process, held, mask);
}

uint64_t trodden_live_offset(const void *memory) {
    const struct trodden_live_header *live = trodden_process.live;
    for (uint64_t i = region_count(live); i-- > 0;)
        if (live->regions[i].address == (uintptr_t)memory && live->regions[i].kind)
            return live->regions[i].offset;
    return TRODDEN_NO_OFFSET;
}

/* The first place of the file, from this one on, where something has been written; this one itself, if nobody can
 * tell. */
uint64_t trodden_live_next_data(uint64_t offset) {
    if (offset == TRODDEN_NO_OFFSET || !is_live_file(file.fd))
        return offset;
    off_t found = lseek(file.fd, (off_t)offset, SEEK_DATA);
    return found >= 0 ? (uint64_t)found : errno == ENXIO ? TRODDEN_NO_OFFSET : offset;
}

/* Does somebody's fault at this address come from a page of ours that the disk had no room for?  Then the page is
 * memory from now on. */
bool trodden_live_replace_page(uintptr_t address) {
    struct trodden_live_header *live = trodden_process.live;
    size_t page = trodden_page_size();
    void *at = (void *)(address & ~(page - 1));
    bool in_region = live && address - (uintptr_t)live < live->header_bytes;
    for (uint64_t i = 0; live && !in_region && i < region_count(live); i++)
        in_region = live->regions[i].kind && address - live->regions[i].address < live->regions[i].size;
    void *page_home = trodden_shard_page_of((uintptr_t)at), *alias = NULL;
    if (!in_region && !page_home)
        return false;
    if (in_region)
        page_home = at;
    alias = trodden_tls_page_of((uintptr_t)page_home);
    bool done =
        mmap(page_home, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == page_home &&
        (!alias || mremap(page_home, 0, page, MREMAP_MAYMOVE | MREMAP_FIXED, alias) == alias);
    live->flags |= TRODDEN_LIVE_INCOMPLETE; /* this may meet another such page, and is seen to in the same way */
    return done;
}

void trodden_mark_incomplete(void) {
    struct trodden_process *process = __trodden_leader();
    process->nonlocal_exits.incomplete = true;
    if (process->live)
        process->live->incomplete = 1;
}

void trodden_live_discard_end(void) {
    struct trodden_live_header *live = trodden_process.live;
    for (uint64_t i = 0; i < region_count(live); i++)
        if (live->regions[i].kind == TRODDEN_REGION_END_FRAMES || live->regions[i].kind == TRODDEN_REGION_SAVED_REGISTERS)
            trodden_live_free((void *)(uintptr_t)live->regions[i].address, live->regions[i].size);
}

/* ---- after a fork: a file of the child's own, with the same things at the same addresses ---- */

/* Only what is there: looking at the rest would make it. */
static void copy_pages(char *target, const struct trodden_live_region *from) {
    size_t page = trodden_page_size();
    for (uint64_t at = 0; at < from->size; at += page) {
        uint64_t data = from->offset == TRODDEN_NO_OFFSET ? at : trodden_live_next_data(from->offset + at) - from->offset;
        if (data >= from->size)
            return;
        at = data & ~(uint64_t)(page - 1);
        memcpy(target + at, (const char *)(uintptr_t)from->address + at, page);
    }
}

static bool move_mapping(void *memory, size_t bytes, void *target) {
    return mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target;
}

static uint64_t regions_at_fork; /* the parent may have got more since, which the child has not */

/* Without any more address space: page by page, over the stack. */
static void make_private(uint8_t *at, size_t bytes, bool empty) {
    size_t page = trodden_page_size();
    uint8_t copy[page];
    for (size_t i = 0; i < bytes; i += page) {
        if (!empty)
            memcpy(copy, at + i, page);
        mmap(at + i, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (!empty)
            memcpy(at + i, copy, page);
    }
}

static void copy_region(struct trodden_live_header *live, const struct trodden_live_region *old, int fd) {
    uint64_t offset = __atomic_fetch_add(&live->size, old->size, __ATOMIC_RELAXED);
    void *target = (void *)(uintptr_t)old->address, *memory = map_region(fd, &offset, old->size);
    bool empty = old->kind == TRODDEN_REGION_SHARD || old->kind == TRODDEN_REGION_RING;
    if (memory && !empty)
        copy_pages(memory, old);
    if (!memory || !move_mapping(memory, old->size, target)) {
        make_private(target, old->size, empty);
        offset = TRODDEN_NO_OFFSET;
    }
    if (offset == TRODDEN_NO_OFFSET)
        live->flags |= TRODDEN_LIVE_INCOMPLETE;
    append_region(live, old->kind, old->module, target, old->size, offset);
}

static void notify_parent(struct trodden_live_header *parent) {
    __atomic_store_n(&parent->child_copied, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &parent->child_copied, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* There is no memory for anything of the child's own: it counts where it is, but no more for its parent. */
static void detach_in_place(struct trodden_live_header *old) {
    for (uint64_t i = 0; i < regions_at_fork; i++)
        if (old->regions[i].kind)
            make_private((void *)(uintptr_t)old->regions[i].address, old->regions[i].size,
                         old->regions[i].kind == TRODDEN_REGION_SHARD || old->regions[i].kind == TRODDEN_REGION_RING);
    notify_parent(old);
    make_private((void *)old, old->header_bytes, false);
    old->flags |= TRODDEN_LIVE_INCOMPLETE;
    old->region_count = regions_at_fork;
    file.fd = -1;
    trodden_output_remove_live();
}

void trodden_live_after_fork(void) {
    struct trodden_live_header *old = trodden_process.live;
    trodden_process.region_owner = 0;
    if (!old)
        return;
    __atomic_store_n(&old->child_started, 1, __ATOMIC_RELEASE);
    int parent_fd = is_live_file(file.fd) ? file.fd : -1;
    int fd = trodden_output_create_live();
    struct trodden_live_header *live = make_header(fd);
    if (!live) {
        detach_in_place(old);
        return;
    }
    for (uint64_t i = 0; i < regions_at_fork; i++)
        if (old->regions[i].kind == TRODDEN_REGION_FORK_FRAMES || old->regions[i].kind == TRODDEN_REGION_END_FRAMES ||
            old->regions[i].kind == TRODDEN_REGION_SAVED_REGISTERS)
            trodden_unmap((void *)(uintptr_t)old->regions[i].address, old->regions[i].size);
        else if (old->regions[i].kind)
            copy_region(live, &old->regions[i], fd);
    if (parent_fd >= 0)
        trodden_sys_close(parent_fd);
    publish(fd, live);
    notify_parent(old);
    if (move_mapping(live, HEADER_BYTES, old))
        live = old;
    trodden_process.live = live;
}

void trodden_live_before_fork(void) {
    struct trodden_live_header *live = trodden_process.live;
    uint64_t mask; /* all are blocked already */
    acquire_regions(&trodden_process, &mask);
    if (live) {
        live->child_started = live->child_copied = 0;
        regions_at_fork = region_count(live);
    }
}

/* The child copies what its parent has at the moment of the fork, and that is shared memory.  So the parent stands
 * still meanwhile, and its other threads get no regions, of which the child would only see the entries.  Besides, who
 * looks for files when the parent has ended finds the child's.  It does not wait for long: there may be no child, or
 * one that was killed at once. */
void trodden_live_wait_for_child(void) {
    struct trodden_live_header *live = trodden_process.live;
    struct timespec interval = {0, 5000000};
    int saved_errno = errno;
    for (unsigned i = 0; live && !__atomic_load_n(&live->child_copied, __ATOMIC_ACQUIRE) &&
                         i < (__atomic_load_n(&live->child_started, __ATOMIC_ACQUIRE) ? 400 : 50);
         i++)
        syscall(SYS_futex, &live->child_copied, FUTEX_WAIT, 0, &interval, NULL, 0);
    __atomic_store_n(&trodden_process.region_owner, 0, __ATOMIC_RELEASE);
    errno = saved_errno;
}
