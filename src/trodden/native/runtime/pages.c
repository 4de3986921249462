/* Memory that counters take before anybody has counted.
 *
 * A C library fills a thread's TLS with zeros when the thread starts, so tables of counters for many paths
 * would be resident in every thread, used or not.  Pages of private memory that hold nothing but zeros can be
 * given back: they read as zeros as before, and take memory again when one of them is written. */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "internal.h"

enum { LEAST_PAGES = 16 };

static uintptr_t page_size(void) {
    static uintptr_t known;
    if (!known)
        known = (uintptr_t)sysconf(_SC_PAGESIZE);
    return known;
}

bool trodden_is_large(uint32_t slots) { return slots * sizeof(uint64_t) >= LEAST_PAGES * page_size(); }

static bool is_zero(const uint64_t *words, size_t bytes) {
    uint64_t seen = 0;
    for (size_t i = 0; i < bytes / sizeof *words; i++)
        seen |= words[i];
    return seen == 0;
}

static void give_back(uint64_t *counts, size_t bytes) {
    uintptr_t page = page_size(), at = ((uintptr_t)counts + page - 1) & -page;
    uintptr_t end = ((uintptr_t)counts + bytes) & -page;
    while (at < end) {
        uintptr_t from = at;
        while (at < end && is_zero((const uint64_t *)at, page))
            at += page;
        if (at > from)
            madvise((void *)from, at - from, MADV_DONTNEED); /* locked pages stay */
        at += page;
    }
}

void trodden_give_back(const struct trodden_module *module, uintptr_t tp) {
    for (uint32_t i = 0; i < module->unit_count; i++) {
        const struct trodden_counted *unit = &module->units[i];
        uint64_t *counts = trodden_is_large(unit->slots) ? trodden_counters_of(module, unit, tp) : NULL;
        if (counts)
            give_back(counts, unit->slots * sizeof *counts);
    }
}

void trodden_give_back_all(uintptr_t tp) {
    for (const struct trodden_module *module = trodden_lead.modules; module; module = module->next)
        if (module->copy && !module->left)
            trodden_give_back(module, tp);
}
