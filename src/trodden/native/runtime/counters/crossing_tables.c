/* The tables of paths over calls and returns: how they are collected for the raw file, what becomes of them when threads
 * exit and processes fork, and what signal handlers do with the channel.  The callers of all but the last hold the lock;
 * threads continue to count. */
#include "counters/crossings.h"
#include "counters/live_regions.h"
#include "platform/system.h"
#include "process/process.h"

enum { INITIAL_BITS = 8 };

static size_t array_bytes(unsigned bits) {
    return sizeof(struct trodden_crossing_array) + (sizeof(struct trodden_crossing) << bits);
}

void trodden_crossings_rebuild(const struct trodden_lost_page *page) {
    struct trodden_crossing_table *table = page->memory, *home = (struct trodden_crossing_table *)page->region;
    struct trodden_crossing_array *array = page->memory;
    unsigned bits = INITIAL_BITS;
    if (page->offset)
        return;
    switch (page->kind) {
    case TRODDEN_REGION_CROSSING_TABLE:
        table->array = (struct trodden_crossing_array *)(home + 1);
        ((struct trodden_crossing_array *)(table + 1))->shift = 64 - INITIAL_BITS;
        break;
    case TRODDEN_REGION_CROSSING_ARRAY:
        while (array_bytes(bits + 1) <= page->region_bytes)
            bits++;
        array->shift = 64 - bits;
        break;
    default: break; /* a chunk of rows: whoever reads it finds none there, and the file is marked already */
    }
}

typedef void visitor(struct trodden_crossing *entry, void *context);

static void visit(visitor *each, void *context) {
    for (unsigned i = 0; i < TRODDEN_CROSSING_BUCKETS; i++) {
        struct trodden_crossing_table *table =
            __atomic_load_n(&trodden_process.crossings.buckets[i], __ATOMIC_ACQUIRE);
        for (; table; table = table->next) {
            struct trodden_crossing_array *array = __atomic_load_n(&table->array, __ATOMIC_ACQUIRE);
            for (; array; array = array->older)
                for (size_t k = 0; k < trodden_crossing_capacity(array); k++)
                    each(&array->entries[k], context);
        }
    }
}

static bool is_counted(const struct trodden_crossing *entry) {
    uint64_t row = __atomic_load_n(&entry->row, __ATOMIC_ACQUIRE);
    return row && row != TRODDEN_CROSSING_RESERVED && __atomic_load_n(&entry->count, __ATOMIC_RELAXED);
}

static void count_entry(struct trodden_crossing *entry, void *context) {
    struct trodden_crossing_list *list = context;
    list->bytes += is_counted(entry) ? sizeof *entry : 0;
}

/* Threads that run meanwhile add entries, for which there may be no room any more: what they count now is not asked
 * for. */
static void collect_entry(struct trodden_crossing *entry, void *context) {
    struct trodden_crossing_list *list = context;
    if (is_counted(entry) && (list->count + 1) * sizeof *entry <= list->bytes) {
        list->entries[list->count] = *entry;
        list->entries[list->count++].count = __atomic_load_n(&entry->count, __ATOMIC_RELAXED);
    }
}

struct trodden_crossing_list trodden_crossings_collect(void) {
    struct trodden_crossing_list list = {.rows = trodden_process.crossings.row_count,
                                         .lost = trodden_process.crossings.lost};
    visit(count_entry, &list);
    if (list.bytes && !(list.entries = trodden_map(list.bytes)))
        list.lost = true;
    if (list.entries)
        visit(collect_entry, &list);
    return list;
}

static struct trodden_channel *own_channel(void) {
    struct trodden_channel *(*channel)(void) = __atomic_load_n(&trodden_process.crossings.channel, __ATOMIC_ACQUIRE);
    return channel ? channel() : NULL;
}

void trodden_crossings_release_thread(uintptr_t tp) {
    struct trodden_channel *channel = own_channel();
    if (channel)
        channel->table = &trodden_no_crossings;
    struct trodden_crossing_table *table = __atomic_load_n(
        &trodden_process.crossings.buckets[trodden_crossing_bucket(tp)], __ATOMIC_ACQUIRE);
    for (; table; table = table->next)
        if (__atomic_load_n(&table->tp, __ATOMIC_RELAXED) == tp)
            __atomic_store_n(&table->tp, 0, __ATOMIC_RELEASE);
}

static void reset_entry(struct trodden_crossing *entry, void *context) {
    (void)context;
    if (entry->count)
        entry->count = 0;
}

void trodden_crossings_reset(uintptr_t tp) {
    visit(reset_entry, NULL);
    for (unsigned i = 0; i < TRODDEN_CROSSING_BUCKETS; i++)
        for (struct trodden_crossing_table *table = trodden_process.crossings.buckets[i]; table; table = table->next)
            if (table->tp != tp)
                table->tp = 0;
}

/* A handler is called by nobody who has said whom he calls, and what it has called does not return to whom it has
 * interrupted.  If it leaves by a jump, nothing is restored: the call that it has interrupted is over. */
void trodden_channel_save(struct trodden_channel_copy *copy) {
    copy->channel = own_channel();
    if (copy->channel) {
        copy->saved = *copy->channel;
        copy->channel->row = copy->channel->returned = 0;
    }
}

/* The table stays: the handler may have made it.  A handler may have switched stacks, and return in another thread. */
void trodden_channel_restore(const struct trodden_channel_copy *copy) {
    if (copy->channel && copy->channel == own_channel()) {
        struct trodden_crossing_table *table = copy->channel->table;
        *copy->channel = copy->saved;
        copy->channel->table = table;
    }
}
