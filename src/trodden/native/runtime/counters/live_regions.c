/* The regions of the live file.
 *
 * Regions are added without the lock, since sparse path tables and call-path trees grow in instrumented code and in
 * signal handlers.  One thread at a time does so, with signals blocked. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters/live_internal.h"
#include "counters/shards.h"
#include "platform/system.h"
#include "process/process.h"

size_t trodden_round_to_pages(size_t bytes) {
    size_t page = trodden_page_size();
    return (bytes + page - 1) & ~(page - 1);
}

uint64_t trodden_live_region_count(const struct trodden_live_header *live) {
    uint64_t capacity = (live->header_bytes - sizeof *live) / sizeof *live->regions;
    uint64_t used = __atomic_load_n(&live->region_count, __ATOMIC_RELAXED);
    return used < capacity ? used : capacity;
}

void trodden_live_append_region(struct trodden_live_header *live, uint32_t kind, uint32_t module, void *memory,
                                size_t bytes, uint64_t offset) {
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

bool trodden_live_acquire(struct trodden_process *process, uint64_t *mask) {
    uintptr_t own_tp = trodden_thread_pointer(), expected = 0;
    *mask = trodden_block_signals();
    while (!__atomic_compare_exchange_n(&process->region_owner, &expected, own_tp, false, __ATOMIC_ACQUIRE,
                                        __ATOMIC_RELAXED)) {
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
    void *memory = trodden_live_map(trodden_live_reopen(), &offset, bytes);
    if (offset == TRODDEN_NO_OFFSET)
        live->flags |= TRODDEN_LIVE_INCOMPLETE;
    if (memory)
        trodden_live_append_region(live, kind, module, memory, bytes, offset);
    return memory;
}

void *__trodden_keep(uint32_t kind, uint32_t module, size_t bytes) {
    uint64_t mask;
    if (!trodden_process.live)
        trodden_init();
    if (!trodden_process.live)
        return NULL;
    int saved_errno = errno;
    bool held = trodden_live_acquire(&trodden_process, &mask);
    void *memory = add_region(trodden_process.live, kind, module, trodden_round_to_pages(bytes));
    release_regions(&trodden_process, held, mask);
    errno = saved_errno;
    return memory;
}

/* mremap does not need the file, but emulators may not support that form of it. */
bool trodden_live_map_alias(void *memory, uint64_t offset, size_t bytes, void *target) {
    if (mremap(memory, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target)
        return true;
    int fd = offset == TRODDEN_NO_OFFSET ? -1 : trodden_live_reopen();
    return fd >= 0 &&
           mmap(target, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) == target;
}

void trodden_live_free(void *memory, size_t bytes) {
    struct trodden_process *process = __trodden_leader();
    struct trodden_live_header *live = process->live;
    uint64_t mask;
    bytes = trodden_round_to_pages(bytes);
    bool held = trodden_live_acquire(process, &mask);
    for (uint64_t i = trodden_live_region_count(live); memory && i-- > 0;)
        if (live->regions[i].address == (uintptr_t)memory && live->regions[i].kind) {
            __atomic_store_n(&live->regions[i].kind, TRODDEN_REGION_FREE, __ATOMIC_RELEASE);
            int fd = live->regions[i].offset == TRODDEN_NO_OFFSET ? -1 : trodden_live_fd();
            if (fd >= 0)
                syscall(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)live->regions[i].offset,
                        (off_t)bytes);
            break;
        }
    trodden_unmap(memory, bytes);
    release_regions(process, held, mask);
}

uint64_t trodden_live_offset(const void *memory) {
    const struct trodden_live_header *live = trodden_process.live;
    for (uint64_t i = trodden_live_region_count(live); i-- > 0;)
        if (live->regions[i].address == (uintptr_t)memory && live->regions[i].kind)
            return live->regions[i].offset;
    return TRODDEN_NO_OFFSET;
}

bool trodden_live_replace_page(uintptr_t address) {
    struct trodden_live_header *live = trodden_process.live;
    size_t page = trodden_page_size();
    void *at = (void *)(address & ~(page - 1));
    bool in_region = live && address - (uintptr_t)live < live->header_bytes;
    for (uint64_t i = 0; live && !in_region && i < trodden_live_region_count(live); i++)
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
    /* The header may lie on such a page itself, which is then replaced in the same way. */
    live->flags |= TRODDEN_LIVE_INCOMPLETE;
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
    for (uint64_t i = 0; i < trodden_live_region_count(live); i++)
        if (live->regions[i].kind == TRODDEN_REGION_END_FRAMES ||
            live->regions[i].kind == TRODDEN_REGION_SAVED_REGISTERS)
            trodden_live_free((void *)(uintptr_t)live->regions[i].address, live->regions[i].size);
}
