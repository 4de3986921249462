/* Paths that extend over calls and returns: counts by a key of four parts (TZG04 3.3).
 *
 * Each thread has a table of its own, which its channel leads to.  A signal handler writes to the table of the thread
 * that it has interrupted, perhaps in the middle of an update.  Therefore, as in sparse_paths.c,
 * - one is added by a single instruction, or a sequence that restarts when interrupted;
 * - an entry is reserved atomically, then filled, then published.  One that is not published yet is skipped, so that
 *   a key may have two entries; they are added up in the end;
 * - entries never move.  A full table keeps its entries, behind a larger one.
 *
 * Nothing in a table is an address: functions and call sites have the numbers of their units, which no unit that is
 * loaded later has.  There are no locks, and no system calls except for memory. */
#include <errno.h>

#include "counters/crossings.h"
#include "counters/live_regions.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/process.h"

enum { INITIAL_BITS = 8 };

_Static_assert(sizeof(struct trodden_channel) == 64 && sizeof(struct trodden_crossing) == 40 &&
                   sizeof(struct trodden_crossing_array) == 24 && sizeof(struct trodden_crossing_table) == 24,
               "instrumented code and collect/rawfile/live_tables.py use these sizes");

/* The table of a thread that has counted nothing: no key is ever found there. */
static struct {
    struct trodden_crossing_array array;
    struct trodden_crossing entries[2];
} nothing = {.array = {.shift = 63}};

struct trodden_crossing_table trodden_no_crossings = {.array = &nothing.array};

#if defined(__x86_64__)
static inline void add_one(uint64_t *sum) { __asm__ volatile("incq %0" : "+m"(*sum) : : "cc"); }
#else
/* Restarts if a signal handler ran in between. */
static inline void add_one(uint64_t *sum) {
    uint64_t value;
    uint32_t failed;
    __asm__ volatile("0:\tldxr %0, %2\n\tadd %0, %0, #1\n\tstxr %w1, %0, %2\n\tcbnz %w1, 0b"
                     : "=&r"(value), "=&r"(failed), "+Q"(*sum)
                     :
                     : "memory");
}
#endif

static inline uint64_t hash_of(uint64_t callee, uint64_t site, uint64_t in_callee, uint64_t in_caller) {
    uint64_t hash = (callee + (site << 23 | site >> 41)) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32 ^ in_callee) * 0xd6e8feb86659fd93u;
    return (hash ^ hash >> 32 ^ in_caller) * 0x9e3779b97f4a7c15u;
}

static inline bool has_key(const struct trodden_crossing *entry, uint64_t callee, uint64_t site, uint64_t in_callee,
                           uint64_t in_caller) {
    return entry->in_caller == in_caller && entry->in_callee == in_callee && entry->site == site &&
           __atomic_load_n(&entry->callee, __ATOMIC_RELAXED) == callee;
}

/* NULL: there is none, and `*slot` is where it would go, which is free or was when it was looked at. */
static struct trodden_crossing *find(struct trodden_crossing_array *array, const struct trodden_crossing *key,
                                     struct trodden_crossing **slot) {
    uint64_t mask = trodden_crossing_capacity(array) - 1;
    uint64_t index = hash_of(key->callee, key->site, key->in_callee, key->in_caller) >> array->shift;
    for (;; index = (index + 1) & mask) {
        struct trodden_crossing *entry = &array->entries[index];
        uint64_t callee = __atomic_load_n(&entry->callee, __ATOMIC_ACQUIRE);
        if (callee && has_key(entry, key->callee, key->site, key->in_callee, key->in_caller))
            return entry;
        *slot = entry;
        if (!callee)
            return NULL;
    }
}

static struct trodden_crossing_array *init_array(void *memory, unsigned bits) {
    struct trodden_crossing_array *array = memory;
    array->shift = 64 - bits;
    return array;
}

static size_t array_bytes(unsigned bits) {
    return sizeof(struct trodden_crossing_array) + (sizeof(struct trodden_crossing) << bits);
}

