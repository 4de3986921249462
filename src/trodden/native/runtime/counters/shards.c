/* Where counters lie: the file to change if they move elsewhere.
 *
 * What a module counts in one thread lies in a shard: a region of the live file.  When the thread exits, its shard is
 * reused by the next thread, which continues to count in it: nothing is ever added up while the program runs, so that
 * there is no moment at which a count could be lost or doubled.  The sum over all shards is right whenever the
 * process is stopped.
 *
 * Code that is not position-independent addresses its counters relative to the thread pointer: the shard's pages are
 * mapped over them (shard_tls.c).  Other code finds its counters by a table of the thread, with one entry for each
 * unit. */
#include "counters/live_regions.h"
#include "counters/shard_tls.h"
#include "counters/shards.h"
#include "platform/system.h"
#include "process/process.h"

/* The counters of threads whose start was not observed. */
void *trodden_common[TRODDEN_MAX_TABLE_UNITS];

static size_t align_to_cache_line(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

/* Called by the thread that loads the module, when it is loaded for the first time. */
void trodden_shards_lay_out(struct trodden_module *module) {
    uintptr_t tp = trodden_thread_pointer(), low = UINTPTR_MAX, high = 0;
    for (uint32_t i = 0; i < module->unit_count; i++) {
        struct trodden_module_unit *unit = &module->units[i];
        uintptr_t address = (uintptr_t)unit->unit->counters();
        unit->tls_offset = (intptr_t)(address - tp);
        unit->static_tls = unit->unit->flags & TRODDEN_STATIC_TLS;
        if (!unit->static_tls)
            continue;
        low = address < low ? address : low;
        high = address + unit->slots * sizeof(uint64_t) > high ? address + unit->slots * sizeof(uint64_t) : high;
    }
    module->tls_low = high ? (intptr_t)(low - tp) : 0;
    module->tls_bytes = high ? trodden_round_to_pages(high - low) : 0;
    module->whole_pages = module->padding && low % trodden_page_size() == 0 && module->padding >= high &&
                          module->padding - low >= module->tls_bytes;
    size_t bytes = module->tls_bytes;
    for (uint32_t i = 0; i < module->unit_count; i++) {
        struct trodden_module_unit *unit = &module->units[i];
        unit->shard_offset = unit->static_tls ? (size_t)(unit->tls_offset - module->tls_low) : bytes;
        if (unit->static_tls)
            continue;
        unit->table_index = trodden_process.table_units++;
        module->has_table_units = true;
        bytes += align_to_cache_line(unit->slots * sizeof(uint64_t));
    }
    module->shard_bytes = trodden_round_to_pages(bytes ? bytes : 1);
}

/* ---- shards ---- */
static struct trodden_shard *unused_records;

static struct trodden_shard *new_record(void) {
    struct trodden_shard *record = unused_records;
    if (!record)
        return trodden_alloc(sizeof *record);
    unused_records = record->next;
    return record;
}

/* A process may have only so many mappings (65,530 by default), and each thread needs several.  Therefore a module with
 * many threads gets several shards at once: a quarter of those that it has. */
enum { SHARDS_AT_ONCE = 32, BYTES_AT_ONCE = 256 << 10 };

static uint32_t shards_at_once(const struct trodden_module *module) {
    size_t count = module->shard_count / 4, limit = BYTES_AT_ONCE / module->shard_bytes;
    count = count < SHARDS_AT_ONCE ? count : SHARDS_AT_ONCE;
    count = count < limit ? count : limit;
    return count ? (uint32_t)count : 1;
}

static struct trodden_shard *add_shard(struct trodden_module *module, uint64_t *memory) {
    struct trodden_shard *shard = new_record();
    if (!shard)
        return NULL;
    *shard = (struct trodden_shard){
        .next = module->shards, .module = module, .memory = memory, .offset = trodden_live_offset(memory)};
    module->shards = shard;
    module->shard_count++;
    return shard;
}

/* The first of the new shards; the others are free. */
static struct trodden_shard *new_shard(struct trodden_module *module) {
    uint32_t count = shards_at_once(module);
    uint8_t *memory =
        trodden_live_alloc_adjacent(TRODDEN_REGION_SHARD, module->index, module->shard_bytes, count);
    struct trodden_shard *first = memory ? add_shard(module, (uint64_t *)memory) : NULL;
    for (uint32_t i = 1; first && i < count; i++) {
        struct trodden_shard *shard = add_shard(module, (uint64_t *)(memory + i * module->shard_bytes));
        if (!shard)
            break;
        shard->next_of_thread = module->free_shards;
        module->free_shards = shard;
    }
    return first;
}

static struct trodden_shard *take_shard(struct trodden_module *module) {
    struct trodden_shard *shard = module->free_shards;
    if (!shard)
        return new_shard(module);
    module->free_shards = shard->next_of_thread;
    return shard;
}

static void fill_counter_table(const struct trodden_module *module, const struct trodden_shard *shard, void **table) {
    for (uint32_t i = 0; i < module->unit_count; i++) {
        const struct trodden_module_unit *unit = &module->units[i];
        if (!unit->static_tls)
            table[unit->table_index] = (uint8_t *)shard->memory + unit->shard_offset;
    }
}

static void set_counter_table(const struct trodden_module *module, uintptr_t tp, void **table) {
    for (uint32_t i = 0; i < module->unit_count; i++)
        if (!module->units[i].static_tls)
            __atomic_store_n((void ***)(tp + (uintptr_t)module->units[i].tls_offset), table, __ATOMIC_RELEASE);
}

static bool has_shard(const struct trodden_thread *thread, const struct trodden_module *module) {
    for (const struct trodden_shard *shard = thread->shards; shard; shard = shard->next_of_thread)
        if (shard->module == module)
            return true;
    return false;
}

static void attach(struct trodden_module *module, struct trodden_thread *thread, bool fresh) {
    if (module->has_table_units && !thread->counter_table)
        thread->counter_table = trodden_map(TRODDEN_MAX_TABLE_UNITS * sizeof *thread->counter_table);
    struct trodden_shard *shard =
        has_shard(thread, module) || (module->has_table_units && !thread->counter_table) ? NULL : take_shard(module);
    if (!shard) {
        if (!has_shard(thread, module))
            trodden_mark_incomplete();
        return;
    }
    shard->tp = thread->tp;
    shard->next_of_thread = thread->shards;
    thread->shards = shard;
    if (module->tls_bytes && !fresh)
        trodden_shard_fold_tls(shard);
    shard->mapped_over_tls = module->tls_bytes && module->whole_pages && trodden_shard_map_over_tls(shard);
    if (fresh)
        trodden_shard_touch(shard);
    if (module->has_table_units) {
        fill_counter_table(module, shard, thread->counter_table);
        set_counter_table(module, thread->tp, thread->counter_table);
    }
}

/* The module has been loaded, perhaps not for the first time. */
void trodden_shards_attach_module(struct trodden_module *module) {
    if (module->has_table_units && !module->fallback_shard && (module->fallback_shard = new_shard(module)))
        fill_counter_table(module, module->fallback_shard, trodden_common);
    for (struct trodden_thread *thread = trodden_process.threads; thread; thread = thread->next)
        if (thread->tp)
            attach(module, thread, false);
}

void trodden_shards_attach_thread(struct trodden_thread *thread) {
    for (struct trodden_module *module = trodden_process.modules; module; module = module->next)
        if (trodden_module_may_count(module))
            attach(module, thread, true);
}

/* The thread exits, or it does not exist in this forked process (`forked`). */
void trodden_shards_detach_thread(struct trodden_thread *thread, bool forked) {
    struct trodden_shard *next;
    for (struct trodden_shard *shard = thread->shards; shard; shard = next) {
        struct trodden_module *module = shard->module;
        next = shard->next_of_thread;
        if (module->tls_bytes && !shard->mapped_over_tls && !forked)
            trodden_shard_fold_tls(shard);
        trodden_shard_unmap_from_tls(shard);
        if (module->has_table_units && trodden_module_may_count(module))
            set_counter_table(module, shard->tp, trodden_common);
        shard->tp = 0;
        if (forked)
            continue;
        shard->next_of_thread = module->free_shards;
        module->free_shards = shard;
    }
    thread->shards = NULL;
}

static bool survives_fork(const struct trodden_shard *shard) {
    return shard == shard->module->fallback_shard || shard->tp == trodden_thread_pointer();
}

bool trodden_shard_survives_fork(const void *memory) {
    for (const struct trodden_module *module = trodden_process.modules; module; module = module->next)
        for (const struct trodden_shard *shard = module->shards; shard; shard = shard->next)
            if (shard->memory == memory)
                return survives_fork(shard);
    return false;
}

static void forget_other_shards(struct trodden_module *module) {
    module->free_shards = NULL;
    for (struct trodden_shard **link = &module->shards, *shard; (shard = *link);) {
        if (survives_fork(shard)) {
            link = &shard->next;
            continue;
        }
        *link = shard->next;
        module->shard_count--;
        shard->next = unused_records;
        unused_records = shard;
    }
}

/* All regions are new and zero, but the TLS of this thread still maps its parent's. */
void trodden_shards_after_fork(struct trodden_thread *own) {
    for (struct trodden_module *module = trodden_process.modules; module; module = module->next) {
        forget_other_shards(module);
        for (struct trodden_shard *shard = module->shards; shard; shard = shard->next) {
            shard->offset = trodden_live_offset(shard->memory);
            shard->zero_from = shard->zero_to = 0;
        }
    }
    for (struct trodden_shard *shard = own ? own->shards : NULL; shard; shard = shard->next_of_thread) {
        if (shard->mapped_over_tls && !trodden_shard_map_over_tls(shard))
            trodden_shard_unmap_from_tls(shard);
        else if (!shard->mapped_over_tls && shard->module->tls_bytes)
            trodden_shard_clear_tls(shard);
    }
}
