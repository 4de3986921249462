/* The last paths that each thread has completed.
 *
 * Where a unit asks for it, instrumented code enters every completed path into the ring buffer of its thread: entries
 * that are linked in a circle, so that advancing is a single load and the code need not know how many there are.  A
 * ring is a region of the live file.  The entry at `current` may be half written whenever the process is stopped; all
 * others are complete.  Therefore a ring has one entry more than it keeps.
 *
 * A signal handler continues in the ring of the thread that it has interrupted.  If that thread was about to enter a
 * path, its entry overwrites the handler's; nothing else is affected.
 *
 * How many paths are kept is determined for the whole process: the largest number that any unit loaded so far has
 * asked for, when the thread's ring is made.  The ring of a thread that has exited keeps its entries until another
 * thread needs a ring, which gets that of the thread that exited first. */
#include "counters/last_paths.h"
#include "counters/live_regions.h"
#include "platform/system.h"
#include "process/process.h"

_Static_assert(sizeof(struct trodden_ring_entry) == 24 && offsetof(struct trodden_ring_entry, function) == 8 &&
                   offsetof(struct trodden_ring_entry, path) == 16 && offsetof(struct trodden_ring, current) == 0 &&
                   sizeof(struct trodden_ring) == 16,
               "instrumented code and collect/rawfile/rings.py use these offsets");

struct trodden_ring_region {
    struct trodden_ring_region *next;      /* in the list of all */
    struct trodden_ring_region *next_free; /* in the list of free ones */
    struct trodden_ring *ring;
    uint32_t capacity;
};

/* The ring of threads whose start was not observed: every path overwrites the one before. */
struct trodden_ring trodden_no_ring = {
    .current = &trodden_no_ring.entries[0], .capacity = 1, .entries = {{.next = &trodden_no_ring.entries[0]}}};

static struct trodden_ring_region *regions, *first_free, *last_free;
static uint32_t last_path_count; /* last paths to be kept; 0: no unit has asked for any */

static void reset_ring(const struct trodden_ring_region *region, uint32_t thread) {
    struct trodden_ring *ring = region->ring;
    for (uint32_t i = 0; i < region->capacity; i++)
        ring->entries[i] = (struct trodden_ring_entry){.next = &ring->entries[i + 1 < region->capacity ? i + 1 : 0]};
    ring->thread = thread;
    ring->capacity = region->capacity;
    __atomic_store_n(&ring->current, ring->entries, __ATOMIC_RELEASE);
}

/* An entry may lie on two pages, a pointer only on one. */
void trodden_rings_rebuild(const struct trodden_lost_page *page) {
    struct trodden_ring *home = (struct trodden_ring *)page->region, *ring = page->memory;
    const struct trodden_ring_region *region = regions;
    while (region && region->ring != home)
        region = region->next;
    for (uint32_t i = 0; region && i < region->capacity; i++) {
        size_t offset = (uintptr_t)&home->entries[i].next - (uintptr_t)home - page->offset;
        if (offset < page->bytes)
            *(struct trodden_ring_entry **)((uint8_t *)page->memory + offset) =
                &home->entries[i + 1 < region->capacity ? i + 1 : 0];
    }
    if (region && !page->offset) {
        ring->capacity = region->capacity;
        ring->current = home->entries;
    }
}

static struct trodden_ring_region *new_region(void) {
    struct trodden_ring_region *region = trodden_alloc(sizeof *region);
    uint32_t capacity = last_path_count + 1;
    size_t bytes = sizeof *region->ring + capacity * sizeof *region->ring->entries;
    struct trodden_ring *ring = region ? trodden_live_alloc(TRODDEN_REGION_RING, 0, bytes) : NULL;
    if (!ring)
        return NULL;
    *region = (struct trodden_ring_region){.next = regions, .ring = ring, .capacity = capacity};
    regions = region;
    return region;
}

static struct trodden_ring_region *acquire_region(void) {
    /* Rings that have become too small are not used again. */
    while (first_free) {
        struct trodden_ring_region *region = first_free;
        first_free = region->next_free;
        if (region->capacity > last_path_count)
            return region;
    }
    return new_region();
}

static void release_region(struct trodden_ring_region *region) {
    region->next_free = NULL;
    if (first_free)
        last_free->next_free = region;
    else
        first_free = region;
    last_free = region;
}

static void set_ring(const struct trodden_thread *thread, struct trodden_ring *ring) {
    for (const struct trodden_module *module = trodden_process.modules; module; module = module->next)
        if (module->has_rings && trodden_module_may_count(module))
            __atomic_store_n((struct trodden_ring **)(thread->tp + (uintptr_t)module->ring_tls_offset), ring,
                             __ATOMIC_RELEASE);
}

void trodden_rings_attach_thread(struct trodden_thread *thread) {
    if (!last_path_count)
        return;
    if (!thread->ring) {
        thread->ring = acquire_region();
        if (!thread->ring)
            return;
        reset_ring(thread->ring, thread->number);
    }
    set_ring(thread, thread->ring->ring);
}

/* The module has been loaded by the calling thread, perhaps not for the first time. */
void trodden_rings_attach_module(struct trodden_module *module) {
    for (uint32_t i = 0; i < module->unit_count; i++) {
        const struct trodden_unit *unit = module->units[i].unit;
        uint32_t requested = unit->flags >> TRODDEN_LAST_PATHS_SHIFT;
        if (!unit->ring)
            continue;
        module->has_rings = true;
        module->ring_tls_offset = (intptr_t)((uintptr_t)unit->ring() - trodden_thread_pointer());
        last_path_count = requested > last_path_count ? requested : last_path_count;
    }
    for (struct trodden_thread *thread = trodden_process.threads; module->has_rings && thread; thread = thread->next)
        if (thread->tp)
            trodden_rings_attach_thread(thread);
}

/* The thread exits, or it does not exist in this forked process (`forked`). */
void trodden_rings_detach_thread(struct trodden_thread *thread, bool forked) {
    if (!thread->ring)
        return;
    if (!forked)
        set_ring(thread, &trodden_no_ring);
    release_region(thread->ring);
    thread->ring = NULL;
}

/* All regions are new and zero, the links between entries included. */
void trodden_rings_after_fork(struct trodden_thread *own) {
    if (own && own->ring)
        reset_ring(own->ring, own->number);
}

/* Oldest first. */
static void collect_ring(struct trodden_last_paths *found, const struct trodden_ring_region *region) {
    const struct trodden_ring *ring = region->ring;
    size_t at = (size_t)(__atomic_load_n(&ring->current, __ATOMIC_ACQUIRE) - ring->entries);
    for (uint32_t i = 1; at < region->capacity && i < region->capacity; i++) {
        const struct trodden_ring_entry *last = &ring->entries[(at + i) % region->capacity];
        if (last->function)
            found->entries[found->count++] = (struct trodden_last_path_record){
                .thread = ring->thread, .tag = last->tag, .function = last->function - 1, .path = last->path};
    }
}

struct trodden_last_paths trodden_collect_last_paths(void) {
    struct trodden_last_paths found = {NULL, 0, 0};
    for (const struct trodden_ring_region *region = regions; region; region = region->next)
        found.bytes += (region->capacity - 1) * sizeof *found.entries;
    found.entries = found.bytes ? trodden_map(found.bytes) : NULL;
    for (const struct trodden_ring_region *region = found.entries ? regions : NULL; region; region = region->next)
        collect_ring(&found, region);
    return found;
}
