/* Sums of counters over all threads (counter_sums.c). */
#ifndef TRODDEN_COUNTERS_COUNTER_SUMS_H
#define TRODDEN_COUNTERS_COUNTER_SUMS_H

#include <stdbool.h>
#include <stdint.h>

struct trodden_module;
struct trodden_module_unit;

/* The sums over all threads of `count` counters of a unit, which may lie in `buffer`; NULL: all are zero.  The
 * caller holds the lock. */
const uint64_t *trodden_sum_counters(const struct trodden_module *module, const struct trodden_module_unit *unit,
                                     uint32_t first, uint32_t count, uint64_t *buffer);

/* The index of the next counter that is not zero, or `end`: path tables are mostly zero. */
static inline uint32_t trodden_skip_zeros(const uint64_t *counts, uint32_t k, uint32_t end) {
    while (k < end) {
        bool eight = k + 8 <= end && !(counts[k] | counts[k + 1] | counts[k + 2] | counts[k + 3] | counts[k + 4] |
                                       counts[k + 5] | counts[k + 6] | counts[k + 7]);
        if (!eight && counts[k])
            break;
        k += eight ? 8 : 1;
    }
    return k;
}

#endif
