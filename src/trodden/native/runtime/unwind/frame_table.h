/* The table of the frame cache, which frame_cache.c fills and cached_walk.c reads.
 *
 * An entry is published when it is complete, and does not change until the whole cache is cleared.  A reader without
 * the lock checks, before it uses what it has read, whether the cache has been cleared since. */
#ifndef TRODDEN_UNWIND_FRAME_TABLE_H
#define TRODDEN_UNWIND_FRAME_TABLE_H

#include <stdbool.h>
#include <stdint.h>

#include "trodden.h"

struct trodden_module;
struct trodden_nonlocal_exit;

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define SLOW_PATH TRODDEN_PRESERVE_MOST __attribute__((noinline))

struct cached_frame {
    uintptr_t key;                               /* 0: empty */
    struct trodden_nonlocal_exit *shared_record; /* the record of all frames with this key, if there is only one */
    struct trodden_nonlocal_exit *last_record;   /* otherwise: the record of the last such frame, or NULL */
    struct cached_frame *caller;                 /* the entry of the last such frame's caller, or this entry itself */
    int32_t cfa_offset;    /* from the stack pointer, or from the frame pointer if `cfa_from_fp` */
    int32_t return_offset; /* of the return address, from the CFA */
    int32_t fp_offset;     /* of the saved frame pointer, from the CFA; 0: it was not saved */
    bool cfa_from_fp;
    bool in_own_module; /* its code is in this module: should that be unloaded, the cache goes with it */
    uint8_t slot_base, slot_pushed;
    int32_t slot_displacement;
    uint32_t slot_alignment;
    const struct trodden_module *module; /* NULL: it has no units */
};

_Static_assert(sizeof(struct cached_frame) == 64, "a row takes one line of the cache");

enum { NO_CACHED_SLOT, SLOT_BY_CFA, SLOT_BY_FP };

struct cache_table {
    uint64_t mask; /* its capacity less one; at most half of the entries are used */
    uint64_t used;
    _Alignas(64) struct cached_frame entries[];
};

struct frame_table {
    struct cache_table *newest;
    uint64_t clears;     /* odd while the cache is being cleared */
    uint64_t generation; /* of the images that the entries describe */
};

/* Declared as hidden, so that its address takes no look into the global offset table. */
extern struct frame_table trodden_frame_table __attribute__((visibility("hidden")));

static inline uint64_t hash_of(uintptr_t key) { return key * 0x61c88647u >> 32; }

static inline bool has_key(const struct cached_frame *entry, uintptr_t key) {
    return __atomic_load_n(&entry->key, __ATOMIC_ACQUIRE) == key;
}

/* The entry is not where its hash says. */
SLOW_PATH struct cached_frame *trodden_probe_frame_table(struct cache_table *table, uintptr_t key);

static inline struct cached_frame *find(struct cache_table *table, uintptr_t key) {
    struct cached_frame *entry = &table->entries[hash_of(key) & table->mask];
    return LIKELY(has_key(entry, key)) ? entry : trodden_probe_frame_table(table, key);
}

/* Resume points are cached beside frames, with a key that is no return address. */
static inline uintptr_t resume_key(uintptr_t pc) { return ~pc; }

#endif
