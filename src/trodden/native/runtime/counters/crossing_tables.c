/* The tables of paths over calls and returns: how they are collected for the raw file, what becomes of them when threads
 * exit and processes fork, and what signal handlers do with the channel.  The callers of all but the last hold the lock;
 * threads continue to count. */
#include "counters/crossings.h"
#include "platform/system.h"
#include "process/process.h"

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
    uint64_t callee = __atomic_load_n(&entry->callee, __ATOMIC_ACQUIRE);
    return callee && callee != TRODDEN_CROSSING_RESERVED && __atomic_load_n(&entry->count, __ATOMIC_RELAXED);
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
    struct trodden_crossing_list list = {.lost = trodden_process.crossings.lost};
    visit(count_entry, &list);
    if (list.bytes && !(list.entries = trodden_map(list.bytes)))
        list.lost = true;
    if (list.entries)
        visit(collect_entry, &list);
    return list;
}

/* Any loaded module can tell the channels of threads. */
void trodden_crossings_find_accessor(void) {
    struct trodden_channel *(*found)(void) = NULL;
    for (const struct trodden_module *module = trodden_process.modules; module && !found; module = module->next)
        for (uint32_t i = 0; i < module->unit_count && trodden_module_may_count(module) && !found; i++)
            found = module->units[i].unit->channel;
    __atomic_store_n(&trodden_process.crossings.channel, found, __ATOMIC_RELEASE);
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
        copy->channel->target = copy->channel->token = copy->channel->address = 0;
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
