/* The live file of a forked child: a file of its own, with copies of its parent's regions at the same addresses.
 *
 * The child copies the regions as they are at the moment of the fork, and they are shared memory.  Therefore the
 * parent waits for it, and no other thread of the parent can add a region meanwhile. */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "counters/live_internal.h"
#include "counters/shards.h"
#include "platform/system.h"
#include "process/output_file.h"
#include "process/process.h"

static bool move_mapping(void *memory, size_t bytes, void *target) {
    return mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, target) == target;
}

static uint64_t regions_at_fork; /* the parent may have added more since, whose memory the child does not have */

/* Counters and last paths of the child start from zero. */
static bool starts_empty(const struct trodden_live_region *region) {
    return region->kind == TRODDEN_REGION_SHARD || region->kind == TRODDEN_REGION_RING ||
           (region->kind == TRODDEN_REGION_TRACE && trodden_trace_is_empty((const void *)(uintptr_t)region->address));
}

static void copy_region(struct trodden_live_header *live, const struct trodden_live_region *old, int parent_fd) {
    uint64_t offset = trodden_live_take_space(old->size);
    int fd = trodden_live_fd();
    void *target = (void *)(uintptr_t)old->address;
    void *memory = starts_empty(old) ? trodden_live_map(fd, &offset, old->size)
                                     : trodden_live_copy_region(old, parent_fd, fd, &offset);
    if (!memory || !move_mapping(memory, old->size, target)) {
        trodden_live_copy_in_place(old, starts_empty(old));
        trodden_unmap(memory, old->size);
        offset = TRODDEN_NO_OFFSET;
    }
    if (offset == TRODDEN_NO_OFFSET)
        live->flags |= TRODDEN_LIVE_INCOMPLETE | (fd >= 0 ? TRODDEN_LIVE_NO_SPACE : 0);
    trodden_live_append_region(live, old->kind, old->module, target, old->size, offset);
}

static void notify_parent(struct trodden_live_header *parent) {
    __atomic_store_n(&parent->child_copied, 1, __ATOMIC_RELEASE);
    syscall(SYS_futex, &parent->child_copied, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* Out of memory: the child keeps its regions where they are, but no longer shares them with its parent. */
static void detach_in_place(struct trodden_live_header *old) {
    struct trodden_live_region header = {
        .offset = TRODDEN_NO_OFFSET, .size = old->header_bytes, .address = (uintptr_t)old};
    for (uint64_t i = 0; i < regions_at_fork; i++)
        if (old->regions[i].kind)
            trodden_live_copy_in_place(&old->regions[i], starts_empty(&old->regions[i]));
    notify_parent(old);
    trodden_live_copy_in_place(&header, false);
    old->flags |= TRODDEN_LIVE_INCOMPLETE;
    old->region_count = regions_at_fork;
}

/* Frames of the parent, shards and traces of threads that do not exist in the child or have exited. */
static bool is_dropped(const struct trodden_live_region *region) {
    return region->kind == TRODDEN_REGION_FORK_FRAMES || region->kind == TRODDEN_REGION_END_FRAMES ||
           region->kind == TRODDEN_REGION_SAVED_REGISTERS ||
           (region->kind == TRODDEN_REGION_TRACE && !trodden_trace_keeps((const void *)(uintptr_t)region->address)) ||
           (region->kind == TRODDEN_REGION_SHARD && !trodden_shard_survives_fork((const void *)(uintptr_t)region->address));
}

void trodden_live_after_fork(void) {
    struct trodden_live_header *old = trodden_process.live;
    trodden_process.region_owner = 0;
    if (!old)
        return;
    __atomic_store_n(&old->child_started, trodden_process.pid, __ATOMIC_RELEASE);
    const struct trodden_counted_file parents = trodden_counted_file;
    struct trodden_live_header *live = trodden_live_make_header();
    int parent_fd = trodden_live_open();
    /* A file that was truncated, or had no space, has no data where memory has what was counted since. */
    bool has_all = !(old->flags & TRODDEN_LIVE_COUNTS_LOST) && !trodden_live_has_lost_pages() &&
                   !trodden_live_is_shortened();
    int fd = trodden_output_create_live();
    bool in_file = trodden_live_begin(fd, live);
    if (in_file)
        trodden_live_leave_parents(&parents);
    bool joined = !in_file && trodden_live_join_parents(&parents, parent_fd, live, live ? errno : ENOMEM);
    if (!live) {
        detach_in_place(old);
        if (parent_fd >= 0 && !joined)
            trodden_sys_close(parent_fd);
        return;
    }
    for (uint64_t i = 0; i < regions_at_fork; i++)
        if (is_dropped(&old->regions[i]))
            trodden_unmap((void *)(uintptr_t)old->regions[i].address, old->regions[i].size);
        else if (old->regions[i].kind)
            copy_region(live, &old->regions[i], has_all ? parent_fd : -1);
    if (parent_fd >= 0 && !joined)
        trodden_sys_close(parent_fd);
    trodden_live_forget_lost_pages();
    trodden_process.live = live;
    if (in_file)
        trodden_live_publish();
    notify_parent(old);
    if (move_mapping(live, TRODDEN_LIVE_HEADER_BYTES, old))
        trodden_process.live = old;
}

void trodden_live_before_fork(void) {
    struct trodden_live_header *live = trodden_process.live;
    uint64_t mask; /* signals are blocked already */
    trodden_live_acquire(&trodden_process, &mask);
    if (live) {
        live->child_started = live->child_copied = 0;
        regions_at_fork = trodden_live_region_count(live);
    }
}

/* Whoever looks for raw files when the parent has exited also finds the child's, since the parent has waited.  It
 * does not wait for long: fork may have failed, or the child may have been killed at once. */
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
