/* The last paths that each thread has walked to their ends.
 *
 * Where a unit asks for it, instrumented code enters every path that ends into a ring of its thread: entries that
 * lead from one to the next, round and round, so that going on is a single load and nobody has to know how many
 * there are.  A ring is a region of the live file.  The entry at `at` may be half written whenever the process is
 * stopped; all others are whole, so a ring has one entry more than are kept.
 *
 * A signal handler goes on in the ring of the thread that it has interrupted.  If that was about to enter a path, its
 * entry takes the place of the handler's; nothing else is touched.
 *
 * How many paths are kept is a matter of the whole process: the most that any unit loaded so far has asked for, when
 * the thread's ring is made.  The ring of a thread that has ended keeps what it holds until another thread needs
 * one; that gets the ring whose thread has ended first. */

#include "internal.h"

_Static_assert(sizeof(struct trodden_last) == 24 && offsetof(struct trodden_last, function) == 8 &&
                   offsetof(struct trodden_last, path) == 16 && offsetof(struct trodden_ring, at) == 0 &&
                   sizeof(struct trodden_ring) == 16,
               "instrumented code and collect/rawfile/rings.py know the places");

struct trodden_ring_home {
    struct trodden_ring_home *next;   /* of all */
    struct trodden_ring_home *behind; /* of those that wait for a thread */
    struct trodden_ring *ring;
    uint32_t room;
};

/* Of threads that nobody saw start: every path takes the place of the one before. */
struct trodden_ring trodden_no_ring = {.at = &trodden_no_ring.entries[0],
                                       .room = 1,
                                       .entries = {{.next = &trodden_no_ring.entries[0]}}};

static struct trodden_ring_home *all, *first_spare, *last_spare;
static uint32_t wanted; /* last paths; 0: nobody has asked */

static void empty(const struct trodden_ring_home *home, uint32_t thread) {
    struct trodden_ring *ring = home->ring;
    for (uint32_t i = 0; i < home->room; i++)
        ring->entries[i] = (struct trodden_last){.next = &ring->entries[i + 1 < home->room ? i + 1 : 0]};
    ring->thread = thread;
    ring->room = home->room;
    __atomic_store_n(&ring->at, ring->entries, __ATOMIC_RELEASE);
}

static struct trodden_ring_home *new_home(void) {
    struct trodden_ring_home *home = trodden_alloc(sizeof *home);
    uint32_t room = wanted + 1;
    size_t bytes = sizeof *home->ring + room * sizeof *home->ring->entries;
    struct trodden_ring *ring = home ? trodden_keep(TRODDEN_RING, 0, bytes) : NULL;
    if (!ring)
        return NULL;
    *home = (struct trodden_ring_home){.next = all, .ring = ring, .room = room};
    all = home;
    return home;
}

static struct trodden_ring_home *take_home(void) {
    /* Those that have become too small wait for nobody any more. */
    while (first_spare) {
        struct trodden_ring_home *home = first_spare;
        first_spare = home->behind;
        if (home->room > wanted)
            return home;
    }
    return new_home();
}

static void give_back(struct trodden_ring_home *home) {
    home->behind = NULL;
    if (first_spare)
        last_spare->behind = home;
    else
        first_spare = home;
    last_spare = home;
}

static void point_to(const struct trodden_thread *thread, struct trodden_ring *ring) {
    for (const struct trodden_module *module = trodden_lead.modules; module; module = module->next)
        if (module->ringed && module->copy && (!module->left || module->stays))
            __atomic_store_n((struct trodden_ring **)(thread->tp + (uintptr_t)module->ring), ring, __ATOMIC_RELEASE);
}

void trodden_rings_attach_thread(struct trodden_thread *thread) {
    if (!wanted)
        return;
    if (!thread->ring) {
        thread->ring = take_home();
        if (!thread->ring)
            return;
        empty(thread->ring, thread->number);
    }
    point_to(thread, thread->ring->ring);
}

/* The module has been loaded, perhaps again, by the calling thread. */
void trodden_rings_attach_module(struct trodden_module *module) {
    for (uint32_t i = 0; i < module->unit_count; i++) {
        const struct trodden_unit *unit = module->units[i].unit;
        uint32_t asked = unit->flags >> TRODDEN_LASTS;
        if (!unit->ring)
            continue;
        module->ringed = true;
        module->ring = (intptr_t)((uintptr_t)unit->ring() - trodden_thread_pointer());
        wanted = asked > wanted ? asked : wanted;
    }
    for (struct trodden_thread *thread = trodden_lead.threads; module->ringed && thread; thread = thread->next)
        if (thread->tp)
            trodden_rings_attach_thread(thread);
}

/* It ends, or has ended long ago in the process that this one was forked from (`gone`). */
void trodden_rings_detach_thread(struct trodden_thread *thread, bool gone) {
    if (!thread->ring)
        return;
    if (!gone)
        point_to(thread, &trodden_no_ring);
    give_back(thread->ring);
    thread->ring = NULL;
}

/* All regions are new and hold nothing, not even the way from one entry to the next. */
void trodden_rings_forked(struct trodden_thread *own) {
    if (own && own->ring)
        empty(own->ring, own->number);
}

/* From the oldest on. */
static void gather(struct trodden_lasts *found, const struct trodden_ring_home *home) {
    const struct trodden_ring *ring = home->ring;
    size_t at = (size_t)(__atomic_load_n(&ring->at, __ATOMIC_ACQUIRE) - ring->entries);
    for (uint32_t i = 1; at < home->room && i < home->room; i++) {
        const struct trodden_last *last = &ring->entries[(at + i) % home->room];
        if (last->function)
            found->at[found->count++] = (struct trodden_last_record){
                .thread = ring->thread, .tag = last->tag, .function = last->function - 1, .path = last->path};
    }
}

struct trodden_lasts trodden_gather_lasts(void) {
    struct trodden_lasts found = {NULL, 0, 0};
    for (const struct trodden_ring_home *home = all; home; home = home->next)
        found.bytes += (home->room - 1) * sizeof *found.at;
    found.at = found.bytes ? trodden_map(found.bytes) : NULL;
    for (const struct trodden_ring_home *home = found.at ? all : NULL; home; home = home->next)
        gather(&found, home);
    return found;
}
