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

/* In the file there may be entries of other processes, too (live_family.c): those in memory have the same indices, and
 * leave theirs free.  A file that was truncated may have no valid number. */
static uint64_t take_index(struct trodden_live_header *live) {
    struct trodden_live_header *copy = trodden_counted_file.header;
    uint64_t index = live->region_count, shared = copy ? __atomic_fetch_add(&copy->region_count, 1, __ATOMIC_RELAXED) : 0;
    index = shared > index ? shared : index;
    __atomic_store_n(&live->region_count, index + 1, __ATOMIC_RELAXED);
    return index;
}

void trodden_live_append_region(struct trodden_live_header *live, uint32_t kind, uint32_t module, void *memory,
                                size_t bytes, uint64_t offset) {
    uint64_t index = take_index(live);
    if (index == TRODDEN_LIVE_SEAL_INDEX)
        index = take_index(live);
    if (index >= (live->header_bytes - sizeof *live) / sizeof *live->regions) {
        live->flags |= TRODDEN_LIVE_INCOMPLETE;
        trodden_live_write_header(live);
        return;
    }
    struct trodden_live_region *region = &live->regions[index];
    region->offset = offset;
    region->size = bytes;
    region->address = (uintptr_t)memory;
    region->module = module;
    __atomic_store_n(&region->kind, kind, __ATOMIC_RELEASE);
    if (!trodden_live_write_region(live, index))
        live->flags |= TRODDEN_LIVE_INCOMPLETE | TRODDEN_LIVE_NO_SPACE;
    trodden_live_write_header(live);
}

void trodden_live_set_state(enum trodden_live_state state, uint32_t signal) {
    trodden_process.live->signal = signal;
    __atomic_store_n(&trodden_process.live->state, state, __ATOMIC_RELEASE);
    trodden_live_write_header(trodden_process.live);
}

void trodden_live_mark(uint32_t flag) {
    __atomic_fetch_or(&trodden_process.live->flags, flag, __ATOMIC_RELAXED);
    trodden_live_write_header(trodden_process.live);
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

void trodden_live_release(struct trodden_process *process, bool held, uint64_t mask) {
    if (held)
        __atomic_store_n(&process->region_owner, 0, __ATOMIC_RELEASE);
    trodden_restore_signals(mask);
}

/* `count` regions of this size, one behind the other in one mapping. */
static void *add_regions(struct trodden_live_header *live, uint32_t kind, uint32_t module, size_t bytes,
                         uint32_t count) {
    uint64_t offset = trodden_live_take_space(count * bytes);
    int fd = trodden_live_open();
    uint8_t *memory = trodden_live_map(fd, &offset, count * bytes);
    trodden_live_close(fd);
    if (offset == TRODDEN_NO_OFFSET)
        live->flags |= TRODDEN_LIVE_INCOMPLETE | (fd >= 0 ? TRODDEN_LIVE_NO_SPACE : 0);
    for (uint32_t i = 0; memory && i < count; i++)
        trodden_live_append_region(live, kind, module, memory + i * bytes, bytes,
                                   offset == TRODDEN_NO_OFFSET ? offset : offset + i * bytes);
    return memory;
}

void *__trodden_keep(uint32_t kind, uint32_t module, size_t bytes) {
    return trodden_live_alloc_adjacent(kind, module, bytes, 1);
}

void *trodden_live_alloc_adjacent(uint32_t kind, uint32_t module, size_t bytes, uint32_t count) {
    uint64_t mask;
    if (!trodden_process.live)
        trodden_init();
    if (!trodden_process.live)
        return NULL;
    int saved_errno = errno;
    bool held = trodden_live_acquire(&trodden_process, &mask);
    void *memory = add_regions(trodden_process.live, kind, module, trodden_round_to_pages(bytes), count);
    trodden_live_release(&trodden_process, held, mask);
    errno = saved_errno;
    return memory;
}

/* mremap does not need the file, but emulators may not support that form of it. */
bool trodden_live_map_alias(void *memory, uint64_t offset, size_t bytes, void *target) {
    if (mremap(memory, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target)
        return true;
    int fd = offset == TRODDEN_NO_OFFSET ? -1 : trodden_live_open();
    bool done = fd >= 0 && mmap(target, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, (off_t)offset) == target;
    trodden_live_close(fd);
    return done;
}

void trodden_live_free(void *memory, size_t bytes) { __trodden_release(memory, trodden_round_to_pages(bytes)); }

void __trodden_release(void *memory, size_t bytes) {
    struct trodden_live_header *live = trodden_process.live;
    int saved_errno = errno;
    uint64_t mask;
    bool held = trodden_live_acquire(&trodden_process, &mask);
    for (uint64_t i = trodden_live_region_count(live); memory && i-- > 0;)
        if (live->regions[i].address == (uintptr_t)memory && live->regions[i].kind) {
            __atomic_store_n(&live->regions[i].kind, TRODDEN_REGION_FREE, __ATOMIC_RELEASE);
            trodden_live_write_region(live, i);
            int fd = live->regions[i].offset == TRODDEN_NO_OFFSET ? -1 : trodden_live_fd();
            if (fd >= 0)
                syscall(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)live->regions[i].offset,
                        (off_t)bytes);
            break;
        }
    trodden_unmap(memory, bytes);
    trodden_live_release(&trodden_process, held, mask);
    errno = saved_errno;
}

uint64_t trodden_live_offset(const void *memory) {
    const struct trodden_live_header *live = trodden_process.live;
    for (uint64_t i = trodden_live_region_count(live); i-- > 0;)
        if (live->regions[i].address == (uintptr_t)memory && live->regions[i].kind)
            return live->regions[i].offset;
    return TRODDEN_NO_OFFSET;
}

void trodden_mark_incomplete(void) {
    __trodden_leader()->nonlocal_exits.incomplete = true;
    __trodden_incomplete();
}

void __trodden_incomplete(void) {
    if (!trodden_process.live)
        return;
    trodden_process.live->incomplete = 1;
    trodden_live_write_header(trodden_process.live);
}

bool trodden_live_is_zero(const void *bytes, size_t count) {
    const uint64_t *words = bytes;
    for (size_t i = 0; i < count / sizeof *words; i++)
        if (words[i])
            return false;
    return true;
}

void trodden_live_free_zero_pages(void) {
    const struct trodden_live_header *live = trodden_process.live;
    size_t page = trodden_page_size();
    int fd = live ? trodden_live_open() : -1;
    for (uint64_t i = 0; fd >= 0 && i < trodden_live_region_count(live); i++) {
        const struct trodden_live_region *region = &live->regions[i];
        for (uint64_t at = 0; region->kind == TRODDEN_REGION_SHARD && region->offset != TRODDEN_NO_OFFSET &&
                              at < region->size;
             at += page)
            if (trodden_live_is_zero((const void *)(uintptr_t)(region->address + at), page))
                syscall(SYS_fallocate, fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)(region->offset + at),
                        (off_t)page);
    }
    trodden_live_close(fd);
}

void trodden_live_discard_end(void) {
    struct trodden_live_header *live = trodden_process.live;
    for (uint64_t i = 0; i < trodden_live_region_count(live); i++)
        if (live->regions[i].kind == TRODDEN_REGION_END_FRAMES ||
            live->regions[i].kind == TRODDEN_REGION_SAVED_REGISTERS)
            trodden_live_free((void *)(uintptr_t)live->regions[i].address, live->regions[i].size);
}
