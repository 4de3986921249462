/* What a thread counts in code that is not position-independent: its counters fill whole pages of the thread's static TLS
 * (tls_padding.c ensures that), and the pages of its shard are mapped over these.
 *
 * Where they cannot be mapped, the thread counts in its own memory, which is added to the shard when it exits. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#include "counters/counter_sums.h"
#include "counters/live_regions.h"
#include "counters/shard_tls.h"
#include "counters/shards.h"
#include "platform/system.h"
#include "process/process.h"

static uint64_t *tls_counters(const struct trodden_module *module, uintptr_t tp) {
    return (uint64_t *)(tp + (uintptr_t)module->tls_low);
}

bool trodden_shard_map_over_tls(struct trodden_shard *shard) {
    return trodden_live_map_alias(shard->memory, shard->offset, shard->module->tls_bytes,
                                  tls_counters(shard->module, shard->tp));
}

void trodden_shard_unmap_from_tls(struct trodden_shard *shard) {
    if (shard->mapped_over_tls)
        mmap(tls_counters(shard->module, shard->tp), shard->module->tls_bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    shard->mapped_over_tls = false;
}

/* Only those that are not zero are written; beside and between the counters of units there may be other variables. */
void trodden_shard_fold_tls(struct trodden_shard *shard) {
    const struct trodden_module *module = shard->module;
    for (uint32_t i = 0; i < module->unit_count; i++) {
        const struct trodden_module_unit *unit = &module->units[i];
        uint64_t *counts = (uint64_t *)(shard->tp + (uintptr_t)unit->tls_offset);
        uint64_t *sums = shard->memory + unit->shard_offset / sizeof *sums;
        for (uint32_t k = 0; unit->static_tls && k < unit->slots; k++) {
            k = trodden_skip_zeros(counts, k, unit->slots);
            if (k < unit->slots) {
                sums[k] += counts[k];
                counts[k] = 0;
            }
        }
    }
}

void trodden_shard_clear_tls(const struct trodden_shard *shard) {
    const struct trodden_module *module = shard->module;
    for (uint32_t i = 0; i < module->unit_count; i++)
        if (module->units[i].static_tls)
            memset((void *)(shard->tp + (uintptr_t)module->units[i].tls_offset), 0,
                   module->units[i].slots * sizeof(uint64_t));
}

enum { TOUCHED_BYTES = 16 << 10 };

/* The first touch of a page takes long, so that a thread that is stopped soon after its start would most likely be in
 * the middle of its first probe. */
void trodden_shard_touch(const struct trodden_shard *shard) {
    volatile uint64_t *counters = tls_counters(shard->module, shard->tp);
    for (size_t at = 0; shard->mapped_over_tls && at < shard->module->tls_bytes && at < TOUCHED_BYTES;
         at += trodden_page_size())
        counters[at / sizeof *counters] += 0; /* a shard that is used again keeps its counts */
}

void *trodden_shard_page_of(uintptr_t address) {
    for (const struct trodden_module *module = trodden_process.modules; module; module = module->next)
        for (const struct trodden_shard *shard = module->shards; shard; shard = shard->next) {
            uintptr_t at = address - (uintptr_t)tls_counters(module, shard->tp);
            if (shard->mapped_over_tls && at < module->tls_bytes)
                return (uint8_t *)shard->memory + at;
        }
    return NULL;
}

void *trodden_tls_page_of(uintptr_t address) {
    for (const struct trodden_module *module = trodden_process.modules; module; module = module->next)
        for (const struct trodden_shard *shard = module->shards; shard; shard = shard->next) {
            uintptr_t at = address - (uintptr_t)shard->memory;
            if (shard->mapped_over_tls && at < module->tls_bytes)
                return (uint8_t *)tls_counters(module, shard->tp) + at;
        }
    return NULL;
}
