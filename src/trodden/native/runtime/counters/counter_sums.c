/* Sums of counters over all threads, when the raw file is written. */
#include <stddef.h>

#include "counters/counter_sums.h"
#include "counters/live_regions.h"
#include "counters/shards.h"
#include "platform/system.h"
#include "process/process.h"

/* Is the range known to be zero? Reading it would allocate its pages. */
static bool is_known_zero(struct trodden_shard *shard, size_t from, size_t to) {
    /* Where the file is incomplete, the range may have been replaced by anonymous memory. */
    if (shard->offset == TRODDEN_NO_OFFSET || (trodden_process.live->flags & TRODDEN_LIVE_INCOMPLETE))
        return false;
    if (from < shard->zero_from || to > shard->zero_to) {
        uint64_t data = trodden_live_next_data(shard->offset + from);
        shard->zero_from = from;
        shard->zero_to = data == TRODDEN_NO_OFFSET ? SIZE_MAX : (size_t)(data - shard->offset);
    }
    return to <= shard->zero_to;
}

/* Sums of counters: a pointer to the counters themselves as long as only one shard has any, else to a buffer. */
struct counter_sum {
    uint64_t *buffer;
    const uint64_t *result; /* NULL: none so far */
};

static void add_counters(struct counter_sum *sums, const uint64_t *counts, uint32_t count) {
    const uint64_t *before = sums->result;
    sums->result = before ? sums->buffer : counts;
    for (uint32_t i = 0; before && i < count; i++)
        sums->buffer[i] = before[i] + counts[i];
}

const uint64_t *trodden_sum_counters(const struct trodden_module *module, const struct trodden_module_unit *unit,
                                     uint32_t first, uint32_t count, uint64_t *buffer) {
    uintptr_t own_tp = trodden_thread_pointer();
    bool own_counted = !unit->static_tls || !unit->unit;
    struct counter_sum sums = {buffer, NULL};
    size_t from = unit->shard_offset + first * sizeof *buffer, to = from + count * sizeof *buffer;
    for (struct trodden_shard *shard = module->shards; shard; shard = shard->next) {
        if (!is_known_zero(shard, from, to))
            add_counters(&sums, shard->memory + from / sizeof *buffer, count);
        if (unit->static_tls && shard->tp && !shard->mapped_over_tls)
            add_counters(&sums, (const uint64_t *)(shard->tp + (uintptr_t)unit->tls_offset) + first, count);
        own_counted = own_counted || shard->tp == own_tp;
    }
    /* The thread that ends the process may be one whose start was not observed, or that has been seen to exit. */
    if (!own_counted)
        add_counters(&sums, (const uint64_t *)(own_tp + (uintptr_t)unit->tls_offset) + first, count);
    return sums.result;
}
