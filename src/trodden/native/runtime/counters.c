/* Where counters are, and how they are added up: the one file to change if they move elsewhere.
 *
 * A unit's counters are a thread-local array.  Of a thread other than the calling one its place is
 * computed: in static TLS it has the same distance from every thread pointer; otherwise the thread's
 * table of TLS blocks (the DTV) is looked up, which also tells if the thread ever touched the block. */
#define _GNU_SOURCE
#include <features.h>
#include <string.h>
#include <sys/mman.h>

#include "internal.h"

#ifdef __GLIBC__
/* glibc: the DTV's address lies in the thread control block; [-1] is its length, [0] its generation. */
struct dtv_entry {
    uintptr_t value, extra;
};

static const struct dtv_entry *dtv_of(uintptr_t tp) {
#ifdef __x86_64__
    return *(struct dtv_entry **)(tp + 8);
#else
    return *(struct dtv_entry **)tp;
#endif
}

static uint64_t tls_generation(uintptr_t tp) { return dtv_of(tp) ? dtv_of(tp)[0].value : 0; }

static uintptr_t tls_block(const struct trodden_module *module, uintptr_t tp) {
    const struct dtv_entry *dtv = dtv_of(tp);
    /* An older table may still hold an unloaded module's block under the same number. */
    if (!dtv || module->tls_module > dtv[-1].value || dtv[0].value < module->tls_generation)
        return 0;
    uintptr_t block = dtv[module->tls_module].value;
    return block == UINTPTR_MAX ? 0 : block;
}
#else
/* musl: a plain array, [0] its length; every thread has all blocks from the moment of loading. */
static uint64_t tls_generation(uintptr_t tp) {
    (void)tp;
    return 0;
}

static uintptr_t tls_block(const struct trodden_module *module, uintptr_t tp) {
#ifdef __x86_64__
    const uintptr_t *dtv = *(uintptr_t **)(tp + 8);
#else
    const uintptr_t *dtv = *(uintptr_t **)(tp - 8);
#endif
    return dtv && module->tls_module <= dtv[0] ? dtv[module->tls_module] : 0;
}
#endif

/* Called by the thread that loads the module. */
void trodden_locate(struct trodden_module *module, struct trodden_counted *unit,
                    const struct trodden_image *image) {
    uintptr_t tp = trodden_thread_pointer();
    uintptr_t here = (uintptr_t)unit->unit->counters();
    unit->static_tls = (unit->unit->flags & TRODDEN_STATIC_TLS) || !image || !image->tls_module;
    if (unit->static_tls) {
        unit->offset = (intptr_t)(here - tp);
        return;
    }
    module->tls_module = image->tls_module;
    module->tls_generation = tls_generation(tp);
    unit->offset = (intptr_t)(here - tls_block(module, tp));
}

/* NULL: that thread has none yet. */
uint64_t *trodden_counters_of(const struct trodden_module *module, const struct trodden_counted *unit,
                              uintptr_t tp) {
    if (!unit->unit || !tp)
        return NULL;
    uintptr_t base = unit->static_tls ? tp : tls_block(module, tp);
    return base ? (uint64_t *)(base + (uintptr_t)unit->offset) : NULL;
}

/* Only what is not zero is touched: neither side then takes memory for what was never counted. */
static void fold(const struct trodden_module *module, struct trodden_counted *unit, uintptr_t tp) {
    uint64_t *counts = trodden_counters_of(module, unit, tp);
    for (uint32_t i = 0; counts && i < unit->slots; i++)
        if (counts[i]) {
            unit->totals[i] += counts[i];
            counts[i] = 0;
        }
}

void trodden_fold_thread(uintptr_t tp) {
    for (struct trodden_module *module = trodden_lead.modules; module; module = module->next)
        for (uint32_t i = 0; i < module->unit_count && (!module->left || module->stays); i++)
            fold(module, &module->units[i], tp);
}

void trodden_fold_module(struct trodden_module *module) {
    uintptr_t own = trodden_thread_pointer();
    for (uint32_t i = 0; i < module->unit_count; i++) {
        fold(module, &module->units[i], own);
        for (struct trodden_thread *thread = trodden_lead.threads; thread; thread = thread->next)
            fold(module, &module->units[i], thread->tp);
    }
}

void trodden_forget_counts(uintptr_t tp) {
    for (struct trodden_module *module = trodden_lead.modules; module; module = module->next) {
        /* Dropped pages read as zero from now on; locked ones cannot be dropped. */
        if (module->totals_bytes && madvise(module->totals, module->totals_bytes, MADV_DONTNEED) != 0)
            memset(module->totals, 0, module->totals_bytes);
        for (uint32_t i = 0; i < module->unit_count; i++) {
            uint64_t *counts = trodden_counters_of(module, &module->units[i], tp);
            for (uint32_t k = 0; counts && k < module->units[i].slots; k++)
                if (counts[k])
                    counts[k] = 0;
        }
    }
}

void trodden_sum(const struct trodden_module *module, const struct trodden_counted *unit, uint32_t first,
                 uint32_t count, uint64_t *into) {
    for (uint32_t i = 0; i < count; i++)
        into[i] = unit->totals[first + i];
    uintptr_t own = trodden_thread_pointer();
    /* The thread that ends the process may be one that we did not see start, or that was folded. */
    const uint64_t *counts = trodden_is_listed(own) ? NULL : trodden_counters_of(module, unit, own);
    for (uint32_t i = 0; counts && i < count; i++)
        into[i] += counts[first + i];
    for (struct trodden_thread *thread = trodden_lead.threads; thread; thread = thread->next) {
        counts = trodden_counters_of(module, unit, __atomic_load_n(&thread->tp, __ATOMIC_ACQUIRE));
        for (uint32_t i = 0; counts && i < count; i++)
            into[i] += counts[first + i];
    }
}
