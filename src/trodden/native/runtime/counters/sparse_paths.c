/* Sparse path tables: counts that instrumented code keeps by path number, where an array of counters would be too
 * large.
 *
 * Each thread has a table of its own, found by its thread pointer, so that no other thread writes there.  A signal
 * handler writes to the table of the thread that it has interrupted, perhaps in the middle of an update.  Therefore
 * - an amount is added by a single instruction, or a sequence that restarts when interrupted;
 * - an entry is reserved atomically, then filled, then published.  One that is not published yet is skipped, so that
 *   a path may have two entries; they are added up in the end;
 * - entries never move.  A full table keeps its entries, behind a larger one.
 *
 * There are no locks, and no system calls except for memory.  Whoever reads the tables while their threads run
 * (sparse_totals.c) finds each entry complete. */
#include <errno.h>

#include "counters/early_counts.h"
#include "counters/live_regions.h"
#include "counters/sparse_paths.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "trodden.h"

enum { INITIAL_BITS = 8 };

static struct trodden_sparse_paths sparse_paths;

struct trodden_sparse_paths *trodden_own_sparse_paths(void) { return &sparse_paths; }

#if defined(__x86_64__)
static inline void add_amount(uint64_t *sum, uint64_t amount) {
    __asm__ volatile("addq %1, %0" : "+m"(*sum) : "er"(amount) : "cc");
}
#else
/* Restarts if a signal handler ran in between. */
static inline void add_amount(uint64_t *sum, uint64_t amount) {
    uint64_t value;
    uint32_t failed;
    __asm__ volatile("0:\tldxr %0, %2\n\tadd %0, %0, %3\n\tstxr %w1, %0, %2\n\tcbnz %w1, 0b"
                     : "=&r"(value), "=&r"(failed), "+Q"(*sum)
                     : "r"(amount)
                     : "memory");
}
#endif

static inline uint64_t hash_of(uint64_t unit, uint64_t key, uint64_t value) {
    uint64_t hash = ((unit << 48) + key) * 0x9e3779b97f4a7c15u;
    return (hash ^ hash >> 32 ^ value) * 0xd6e8feb86659fd93u;
}

static inline struct trodden_sparse_table *own_table(void) {
    uintptr_t tp = trodden_thread_pointer();
    struct trodden_sparse_table *table =
        __atomic_load_n(&sparse_paths.buckets[trodden_sparse_bucket(tp)], __ATOMIC_ACQUIRE);
    while (table && __atomic_load_n(&table->tp, __ATOMIC_RELAXED) != tp)
        table = table->next;
    return table;
}

/* NULL: there is none, and `*slot` is where it would go, which is free or was when it was looked at. */
static inline struct trodden_sparse_entry *find(struct trodden_sparse_array *array, uint64_t unit, uint64_t key,
                                                uint64_t value, struct trodden_sparse_entry **slot) {
    uint64_t mask = trodden_sparse_capacity(array) - 1, index = hash_of(unit, key, value) >> array->shift;
    for (;; index = (index + 1) & mask) {
        struct trodden_sparse_entry *entry = &array->entries[index];
        uint64_t number = __atomic_load_n(&entry->unit_number, __ATOMIC_RELAXED);
        if (number == unit && entry->value == value && entry->key == key)
            return entry;
        *slot = entry;
        if (!number)
            return NULL;
    }
}

static struct trodden_sparse_array *init_array(void *memory, size_t bytes, unsigned bits) {
    struct trodden_sparse_array *array = memory;
    array->bytes = bytes;
    array->shift = 64 - bits;
    return array;
}

static size_t array_bytes(unsigned bits) {
    return sizeof(struct trodden_sparse_array) + (sizeof(struct trodden_sparse_entry) << bits);
}