/* The table of the calling thread, one whose thread has exited, or a new one. */
static struct trodden_crossing_table *own_table(struct trodden_crossings *crossings) {
    uintptr_t tp = trodden_thread_pointer(), expected = 0;
    struct trodden_crossing_table **bucket = &crossings->buckets[trodden_crossing_bucket(tp)];
    struct trodden_crossing_table *first = __atomic_load_n(bucket, __ATOMIC_ACQUIRE), *table;
    for (table = first; table; table = table->next)
        if (__atomic_load_n(&table->tp, __ATOMIC_RELAXED) == tp)
            return table;
    for (table = first; table; table = table->next, expected = 0)
        if (__atomic_compare_exchange_n(&table->tp, &expected, tp, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return table;
    table = trodden_live_alloc(TRODDEN_REGION_CROSSING_TABLE, 0, sizeof *table + array_bytes(INITIAL_BITS));
    if (!table)
        return NULL;
    table->tp = tp;
    table->array = init_array(table + 1, INITIAL_BITS);
    table->next = first;
    while (!__atomic_compare_exchange_n(bucket, &table->next, table, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return table;
}

void trodden_crossings_rebuild(const struct trodden_lost_page *page) {
    unsigned bits = INITIAL_BITS;
    if (page->offset)
        return;
    if (page->kind == TRODDEN_REGION_CROSSING_TABLE) {
        struct trodden_crossing_table *table = page->memory, *home = (struct trodden_crossing_table *)page->region;
        init_array(table + 1, bits);
        table->array = (struct trodden_crossing_array *)(home + 1);
        return;
    }
    while (array_bytes(bits + 1) <= page->region_bytes)
        bits++;
    init_array(page->memory, bits);
}

/* False: out of memory. */
static bool grow(struct trodden_crossing_table *table, struct trodden_crossing_array *full) {
    unsigned bits = 64 - (unsigned)full->shift + 1;
    void *memory = trodden_live_alloc(TRODDEN_REGION_CROSSING_ARRAY, 0, array_bytes(bits));
    if (!memory)
        return false;
    struct trodden_crossing_array *larger = init_array(memory, bits);
    larger->older = full;
    /* A signal handler may have done the same meanwhile. */
    if (!__atomic_compare_exchange_n(&table->array, &full, larger, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        trodden_live_free(memory, array_bytes(bits));
    return true;
}

static struct trodden_crossing *make_entry(struct trodden_crossing_table *table, const struct trodden_crossing *key) {
    for (;;) {
        struct trodden_crossing_array *array = __atomic_load_n(&table->array, __ATOMIC_RELAXED);
        size_t capacity = trodden_crossing_capacity(array);
        struct trodden_crossing *slot, *entry = find(array, key, &slot);
        if (entry)
            return entry;
        uint64_t used = __atomic_load_n(&array->used, __ATOMIC_RELAXED);
        if (used >= capacity / 4 * 3) {
            if (grow(table, array))
                continue;
            if (used >= capacity / 16 * 15) /* probing must terminate */
                return NULL;
        }
        uint64_t expected = 0;
        if (!__atomic_compare_exchange_n(&slot->callee, &expected, TRODDEN_CROSSING_RESERVED, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            continue;
        slot->site = key->site;
        slot->in_callee = key->in_callee;
        slot->in_caller = key->in_caller;
        __atomic_store_n(&slot->callee, key->callee, __ATOMIC_RELEASE);
        __atomic_fetch_add(&array->used, 1, __ATOMIC_RELAXED);
        return slot;
    }
}

/* Functions that ifunc resolvers call have no number yet: nobody could tell which they are. */
static bool is_numbered(const struct trodden_crossing *key) { return (uint32_t)key->callee && (uint32_t)key->site; }

#define SLOW_PATH TRODDEN_PRESERVE_MOST __attribute__((noinline))

SLOW_PATH static void count_new(struct trodden_channel *channel, uint64_t callee, uint64_t site, uint64_t in_callee,
                                uint64_t in_caller) {
    const struct trodden_crossing key = {callee, site, in_callee, in_caller, 0};
    if (!is_numbered(&key))
        return;
    int saved_errno = errno;
    struct trodden_crossings *crossings = &__trodden_leader()->crossings;
    struct trodden_crossing_table *table = channel->table;
    if ((!table || !table->tp) && (table = own_table(crossings)))
        channel->table = table;
    struct trodden_crossing *entry = table ? make_entry(table, &key) : NULL;
    if (entry) {
        add_one(&entry->count);
    } else {
        crossings->lost = true;
        trodden_mark_incomplete();
    }
    errno = saved_errno;
}

TRODDEN_PRESERVE_MOST void __trodden_crossed(struct trodden_channel *channel, uint64_t callee, uint64_t site,
                                             uint64_t in_callee, uint64_t in_caller) {
    struct trodden_crossing_array *array = __atomic_load_n(&channel->table->array, __ATOMIC_ACQUIRE);
    struct trodden_crossing *entry = &array->entries[hash_of(callee, site, in_callee, in_caller) >> array->shift];
    if (has_key(entry, callee, site, in_callee, in_caller)) {
        add_one(&entry->count);
        return;
    }
    TAIL_CALL return count_new(channel, callee, site, in_callee, in_caller);
}
