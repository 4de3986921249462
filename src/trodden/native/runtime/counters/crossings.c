/* Paths that extend over calls and returns (TZG04 3.3): what instrumented code calls, and the counts that have no counter
 * of their own, because there may be too many of them.
 *
 * Each thread has a table of such counts, which its channel leads to.  A signal handler writes to the table of the thread
 * that it has interrupted, perhaps in the middle of an update.  Therefore, as in sparse_paths.c,
 * - one is added by a single instruction, or a sequence that restarts when interrupted;
 * - an entry is reserved atomically, then filled, then published.  One that is not published yet is skipped, so that
 *   a key may have two entries; they are added up in the end;
 * - entries never move.  A full table keeps its entries, behind a larger one.
 *
 * There are no locks, and no system calls except for memory. */
#include <errno.h>
#include <stddef.h>

#include "counters/crossings.h"
#include "counters/live_regions.h"
#include "platform/attributes.h"
#include "platform/system.h"
#include "process/process.h"

enum { INITIAL_BITS = 8 };

_Static_assert(sizeof(struct trodden_channel) == 48 && sizeof(struct trodden_call_site) == 24 &&
                   sizeof(struct trodden_called_function) == 16 &&
                   offsetof(struct trodden_call_record, cells) == 48 && sizeof(struct trodden_crossing) == 24 &&
                   sizeof(struct trodden_crossing_array) == 24 && sizeof(struct trodden_crossing_table) == 24,
               "instrumented code and collect/rawfile/live_tables.py use these sizes");

/* The table of a thread that has counted nothing: no key is ever found there. */
static struct trodden_crossing_array nothing = {.shift = 63, .entries = {{.row = 0}, {.row = 0}}};

struct trodden_crossing_table trodden_no_crossings = {.array = &nothing};

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

static inline uint64_t hash_of(uint64_t row, uint64_t part) {
    uint64_t hash = row * 0x9e3779b97f4a7c15u;
    return (hash ^ hash >> 32 ^ part) * 0xd6e8feb86659fd93u;
}

/* NULL: there is none, and `*slot` is where it would go, which is free or was when it was looked at. */
static struct trodden_crossing *find(struct trodden_crossing_array *array, uint64_t row, uint64_t part,
                                     struct trodden_crossing **slot) {
    uint64_t mask = trodden_crossing_capacity(array) - 1, index = hash_of(row, part) >> array->shift;
    for (;; index = (index + 1) & mask) {
        struct trodden_crossing *entry = &array->entries[index];
        uint64_t found = __atomic_load_n(&entry->row, __ATOMIC_ACQUIRE);
        if (found == row && entry->part == part)
            return entry;
        *slot = entry;
        if (!found)
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

static struct trodden_crossing *make_entry(struct trodden_crossing_table *table, uint64_t row, uint64_t part) {
    for (;;) {
        struct trodden_crossing_array *array = __atomic_load_n(&table->array, __ATOMIC_RELAXED);
        size_t capacity = trodden_crossing_capacity(array);
        struct trodden_crossing *slot, *entry = find(array, row, part, &slot);
        if (entry)
            return entry;
        uint64_t used = __atomic_load_n(&array->used, __ATOMIC_RELAXED);
        if (used >= capacity / 2) {
            if (grow(table, array))
                continue;
            if (used >= capacity / 16 * 15) /* probing must terminate */
                return NULL;
        }
        uint64_t expected = 0;
        if (!__atomic_compare_exchange_n(&slot->row, &expected, TRODDEN_CROSSING_RESERVED, false, __ATOMIC_RELAXED,
                                         __ATOMIC_RELAXED))
            continue;
        slot->part = part;
        __atomic_store_n(&slot->row, row, __ATOMIC_RELEASE);
        __atomic_fetch_add(&array->used, 1, __ATOMIC_RELAXED);
        return slot;
    }
}

#define SLOW_PATH TRODDEN_PRESERVE_MOST __attribute__((noinline))

SLOW_PATH static void count_new(struct trodden_channel *channel, uint64_t row, uint64_t part) {
    int saved_errno = errno;
    struct trodden_crossings *crossings = &__trodden_leader()->crossings;
    struct trodden_crossing_table *table = channel->table;
    if (!table->tp && (table = own_table(crossings)))
        channel->table = table;
    struct trodden_crossing *entry = table ? make_entry(table, row, part) : NULL;
    if (entry) {
        add_one(&entry->count);
    } else {
        crossings->lost = true;
        trodden_mark_incomplete();
    }
    errno = saved_errno;
}

TRODDEN_PRESERVE_MOST void __trodden_crossed(struct trodden_channel *channel, uint64_t row, uint64_t part) {
    struct trodden_crossing_array *array = __atomic_load_n(&channel->table->array, __ATOMIC_ACQUIRE);
    struct trodden_crossing *entry = &array->entries[hash_of(row, part) >> array->shift];
    if (entry->part == part && __atomic_load_n(&entry->row, __ATOMIC_ACQUIRE) == row) {
        add_one(&entry->count);
        return;
    }
    TAIL_CALL return count_new(channel, row, part);
}

/* ---- questions, which the leader answers ---- */
TRODDEN_PRESERVE_MOST uint64_t __trodden_called(const struct trodden_unit *unit,
                                                const struct trodden_called_function *function,
                                                const struct trodden_channel *channel) {
    int saved_errno = errno;
    uint64_t number = (uint64_t)(function - unit->calls->functions);
    uint64_t row = unit->number ? __trodden_row_of_call(unit, number, channel->asked, channel->address, channel->token)
                                : 0;
    errno = saved_errno;
    return row;
}

TRODDEN_PRESERVE_MOST uint64_t __trodden_returned(const struct trodden_unit *unit, struct trodden_call_record *record,
                                                  const struct trodden_channel *channel) {
    int saved_errno = errno;
    uint64_t row = unit->number ? __trodden_row_of_return(unit, record, channel->asked) : 0;
    errno = saved_errno;
    return row;
}

TRODDEN_PRESERVE_MOST struct trodden_call_record *__trodden_target(const struct trodden_unit *unit,
                                                                   const struct trodden_call_site *site,
                                                                   const struct trodden_channel *channel) {
    int saved_errno = errno;
    uint64_t number = (uint64_t)(site - unit->calls->sites);
    struct trodden_call_record *record =
        unit->number ? __trodden_target_of(unit, number, channel->asked) : unit->calls->nobody;
    errno = saved_errno;
    return record;
}

TRODDEN_PRESERVE_MOST uint64_t __trodden_prefix(const struct trodden_unit *unit, struct trodden_call_record *record,
                                                const struct trodden_channel *channel) {
    int saved_errno = errno;
    uint64_t published = unit->number ? __trodden_prefix_of(unit, record, channel->asked) : 0;
    errno = saved_errno;
    return published;
}