/* A table whose thread has exited, or a new one. */
static struct trodden_sparse_table *acquire_table(void) {
    uintptr_t tp = trodden_thread_pointer(), expected = 0;
    struct trodden_sparse_table **bucket = &sparse_paths.buckets[trodden_sparse_bucket(tp)];
    struct trodden_sparse_table *table = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
    for (; table; table = table->next, expected = 0)
        if (__atomic_compare_exchange_n(&table->tp, &expected, tp, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return table;
    size_t bytes = sizeof *table + array_bytes(INITIAL_BITS);
    table = trodden_live_alloc(TRODDEN_REGION_SPARSE_TABLE, 0, bytes);
    if (!table)
        return NULL;
    table->tp = tp;
    table->bytes = bytes;
    table->array = init_array(table + 1, 0, INITIAL_BITS);
    table->last = table->array->entries;
    table->next = __atomic_load_n(bucket, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(bucket, &table->next, table, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return table;
}

void trodden_sparse_rebuild(const struct trodden_lost_page *page) {
    struct trodden_sparse_table *table = page->memory, *home = (struct trodden_sparse_table *)page->region;
    unsigned bits = INITIAL_BITS;
    if (page->offset)
        return;
    if (page->kind == TRODDEN_REGION_SPARSE_TABLE) {
        init_array(table + 1, 0, bits);
        table->bytes = page->region_bytes;
        table->array = (struct trodden_sparse_array *)(home + 1);
        table->last = table->array->entries;
    } else {
        while (array_bytes(bits + 1) <= page->region_bytes)
            bits++;
        init_array(page->memory, page->region_bytes, bits);
    }
}

/* False: out of memory. */
static bool grow(struct trodden_sparse_table *table, struct trodden_sparse_array *full) {
    unsigned bits = 64 - full->shift + 1;
    size_t bytes = array_bytes(bits);
    void *memory = trodden_live_alloc(TRODDEN_REGION_SPARSE_ARRAY, 0, bytes);
    if (!memory)
        return false;
    struct trodden_sparse_array *larger = init_array(memory, bytes, bits);
    larger->older = full;
    /* A signal handler may have done the same meanwhile. */
    if (!__atomic_compare_exchange_n(&table->array, &full, larger, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        trodden_live_free(memory, bytes);
    return true;
}

static struct trodden_sparse_entry *make_entry(struct trodden_sparse_table *table, uint64_t unit, uint64_t key,
                                               uint64_t value) {
    for (;;) {
        struct trodden_sparse_array *array = __atomic_load_n(&table->array, __ATOMIC_RELAXED);
        size_t capacity = trodden_sparse_capacity(array);
        struct trodden_sparse_entry *slot, *entry = find(array, unit, key, value, &slot);
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
        if (!__atomic_compare_exchange_n(&slot->unit_number, &expected, TRODDEN_SPARSE_RESERVED, false,
                                         __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            continue;
        slot->key = key;
        slot->value = value;
        __atomic_store_n(&slot->unit_number, unit, __ATOMIC_RELEASE);
        __atomic_fetch_add(&array->used, 1, __ATOMIC_RELAXED);
        return slot;
    }
}

/* Three functions, each of which is called by the next only when it has to: it is more expensive. */
#define SLOW_PATH TRODDEN_PRESERVE_MOST __attribute__((noinline))

SLOW_PATH static void count_new(const struct trodden_unit *unit, uint64_t key, uint64_t value, uint64_t amount) {
    if (trodden_early_note(unit, key, value, amount))
        return;
    int saved_errno = errno;
    struct trodden_sparse_table *table = own_table();
    if (!table)
        table = acquire_table();
    struct trodden_sparse_entry *entry = table ? make_entry(table, unit->number, key, value) : NULL;
    if (entry) {
        table->last = entry;
        add_amount(&entry->amount, amount);
    } else {
        sparse_paths.lost = true;
        trodden_mark_incomplete();
    }
    errno = saved_errno;
}

SLOW_PATH static void count_other(const struct trodden_unit *unit, uint64_t key, uint64_t value, uint64_t amount) {
    struct trodden_sparse_table *table = own_table();
    struct trodden_sparse_entry *slot, *entry = table ? find(table->array, unit->number, key, value, &slot) : NULL;
    if (entry) {
        table->last = entry;
        add_amount(&entry->amount, amount);
        return;
    }
    TAIL_CALL return count_new(unit, key, value, amount);
}

TRODDEN_PRESERVE_MOST void __trodden_note(const struct trodden_unit *unit, uint64_t key, uint64_t value,
                                          uint64_t amount) {
    uintptr_t tp = trodden_thread_pointer();
    struct trodden_sparse_table *table =
        __atomic_load_n(&sparse_paths.buckets[trodden_sparse_bucket(tp)], __ATOMIC_ACQUIRE);
    if (table && table->tp == tp) {
        struct trodden_sparse_entry *entry = table->last;
        if (entry->value == value && entry->key == key && entry->unit_number == unit->number) {
            add_amount(&entry->amount, amount);
            return;
        }
    }
    TAIL_CALL return count_other(unit, key, value, amount);
}
