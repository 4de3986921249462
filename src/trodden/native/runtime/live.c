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

enum { HEADER_BYTES = 4 << 20, VERSION = 1, SMALL = 256 << 10 };
#define MAGIC "TRODLIVE"

/* Of the file: a program may close what it has not opened, and open something else under the same number. */
static struct {
    int number;
    dev_t device;
    ino_t inode;
} file = {.number = -1};

size_t trodden_whole_pages(size_t bytes) {
    size_t page = trodden_page();
    return (bytes + page - 1) & ~(page - 1);
}

static bool is_ours(int number) {
    struct stat status;
    return number >= 0 && fstat(number, &status) == 0 && status.st_dev == file.device && status.st_ino == file.inode;
}

/* Out of the way of those who count on the lowest numbers. */
static int out_of_the_way(int number) {
    struct rlimit limit = {0, 0};
    getrlimit(RLIMIT_NOFILE, &limit);
    rlim_t most = limit.rlim_cur < 1024 ? limit.rlim_cur : 1024;
    int moved = most > 64 ? fcntl(number, F_DUPFD_CLOEXEC, (int)most - 24) : -1;
    if (moved < 0)
        return number;
    trodden_close(number);
    return moved;
}

static bool reopen(void) {
    const char *path = trodden_live_path();
    if (is_ours(file.number))
        return true;
    if (file.number < 0 || !path[0])
        return false;
    int number = trodden_open(path, O_RDWR | O_NOFOLLOW);
    if (!is_ours(number)) {
        if (number >= 0)
            trodden_close(number);
        return false;
    }
    file.number = out_of_the_way(number);
    return true;
}

static bool may_reach(uint64_t size) {
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || size <= limit.rlim_cur;
}

/* Where the disk has no room for a page that is written to, the program gets a signal, which it may have blocked.  So
 * room is made for all that is small; the rest is repaired when it comes to that (below). */
static bool has_room(int number, uint64_t offset, size_t bytes) {
    long done = syscall(SYS_fallocate, number, 0, (off_t)offset, (off_t)(bytes <= SMALL ? bytes : trodden_page()));
    return done == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
}

/* Memory at that place of the file, or anywhere if there is none. */
static void *map_part(int number, uint64_t *offset, size_t bytes) {
    void *memory = MAP_FAILED;
    if (number >= 0 && *offset != TRODDEN_NOWHERE && may_reach(*offset + bytes) && has_room(number, *offset, bytes) &&
        syscall(SYS_pwrite64, number, "", 1ul, (off_t)(*offset + bytes - 1)) == 1) /* no thread is cancelled here */
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, number, (off_t)*offset);
    if (memory == MAP_FAILED) {
        *offset = TRODDEN_NOWHERE;
        memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    }
    return memory == MAP_FAILED ? NULL : memory;
}

static struct trodden_live *make_header(int number) {
    uint64_t offset = 0;
    struct trodden_live *live = map_part(number, &offset, HEADER_BYTES);
    if (!live)
        return NULL;
    live->version = VERSION;
    live->header_bytes = HEADER_BYTES;
    live->pid = trodden_pid();
    live->parent = (uint64_t)getppid();
    live->start = trodden_lead.start;
    live->ticks = trodden_process_ticks();
    live->size = HEADER_BYTES;
#ifdef __x86_64__
    live->machine = EM_X86_64;
#else
    live->machine = EM_AARCH64;
#endif
    if (offset == TRODDEN_NOWHERE)
        live->flags = TRODDEN_PARTLY;
    return live;
}

/* What is valid from its first moment gets its name. */
static void begin_file(int number, struct trodden_live *live) {
    struct stat status;
    file.number = -1;
    if (number < 0)
        return;
    bool good = live && live->flags == 0 && fstat(number, &status) == 0;
    if (good) {
        memcpy(live->magic, MAGIC, sizeof live->magic);
        good = trodden_live_name();
    }
    if (!good) {
        trodden_live_unname();
        trodden_close(number);
        return;
    }
    file.device = status.st_dev;
    file.inode = status.st_ino;
    file.number = out_of_the_way(number);
}

