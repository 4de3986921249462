/* Pages of the live file that are lost: the disk has no space for them, or the file has been truncated.
 *
 * Whoever touches such a page gets a SIGBUS.  Anonymous memory takes its place, and the program continues.  A page for
 * which there was no space had never been written; what was on one that has been truncated is gone. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "counters/call_path_tree.h"
#include "counters/crossings.h"
#include "counters/last_paths.h"
#include "counters/live_internal.h"
#include "counters/shard_tls.h"
#include "counters/sparse_paths.h"
#include "platform/system.h"
#include "process/process.h"
#include "unwind/nonlocal_exits.h"

static const struct trodden_live_region *region_at(const struct trodden_live_header *live, uintptr_t address) {
    for (uint64_t i = 0; i < trodden_live_region_count(live); i++)
        if (live->regions[i].kind && address - live->regions[i].address < live->regions[i].size)
            return &live->regions[i];
    return NULL;
}

void trodden_live_rebuild_page(const struct trodden_live_region *region, const struct trodden_lost_page *page) {
    switch (region->kind) {
    case TRODDEN_REGION_SPARSE_TABLE:
    case TRODDEN_REGION_SPARSE_ARRAY: trodden_sparse_rebuild(page); break;
    case TRODDEN_REGION_CROSSING_TABLE:
    case TRODDEN_REGION_CROSSING_ARRAY:
    case TRODDEN_REGION_CROSSING_ROWS: trodden_crossings_rebuild(page); break;
    case TRODDEN_REGION_NONLOCAL_EXITS: trodden_nonlocal_exits_rebuild(page); break;
    case TRODDEN_REGION_CALL_TREE:
    case TRODDEN_REGION_CALL_NODES:
    case TRODDEN_REGION_CALL_TABLE: trodden_calls_rebuild(page); break;
    case TRODDEN_REGION_RING: trodden_rings_rebuild(page); break;
    default: break;
    }
}

static bool pages_lost;

bool trodden_live_has_lost_pages(void) { return pages_lost; }

void trodden_live_forget_lost_pages(void) { pages_lost = false; }

static bool replace(const struct trodden_live_region *region, uint8_t *home) {
    size_t bytes = trodden_page_size();
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return false;
    struct trodden_lost_page page = {
        region->kind, (uint8_t *)(uintptr_t)region->address, region->size, (uintptr_t)home - region->address, memory, bytes};
    trodden_live_rebuild_page(region, &page);
    pages_lost = true;
    if (mremap(memory, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, home) != home)
        return false;
    uint8_t *alias = trodden_tls_page_of((uintptr_t)home);
    return !alias || mremap(home, 0, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, alias) == alias;
}

/* Another thread may have replaced the page meanwhile: it can be read again. */
static bool is_readable(uintptr_t address) {
    uint8_t byte;
    struct iovec local = {&byte, 1}, remote = {(void *)address, 1};
    return syscall(SYS_process_vm_readv, syscall(SYS_gettid), &local, 1ul, &remote, 1ul, 0ul) == 1;
}

static bool replace_in_region(uintptr_t address) {
    const struct trodden_live_header *live = trodden_process.live;
    uint8_t *at = (uint8_t *)(address & ~(trodden_page_size() - 1)), *in_shard = trodden_shard_page_of((uintptr_t)at);
    uint8_t *home = in_shard ? in_shard : at;
    const struct trodden_live_region *region = region_at(live, (uintptr_t)home);
    if (!region)
        return false;
    if (is_readable(address))
        return true;
    /* A child that copies the region of its parent has lost nothing: it counts from zero. */
    if (live->pid != trodden_process.pid)
        return replace(region, home);
    bool was_lost = live->flags & TRODDEN_LIVE_COUNTS_LOST;
    bool lost = was_lost || trodden_live_is_truncated(region->offset + ((uintptr_t)home - region->address));
    if (lost && !was_lost)
        trodden_live_leave_file();
    trodden_live_mark(TRODDEN_LIVE_INCOMPLETE | (lost ? TRODDEN_LIVE_COUNTS_LOST : TRODDEN_LIVE_NO_SPACE));
    return replace(region, home);
}

bool trodden_live_replace_page(uintptr_t address) {
    uint64_t mask;
    if (!trodden_process.live)
        return false;
    if (trodden_live_is_header(address)) {
        trodden_live_leave_file();
        trodden_live_mark(TRODDEN_LIVE_INCOMPLETE | TRODDEN_LIVE_COUNTS_LOST);
        return true;
    }
    /* No handler may run meanwhile that touches such a page, too, and no fork copies half of it. */
    bool held = trodden_live_acquire(&trodden_process, &mask);
    bool replaced = replace_in_region(address);
    trodden_live_release(&trodden_process, held, mask);
    return replaced;
}
