/* Where counters are: the one file to change if they move elsewhere.
 *
 * What a module counts in one thread lies in a shard: a region of the live file.  When the thread ends, its shard
 * waits for the next thread, which goes on counting where the other has stopped: nothing is ever added up while the
 * program runs, so there is no moment at which a count could be lost or doubled.  The sum over all shards is
 * right whenever the process is stopped.
 *
 * Code that is not position independent knows its counters by their distance from the thread pointer.  They fill
 * whole pages of the thread's static TLS (pad.c sees to that), and the shard's pages
 * are laid over these.  Other code finds its counters by a table of the thread's, with one place for each unit. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

/* What threads count that nobody saw start. */
void *trodden_common[TRODDEN_MOST_UNITS];

static size_t aligned(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

static uint64_t *in_tls(const struct trodden_module *module, uintptr_t tp) {
    return (uint64_t *)(tp + (uintptr_t)module->tls_low);
}

/* Called by the thread that loads the module, when it is loaded for the first time. */
void trodden_lay_out(struct trodden_module *module) {
    uintptr_t tp = trodden_thread_pointer(), low = UINTPTR_MAX, high = 0;
    for (uint32_t i = 0; i < module->unit_count; i++) {
        struct trodden_counted *unit = &module->units[i];
        uintptr_t here = (uintptr_t)unit->unit->counters();
        unit->offset = (intptr_t)(here - tp);
        unit->static_tls = unit->unit->flags & TRODDEN_STATIC_TLS;
        if (!unit->static_tls)
            continue;
        low = here < low ? here : low;
        high = here + unit->slots * sizeof(uint64_t) > high ? here + unit->slots * sizeof(uint64_t) : high;
    }
    module->tls_low = high ? (intptr_t)(low - tp) : 0;
    module->tls_bytes = high ? trodden_whole_pages(high - low) : 0;
    module->whole_pages = module->pad && low % trodden_page() == 0 && module->pad >= high &&
                          module->pad - low >= module->tls_bytes;
    size_t bytes = module->tls_bytes;
    for (uint32_t i = 0; i < module->unit_count; i++) {
        struct trodden_counted *unit = &module->units[i];
        unit->at = unit->static_tls ? (size_t)(unit->offset - module->tls_low) : bytes;
        if (unit->static_tls)
            continue;
        unit->index = trodden_lead.table_used++;
        module->tabled = true;
        bytes += aligned(unit->slots * sizeof(uint64_t));
    }
    module->shard_bytes = trodden_whole_pages(bytes ? bytes : 1);
}

/* ---- shards ---- */
static struct trodden_shard *new_shard(struct trodden_module *module) {
    struct trodden_shard *shard = trodden_alloc(sizeof *shard);
    uint64_t *home = shard ? trodden_keep(TRODDEN_COUNTERS, module->index, module->shard_bytes) : NULL;
    if (!home)
        return NULL;
    *shard = (struct trodden_shard){.next = module->shards,
                                    .module = module,
                                    .home = home,
                                    .offset = trodden_offset_of(home)};
    module->shards = shard;
    return shard;
}

static struct trodden_shard *take_shard(struct trodden_module *module) {
    struct trodden_shard *shard = module->spare;
    if (!shard)
        return new_shard(module);
    module->spare = shard->beside;
    return shard;
}

static bool lay_over(struct trodden_shard *shard) {
    return trodden_map_again(shard->home, shard->offset, shard->module->tls_bytes,
                             in_tls(shard->module, shard->tp));
}

static void take_away(struct trodden_shard *shard) {
    if (shard->laid_over)
        mmap(in_tls(shard->module, shard->tp), shard->module->tls_bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    shard->laid_over = false;
}

/* From the thread's own memory; only what is not zero is touched.  Beside and between the counters of units others may
 * have their variables. */
static void fold(struct trodden_shard *shard) {
    const struct trodden_module *module = shard->module;
    for (uint32_t i = 0; i < module->unit_count; i++) {
        const struct trodden_counted *unit = &module->units[i];
        uint64_t *counts = (uint64_t *)(shard->tp + (uintptr_t)unit->offset);
        uint64_t *sums = shard->home + unit->at / sizeof *sums;
        for (uint32_t k = 0; unit->static_tls && k < unit->slots; k++) {
            k = trodden_skip_zeros(counts, k, unit->slots);
            if (k < unit->slots) {
                sums[k] += counts[k];
                counts[k] = 0;
            }
        }
    }
}

static void clear(const struct trodden_shard *shard) {
    const struct trodden_module *module = shard->module;
    for (uint32_t i = 0; i < module->unit_count; i++)
        if (module->units[i].static_tls)
            memset((void *)(shard->tp + (uintptr_t)module->units[i].offset), 0,
                   module->units[i].slots * sizeof(uint64_t));
}

static void fill_table(const struct trodden_module *module, const struct trodden_shard *shard, void **table) {
    for (uint32_t i = 0; i < module->unit_count; i++) {
        const struct trodden_counted *unit = &module->units[i];
        if (!unit->static_tls)
            table[unit->index] = (uint8_t *)shard->home + unit->at;
    }
}

static void point_to(const struct trodden_module *module, uintptr_t tp, void **table) {
    for (uint32_t i = 0; i < module->unit_count; i++)
        if (!module->units[i].static_tls)
            __atomic_store_n((void ***)(tp + (uintptr_t)module->units[i].offset), table, __ATOMIC_RELEASE);
}

static bool has_shard(const struct trodden_thread *thread, const struct trodden_module *module) {
    for (const struct trodden_shard *shard = thread->shards; shard; shard = shard->beside)
        if (shard->module == module)
            return true;
    return false;
}

static void attach(struct trodden_module *module, struct trodden_thread *thread, bool fresh) {
    if (module->tabled && !thread->table)
        thread->table = trodden_map(TRODDEN_MOST_UNITS * sizeof *thread->table);
    struct trodden_shard *shard = has_shard(thread, module) || (module->tabled && !thread->table)
                                      ? NULL
                                      : take_shard(module);
    if (!shard) {
        if (!has_shard(thread, module))
            trodden_tell_cut();
        return;
    }
    shard->tp = thread->tp;
    shard->beside = thread->shards;
    thread->shards = shard;
    if (module->tls_bytes && !fresh)
        fold(shard);
    shard->laid_over = module->tls_bytes && module->whole_pages && lay_over(shard);
    if (module->tabled) {
        fill_table(module, shard, thread->table);
        point_to(module, thread->tp, thread->table);
    }
}

/* The module has been loaded, perhaps again; the caller holds the lock. */
void trodden_attach_module(struct trodden_module *module) {
    if (!module->common && (module->common = new_shard(module)))
        fill_table(module, module->common, trodden_common);
    for (struct trodden_thread *thread = trodden_lead.threads; thread; thread = thread->next)
        if (thread->tp)
            attach(module, thread, false);
}

void trodden_attach_thread(struct trodden_thread *thread) {
    for (struct trodden_module *module = trodden_lead.modules; module; module = module->next)
        if (module->copy && !module->left)
            attach(module, thread, true);
}

/* It ends, or has ended long ago in the process that this one was forked from (`gone`). */
void trodden_detach_thread(struct trodden_thread *thread, bool gone) {
    struct trodden_shard *beside;
    for (struct trodden_shard *shard = thread->shards; shard; shard = beside) {
        struct trodden_module *module = shard->module;
        beside = shard->beside;
        if (module->tls_bytes && !shard->laid_over && !gone)
            fold(shard);
        take_away(shard);
        if (module->tabled && module->copy && !module->left)
            point_to(module, shard->tp, trodden_common);
        shard->tp = 0;
        shard->beside = module->spare;
        module->spare = shard;
    }
    thread->shards = NULL;
}

/* All regions are new and empty, and the memory of this thread still shows its parent's. */
void trodden_counters_forked(struct trodden_thread *own) {
    for (struct trodden_module *module = trodden_lead.modules; module; module = module->next)
        for (struct trodden_shard *shard = module->shards; shard; shard = shard->next) {
            shard->offset = trodden_offset_of(shard->home);
            shard->empty_from = shard->empty_to = 0;
        }
    for (struct trodden_shard *shard = own ? own->shards : NULL; shard; shard = shard->beside) {
        if (shard->laid_over && !lay_over(shard))
            take_away(shard);
        else if (!shard->laid_over && shard->module->tls_bytes)
            clear(shard);
    }
}

/* A page of a thread's TLS that a shard is laid over: where the shard has it.  NULL: there is none. */
void *trodden_home_of(uintptr_t address) {
    for (const struct trodden_module *module = trodden_lead.modules; module; module = module->next)
        for (const struct trodden_shard *shard = module->shards; shard; shard = shard->next) {
            uintptr_t at = address - (uintptr_t)in_tls(module, shard->tp);
            if (shard->laid_over && at < module->tls_bytes)
                return (uint8_t *)shard->home + at;
        }
    return NULL;
}

/* The other way round. */
void *trodden_laid_over(uintptr_t home) {
    for (const struct trodden_module *module = trodden_lead.modules; module; module = module->next)
        for (const struct trodden_shard *shard = module->shards; shard; shard = shard->next) {
            uintptr_t at = home - (uintptr_t)shard->home;
            if (shard->laid_over && at < module->tls_bytes)
                return (uint8_t *)in_tls(module, shard->tp) + at;
        }
    return NULL;
}

/* Is there nothing?  To look would make memory of it. */
static bool is_empty(struct trodden_shard *shard, size_t from, size_t to) {
    /* What the file does not have may be memory that was put in its place. */
    if (shard->offset == TRODDEN_NOWHERE || (trodden_lead.live->flags & TRODDEN_PARTLY))
        return false;
    if (from < shard->empty_from || to > shard->empty_to) {
        uint64_t data = trodden_data_from(shard->offset + from);
        shard->empty_from = from;
        shard->empty_to = data == TRODDEN_NOWHERE ? SIZE_MAX : (size_t)(data - shard->offset);
    }
    return to <= shard->empty_to;
}

/* Sums of counters: where they are, as long as only one has counted, and else in a workspace. */
struct summing {
    uint64_t *into;
    const uint64_t *found; /* NULL: nobody has counted yet */
};

static void add(struct summing *sums, const uint64_t *counts, uint32_t count) {
    const uint64_t *before = sums->found;
    sums->found = before ? sums->into : counts;
    for (uint32_t i = 0; before && i < count; i++)
        sums->into[i] = before[i] + counts[i];
}

/* NULL if there is nothing; else sums that may lie in `workspace`. */
const uint64_t *trodden_sum(const struct trodden_module *module, const struct trodden_counted *unit, uint32_t first,
                            uint32_t count, uint64_t *workspace) {
    uintptr_t own = trodden_thread_pointer();
    bool known = !unit->static_tls || !unit->unit;
    struct summing sums = {workspace, NULL};
    size_t from = unit->at + first * sizeof *workspace, to = from + count * sizeof *workspace;
    for (struct trodden_shard *shard = module->shards; shard; shard = shard->next) {
        if (!is_empty(shard, from, to))
            add(&sums, shard->home + from / sizeof *workspace, count);
        if (unit->static_tls && shard->tp && !shard->laid_over)
            add(&sums, (const uint64_t *)(shard->tp + (uintptr_t)unit->offset) + first, count);
        known = known || shard->tp == own;
    }
    /* The thread that ends the process may be one that we did not see start, or that has been seen to end. */
    if (!known)
        add(&sums, (const uint64_t *)(own + (uintptr_t)unit->offset) + first, count);
    return sums.found;
}