void trodden_live_begin(void) {
    int number = trodden_live_create();
    trodden_lead.live = make_header(number);
    begin_file(number, trodden_lead.live);
}

static void enter_region(struct trodden_live *live, uint32_t kind, uint32_t module, void *memory, size_t bytes,
                         uint64_t offset) {
    uint64_t index = __atomic_fetch_add(&live->used, 1, __ATOMIC_RELAXED);
    if (index >= (live->header_bytes - sizeof *live) / sizeof *live->at) {
        live->flags |= TRODDEN_PARTLY;
        return;
    }
    struct trodden_region *region = &live->at[index];
    region->offset = offset;
    region->size = bytes;
    region->address = (uintptr_t)memory;
    region->module = module;
    __atomic_store_n(&region->kind, kind, __ATOMIC_RELEASE);
}

void *trodden_keep(enum trodden_kind kind, uint32_t module, size_t bytes) {
    return __trodden_keep(kind, module, bytes);
}

/* Nobody else adds a region or takes one away while this thread holds them: false if it does already.  Signals are
 * blocked, so that no handler waits for the thread that it has interrupted. */
static bool hold_regions(struct trodden_lead *lead, uint64_t *mask) {
    uintptr_t own = trodden_thread_pointer(), nobody = 0;
    *mask = trodden_block_signals();
    while (!__atomic_compare_exchange_n(&lead->growing, &nobody, own, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
        if (nobody == own)
            return false;
        nobody = 0;
        syscall(SYS_sched_yield);
    }
    return true;
}

static void let_regions(struct trodden_lead *lead, bool held, uint64_t mask) {
    if (held)
        __atomic_store_n(&lead->growing, 0, __ATOMIC_RELEASE);
    trodden_restore_mask(mask);
}

static void *add_region(struct trodden_live *live, uint32_t kind, uint32_t module, size_t bytes) {
    uint64_t offset = __atomic_fetch_add(&live->size, bytes, __ATOMIC_RELAXED);
    void *memory = map_part(reopen() ? file.number : -1, &offset, bytes);
    if (offset == TRODDEN_NOWHERE)
        live->flags |= TRODDEN_PARTLY;
    if (memory)
        enter_region(live, kind, module, memory, bytes, offset);
    return memory;
}

void *__trodden_keep(uint32_t kind, uint32_t module, size_t bytes) {
    uint64_t mask;
    if (!trodden_lead.live)
        trodden_begin();
    if (!trodden_lead.live)
        return NULL;
    int saved = errno;
    bool held = hold_regions(&trodden_lead, &mask);
    void *memory = add_region(trodden_lead.live, kind, module, trodden_whole_pages(bytes));
    let_regions(&trodden_lead, held, mask);
    errno = saved;
    return memory;
}

/* The kernel can do it without the file, but emulators may not know. */
bool trodden_map_again(void *memory, uint64_t offset, size_t bytes, void *place) {
    if (mremap(memory, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place)
        return true;
    return offset != TRODDEN_NOWHERE && reopen() &&
           mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file.number, (off_t)offset) == place;
}

static uint64_t region_count(const struct trodden_live *live) {
    uint64_t most = (live->header_bytes - sizeof *live) / sizeof *live->at;
    uint64_t used = __atomic_load_n(&live->used, __ATOMIC_RELAXED);
    return used < most ? used : most;
}

void trodden_give_up(void *memory, size_t bytes) {
    struct trodden_lead *lead = __trodden_leader();
    struct trodden_live *live = lead->live;
    uint64_t mask;
    bytes = trodden_whole_pages(bytes);
    bool held = hold_regions(lead, &mask);
    for (uint64_t i = region_count(live); memory && i-- > 0;)
        if (live->at[i].address == (uintptr_t)memory && live->at[i].kind) {
            __atomic_store_n(&live->at[i].kind, TRODDEN_NOTHING, __ATOMIC_RELEASE);
            if (live->at[i].offset != TRODDEN_NOWHERE && is_ours(file.number))
                syscall(SYS_fallocate, file.number, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                        (off_t)live->at[i].offset, (off_t)bytes);
            break;
        }
    trodden_unmap(memory, bytes);
    let_regions(lead, held, mask);
}

uint64_t trodden_offset_of(const void *memory) {
    const struct trodden_live *live = trodden_lead.live;
    for (uint64_t i = region_count(live); i-- > 0;)
        if (live->at[i].address == (uintptr_t)memory && live->at[i].kind)
            return live->at[i].offset;
    return TRODDEN_NOWHERE;
}

/* The first place of the file, from this one on, where something has been written; this one itself, if nobody can
 * tell. */
uint64_t trodden_data_from(uint64_t offset) {
    if (offset == TRODDEN_NOWHERE || !is_ours(file.number))
        return offset;
    off_t found = lseek(file.number, (off_t)offset, SEEK_DATA);
    return found >= 0 ? (uint64_t)found : errno == ENXIO ? TRODDEN_NOWHERE : offset;
}

/* Does somebody's fault at this address come from a page of ours that the disk had no room for?  Then the page is
 * memory from now on. */
bool trodden_live_repair(uintptr_t address) {
    struct trodden_live *live = trodden_lead.live;
    size_t page = trodden_page();
    void *at = (void *)(address & ~(page - 1));
    bool ours = live && address - (uintptr_t)live < live->header_bytes;
    for (uint64_t i = 0; live && !ours && i < region_count(live); i++)
        ours = live->at[i].kind && address - live->at[i].address < live->at[i].size;
    void *home = trodden_home_of((uintptr_t)at), *beside = NULL;
    if (!ours && !home)
        return false;
    if (ours)
        home = at;
    beside = trodden_laid_over((uintptr_t)home);
    bool done =
        mmap(home, page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == home &&
        (!beside || mremap(home, 0, page, MREMAP_MAYMOVE | MREMAP_FIXED, beside) == beside);
    live->flags |= TRODDEN_PARTLY; /* this may meet another such page, and is seen to in the same way */
    return done;
}

void trodden_tell_cut(void) {
    struct trodden_lead *lead = __trodden_leader();
    lead->jumps.cut = true;
    if (lead->live)
        lead->live->cut = 1;
}

void trodden_live_forget_end(void) {
    struct trodden_live *live = trodden_lead.live;
    for (uint64_t i = 0; i < region_count(live); i++)
        if (live->at[i].kind == TRODDEN_END || live->at[i].kind == TRODDEN_CONTEXT)
            trodden_give_up((void *)(uintptr_t)live->at[i].address, live->at[i].size);
}

/* ---- after a fork: a file of the child's own, with the same things at the same addresses ---- */

/* Only what is there: looking at the rest would make it. */
static void copy_pages(char *into, const struct trodden_region *from) {
    size_t page = trodden_page();
    for (uint64_t at = 0; at < from->size; at += page) {
        uint64_t data = from->offset == TRODDEN_NOWHERE ? at : trodden_data_from(from->offset + at) - from->offset;
        if (data >= from->size)
            return;
        at = data & ~(uint64_t)(page - 1);
        memcpy(into + at, (const char *)(uintptr_t)from->address + at, page);
    }
}

static bool move_over(void *memory, size_t bytes, void *place) {
    return mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) == place;
}

static uint64_t regions_at_fork; /* the parent may have got more since, which the child has not */

/* Without any more address space: page by page, over the stack. */
static void make_private(uint8_t *at, size_t bytes, bool empty) {
    size_t page = trodden_page();
    uint8_t kept[page];
    for (size_t i = 0; i < bytes; i += page) {
        if (!empty)
            memcpy(kept, at + i, page);
        mmap(at + i, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (!empty)
            memcpy(at + i, kept, page);
    }
}

static void renew_region(struct trodden_live *live, const struct trodden_region *old, int number) {
    uint64_t offset = __atomic_fetch_add(&live->size, old->size, __ATOMIC_RELAXED);
    void *place = (void *)(uintptr_t)old->address, *memory = map_part(number, &offset, old->size);
    bool empty = old->kind == TRODDEN_COUNTERS || old->kind == TRODDEN_RING;
    if (memory && !empty)
        copy_pages(memory, old);
    if (!memory || !move_over(memory, old->size, place)) {
        make_private(place, old->size, empty);
        offset = TRODDEN_NOWHERE;
    }
    if (offset == TRODDEN_NOWHERE)
        live->flags |= TRODDEN_PARTLY;
    enter_region(live, old->kind, old->module, place, old->size, offset);
}

static void tell_parent(struct trodden_live *parents) {
    __atomic_store_n(&parents->copied, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &parents->copied, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* There is no memory for anything of the child's own: it counts where it is, but no more for its parent. */
static void keep_private(struct trodden_live *old) {
    for (uint64_t i = 0; i < regions_at_fork; i++)
        if (old->at[i].kind)
            make_private((void *)(uintptr_t)old->at[i].address, old->at[i].size,
                         old->at[i].kind == TRODDEN_COUNTERS || old->at[i].kind == TRODDEN_RING);
    tell_parent(old);
    make_private((void *)old, old->header_bytes, false);
    old->flags |= TRODDEN_PARTLY;
    old->used = regions_at_fork;
    file.number = -1;
    trodden_live_unname();
}

void trodden_live_forked(void) {
    struct trodden_live *old = trodden_lead.live;
    trodden_lead.growing = 0;
    if (!old)
        return;
    __atomic_store_n(&old->child, 1, __ATOMIC_RELEASE);
    int parents = is_ours(file.number) ? file.number : -1;
    int number = trodden_live_create();
    struct trodden_live *live = make_header(number);
    if (!live) {
        keep_private(old);
        return;
    }
    for (uint64_t i = 0; i < regions_at_fork; i++)
        if (old->at[i].kind == TRODDEN_START || old->at[i].kind == TRODDEN_END ||
            old->at[i].kind == TRODDEN_CONTEXT)
            trodden_unmap((void *)(uintptr_t)old->at[i].address, old->at[i].size);
        else if (old->at[i].kind)
            renew_region(live, &old->at[i], number);
    if (parents >= 0)
        trodden_close(parents);
    begin_file(number, live);
    tell_parent(old);
    if (move_over(live, HEADER_BYTES, old))
        live = old;
    trodden_lead.live = live;
}

void trodden_live_before_fork(void) {
    struct trodden_live *live = trodden_lead.live;
    uint64_t mask; /* all are blocked already */
    hold_regions(&trodden_lead, &mask);
    if (live) {
        live->child = live->copied = 0;
        regions_at_fork = region_count(live);
    }
}

/* The child copies what its parent has at the moment of the fork, and that is shared memory.  So the parent stands
 * still meanwhile, and its other threads get no regions, of which the child would only see the entries.  Besides, who
 * looks for files when the parent has ended finds the child's.  It does not wait for long: there may be no child, or
 * one that was killed at once. */
void trodden_live_await_child(void) {
    struct trodden_live *live = trodden_lead.live;
    struct timespec moment = {0, 5000000};
    int saved = errno;
    for (unsigned i = 0; live && !__atomic_load_n(&live->copied, __ATOMIC_ACQUIRE) &&
                         i < (__atomic_load_n(&live->child, __ATOMIC_ACQUIRE) ? 400 : 50);
         i++)
        syscall(SYS_futex, &live->copied, FUTEX_WAIT, 0, &moment, NULL, 0);
    __atomic_store_n(&trodden_lead.growing, 0, __ATOMIC_RELEASE);
    errno = saved;
}
