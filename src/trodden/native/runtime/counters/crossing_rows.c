/* What is counted over calls and returns, and where: rows of counters, which are made when they are first needed.
 *
 * Instrumented code asks for a row once, and then finds its slot in the record of the call site; records are shared by all
 * threads, and each word of them is valid by itself.  What is asked for is found or made under the lock, during which no
 * handler runs.
 *
 * Records hold numbers of functions, which no other function of the process ever has, so that nobody takes what was meant
 * for another.  When a library is unloaded, whatever records know of its functions is forgotten: its addresses may be
 * those of others later. */
#include <string.h>

#include "counters/crossings.h"
#include "counters/live_regions.h"
#include "platform/system.h"
#include "process/process.h"

enum {
    ROWS_PER_CHUNK = 816, /* 32 KB */
    LARGEST_BLOCK = 1024, /* counters for all paths of a callee at one call site */
    BLOCKS_THAT_FIT = 16, /* so many as large as one have to fit into the room that is left */
    INITIAL_INDEX = 1 << 10,
};

/* ---- what is told from outside ---- */
/* Whom an indirect call has called. */
struct trodden_target {
    struct trodden_target *next;
    const struct trodden_call_site *site; /* NULL: it belongs to a unit that was unloaded */
    uint32_t unit, number;
    struct trodden_call_record record;
};

/* A prefix of a call that has too many for cells. */
struct trodden_prefix {
    struct trodden_prefix *next;
    uint64_t published, prefix;
    uint32_t unit, number;
    struct trodden_call_record *record;
};

/* What is published before a row is known is an address, negated, and what it is that of. */
enum { CELL, CELL_OF_TARGET, PREFIX, KINDS = 8 };

static uint64_t ask_for(const void *address, unsigned kind) { return -((uint64_t)(uintptr_t)address | kind); }

static struct trodden_module_unit *unit_with_number(uint64_t number) {
    for (struct trodden_module *module = trodden_process.modules; module; module = module->next)
        if (number - 1 - module->first_unit < module->unit_count)
            return &module->units[number - 1 - module->first_unit];
    return NULL;
}

static const struct trodden_unit_calls *calls_of(const struct trodden_module_unit *unit) {
    return unit && unit->unit ? unit->unit->calls : NULL;
}

static uint64_t in_unit(uint64_t index, uint64_t unit) { return index << 32 | unit; }

static unsigned bucket_of(uint64_t one, uint64_t other) {
    uint64_t hash = one * 0x9e3779b97f4a7c15u;
    return (unsigned)((hash ^ hash >> 32 ^ other) * 0xd6e8feb86659fd93u >> 56) % TRODDEN_CROSSING_BUCKETS;
}

/* ---- rows ---- */
/* The row, or NULL, and then `*place` is where it would go. */
static struct trodden_crossing_row *find_row(struct trodden_crossing_index *index, uint64_t callee, uint64_t site,
                                             uint64_t first, struct trodden_crossing_row ***place) {
    uint64_t hash = (callee ^ site * 0x9e3779b97f4a7c15u ^ first * 0xd6e8feb86659fd93u) * 0x9e3779b97f4a7c15u;
    for (uint64_t at = hash >> 32;; at++) {
        struct trodden_crossing_row **here = &index->rows[at & (index->capacity - 1)];
        struct trodden_crossing_row *row = __atomic_load_n(here, __ATOMIC_ACQUIRE);
        *place = here;
        if (!row || (row->callee == callee && row->site == site && row->first == first))
            return row;
    }
}

/* The smaller one stays mapped: somebody may be reading it. */
static struct trodden_crossing_index *index_with_room(void) {
    struct trodden_crossings *crossings = &trodden_process.crossings;
    struct trodden_crossing_index *index = crossings->index;
    if (index && crossings->row_count < index->capacity / 2)
        return index;
    uint64_t capacity = index ? index->capacity * 2 : INITIAL_INDEX;
    struct trodden_crossing_index *larger = trodden_map(sizeof *larger + capacity * sizeof *larger->rows);
    if (!larger)
        return NULL;
    larger->capacity = capacity;
    for (uint64_t i = 0; index && i < index->capacity; i++) {
        struct trodden_crossing_row **place, *row = index->rows[i];
        if (row && !find_row(larger, row->callee, row->site, row->first, &place))
            *place = row;
    }
    __atomic_store_n(&crossings->index, larger, __ATOMIC_RELEASE);
    return larger;
}

static struct trodden_crossing_row *new_row(void) {
    struct trodden_crossings *crossings = &trodden_process.crossings;
    if (!crossings->last || crossings->last->used == crossings->last->capacity) {
        size_t bytes = sizeof *crossings->last + ROWS_PER_CHUNK * sizeof *crossings->last->rows;
        struct trodden_crossing_chunk *chunk = trodden_live_alloc(TRODDEN_REGION_CROSSING_ROWS, 0, bytes);
        if (!chunk)
            return NULL;
        chunk->capacity = ROWS_PER_CHUNK;
        if (crossings->last)
            crossings->last->next = chunk;
        else
            crossings->first = chunk;
        crossings->last = chunk;
    }
    return &crossings->last->rows[crossings->last->used];
}

static uint64_t lost(void) {
    trodden_process.crossings.lost = true;
    trodden_mark_incomplete();
    return 0;
}

/* There are no counters left for a row: that it lacks them is known. */
static void add_lost_row(const struct trodden_crossing_row *wanted, struct trodden_crossing_row **place) {
    struct trodden_crossing_row *row = new_row();
    if (!row) {
        lost();
        return;
    }
    *row = *wanted;
    row->parts = row->rows = 0;
    trodden_process.crossings.row_count++;
    __atomic_store_n(&trodden_process.crossings.last->used, trodden_process.crossings.last->used + 1,
                     __ATOMIC_RELEASE);
    __atomic_store_n(place, row, __ATOMIC_RELEASE);
}

/* The slot of a row, or its number if it has no counters; 0: there is no room.  `owner` has its counters. */
static uint64_t row_for(struct trodden_module_unit *owner, const struct trodden_crossing_row *wanted) {
    struct trodden_crossings *crossings = &trodden_process.crossings;
    uint64_t slots = (uint64_t)wanted->parts * wanted->rows;
    struct trodden_crossing_index *index = index_with_room();
    struct trodden_crossing_row **place, *row;
    if (!index)
        return lost();
    if ((row = find_row(index, wanted->callee, wanted->site, wanted->first, &place)))
        return row->slot;
    if (owner->rows_end + slots > calls_of(owner)->slots) {
        add_lost_row(wanted, place);
        return 0;
    }
    if (!(row = new_row()))
        return lost();
    *row = *wanted;
    row->slot = slots ? owner->rows_end : ++crossings->row_count;
    crossings->row_count += slots != 0;
    owner->rows_end += slots;
    __atomic_store_n(&crossings->last->used, crossings->last->used + 1, __ATOMIC_RELEASE);
    __atomic_store_n(place, row, __ATOMIC_RELEASE);
    return row->slot;
}

/* ---- calls ---- */
/* Who has published a number: the record of a call site, and the prefix. */
struct publisher {
    uint64_t unit, number; /* of the call site */
    const struct trodden_call_site *site;
    struct trodden_call_record *record;
    uint64_t prefix, *cell;
};

static bool find_cell(const struct trodden_module_unit *unit, uint64_t number, uint64_t *cell,
                      struct publisher *found) {
    const struct trodden_unit_calls *calls = calls_of(unit);
    uint64_t offset = calls ? (uint64_t)(cell - calls->records) : UINT64_MAX, low = 0;
    if (offset >= (calls ? calls->record_words : 0))
        return false;
    /* The last site that starts there or before; those of indirect calls have no words of their own. */
    for (uint64_t high = calls->site_count; high - low > 1;) {
        uint64_t middle = low + (high - low) / 2;
        if (calls->sites[middle].at <= offset)
            low = middle;
        else
            high = middle;
    }
    const struct trodden_call_site *site = &calls->sites[low];
    struct trodden_call_record *record = (struct trodden_call_record *)&calls->records[site->at];
    uint64_t index = (uint64_t)(cell - record->cells);
    if (index >= site->cells)
        return false;
    *found = (struct publisher){number, low, site, record, calls->prefixes[site->first_cell + index], cell};
    return true;
}

static bool find_publisher(uint64_t published, struct publisher *found) {
    uint64_t asked = -published;
    uint64_t *address = (uint64_t *)(uintptr_t)(asked & ~(uint64_t)(KINDS - 1));
    if (asked % KINDS == PREFIX) {
        struct trodden_prefix *prefix = (struct trodden_prefix *)address;
        const struct trodden_unit_calls *calls = calls_of(unit_with_number(prefix->unit));
        if (!calls)
            return false;
        *found = (struct publisher){prefix->unit, prefix->number, &calls->sites[prefix->number],
                                    prefix->record, prefix->prefix, &prefix->published};
        return true;
    }
    if (asked % KINDS == CELL_OF_TARGET) {
        for (unsigned i = 0; i < TRODDEN_CROSSING_BUCKETS; i++)
            for (struct trodden_target *target = trodden_process.crossings.targets[i]; target; target = target->next) {
                uint64_t index = (uint64_t)(address - target->record.cells);
                const struct trodden_unit_calls *calls = calls_of(unit_with_number(target->unit));
                if (!target->site || !calls || index >= target->site->cells)
                    continue;
                *found = (struct publisher){target->unit,    target->number,
                                            target->site,    &target->record,
                                            calls->prefixes[target->site->first_cell + index], address};
                return true;
            }
        return false;
    }
    for (struct trodden_module *module = trodden_process.modules; module; module = module->next)
        for (uint32_t i = 0; i < module->unit_count && trodden_module_may_count(module); i++)
            if (find_cell(&module->units[i], module->first_unit + i + 1, address, found))
                return true;
    return false;
}

/* The paths of a callee with which it returns to a call site: all at once, if these are few. */
static void make_block(const struct publisher *from, const struct trodden_unit *unit, uint64_t function,
                       uint64_t word) {
    struct trodden_call_record *record = from->record;
    uint64_t paths = unit->calls->functions[function].paths;
    if (record->word == word)
        return;
    struct trodden_module_unit *owner = unit_with_number(from->unit);
    uint64_t slots = paths <= LARGEST_BLOCK ? paths * from->site->parts : 0;
    if (slots && slots <= LARGEST_BLOCK && slots * BLOCKS_THAT_FIT <= calls_of(owner)->slots - owner->rows_end) {
        const struct trodden_crossing_row block = {
            in_unit(function, unit->number) | TRODDEN_CROSSING_RETURNED, in_unit(from->number, from->unit), 0, 0,
            from->site->parts, (uint32_t)paths};
        record->row = row_for(owner, &block);
        __atomic_store_n(&record->paths, record->row ? paths : 0, __ATOMIC_RELEASE);
    }
    record->callee = in_unit(function, unit->number);
    __atomic_store_n(&record->word, word, __ATOMIC_RELEASE);
}

static uint64_t row_of_call(const struct trodden_unit *unit, uint64_t function, uint64_t published, uint64_t address,
                            uint64_t token) {
    struct publisher from;
    if (!find_publisher(published, &from))
        return 0;
    uint64_t target = from.record->target;
    if (!target || (target != address && target != token))
        return 0;
    uint64_t word = unit->calls->words[function];
    make_block(&from, unit, function, word);
    const struct trodden_crossing_row row = {in_unit(function, unit->number), in_unit(from.number, from.unit),
                                             from.prefix, 0, unit->calls->functions[function].parts, 1};
    uint64_t slot = row_for(unit_with_number(unit->number), &row);
    /* Without room for a row there is none the next time either: slot 0, where nobody reads the counters. */
    __atomic_store_n(from.cell, word + slot, __ATOMIC_RELEASE);
    return slot;
}

uint64_t __trodden_row_of_call(const struct trodden_unit *unit, uint64_t function, uint64_t published, uint64_t address,
                               uint64_t token) {
    if (!(published >> 63)) /* it was meant for another function, which has not taken it */
        return 0;
    uint64_t mask = trodden_lock();
    uint64_t row = row_of_call(unit, function, published, address, token);
    trodden_unlock(mask);
    return row;
}

uint64_t __trodden_row_of_return(const struct trodden_unit *unit, struct trodden_call_record *record, uint64_t path) {
    uint64_t callee = record->callee | TRODDEN_CROSSING_RETURNED, where = record->site;
    struct trodden_crossing_index *index = __atomic_load_n(&trodden_process.crossings.index, __ATOMIC_ACQUIRE);
    struct trodden_crossing_row **place, *known = index ? find_row(index, callee, where, path, &place) : NULL;
    if (known && known->rows <= 1)
        return known->slot;
    uint64_t mask = trodden_lock(), row = 0;
    const struct trodden_crossing_row wanted = {callee, where, path, 0, unit->calls->sites[where >> 32].parts,
                                                1};
    row = row_for(unit_with_number(unit->number), &wanted);
    trodden_unlock(mask);
    return row;
}

/* ---- indirect calls, and calls with many prefixes ---- */
static void clear_record(struct trodden_call_record *record, const struct trodden_call_site *site, unsigned kind) {
    record->word = TRODDEN_NO_WORD;
    record->paths = record->row = 0;
    for (uint32_t i = 0; i < site->cells; i++)
        __atomic_store_n(&record->cells[i], ask_for(&record->cells[i], kind), __ATOMIC_RELEASE);
}

static struct trodden_target *find_target(struct trodden_target *target, uint64_t unit, uint64_t site,
                                          uint64_t address) {
    while (target && (target->record.target != address || target->number != site || target->unit != unit))
        target = target->next;
    return target;
}

struct trodden_call_record *__trodden_target_of(const struct trodden_unit *unit, uint64_t site, uint64_t address) {
    struct trodden_target **bucket =
        &trodden_process.crossings.targets[bucket_of(address, in_unit(site, unit->number))];
    /* Who is in the list stays there, so that the lock is needed only to add to it. */
    struct trodden_target *target =
        find_target(__atomic_load_n(bucket, __ATOMIC_ACQUIRE), unit->number, site, address);
    if (target && __atomic_load_n(&target->site, __ATOMIC_RELAXED))
        return &target->record;
    uint64_t mask = trodden_lock();
    const struct trodden_call_site *known = &unit->calls->sites[site];
    target = find_target(*bucket, unit->number, site, address);
    if (target && !target->site) { /* its library was unloaded, and is loaded again */
        target->site = known;
        clear_record(&target->record, known, CELL_OF_TARGET);
    }
    if (!target && (target = trodden_alloc(sizeof *target + known->cells * sizeof *target->record.cells))) {
        *target = (struct trodden_target){*bucket, known, (uint32_t)unit->number, (uint32_t)site, {.target = address}};
        target->record.site = in_unit(site, unit->number);
        clear_record(&target->record, known, CELL_OF_TARGET);
        __atomic_store_n(bucket, target, __ATOMIC_RELEASE);
    }
    if (!target)
        trodden_process.crossings.lost = true;
    trodden_unlock(mask);
    return target ? &target->record : unit->calls->nobody;
}

uint64_t __trodden_prefix_of(const struct trodden_unit *unit, struct trodden_call_record *record, uint64_t prefix) {
    struct trodden_prefix **bucket = &trodden_process.crossings.prefixes[bucket_of((uintptr_t)record, prefix)];
    /* Who is in the list stays there, so that the lock is needed only to add to it. */
    struct trodden_prefix *each = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
    while (each && (each->prefix != prefix || each->record != record || each->unit != unit->number))
        each = each->next;
    if (each)
        return __atomic_load_n(&each->published, __ATOMIC_ACQUIRE);
    uint64_t mask = trodden_lock();
    if ((each = trodden_alloc(sizeof *each))) {
        *each = (struct trodden_prefix){*bucket, ask_for(each, PREFIX),         prefix, (uint32_t)unit->number,
                                        (uint32_t)(record->site >> 32), record};
        __atomic_store_n(bucket, each, __ATOMIC_RELEASE);
    } else {
        trodden_process.crossings.lost = true;
    }
    trodden_unlock(mask);
    return each ? each->published : 0;
}

/* ---- modules ---- */
static void find_accessor(const struct trodden_module *but) {
    struct trodden_channel *(*found)(void) = NULL;
    for (const struct trodden_module *module = trodden_process.modules; module && !found; module = module->next)
        for (uint32_t i = 0; i < module->unit_count && module != but && trodden_module_may_count(module) && !found; i++)
            found = calls_of(&module->units[i]) ? calls_of(&module->units[i])->channel : NULL;
    __atomic_store_n(&trodden_process.crossings.channel, found, __ATOMIC_RELEASE);
}

static void clear_records(const struct trodden_unit_calls *calls, uint64_t unit) {
    for (uint64_t site = 0; site < calls->site_count; site++) {
        if (!calls->sites[site].target)
            continue;
        struct trodden_call_record *record = (struct trodden_call_record *)&calls->records[calls->sites[site].at];
        record->target = calls->sites[site].target;
        record->site = in_unit(site, unit);
        clear_record(record, &calls->sites[site], CELL);
    }
}

void trodden_crossings_attach_module(struct trodden_module *module) {
    for (uint32_t i = 0; i < module->unit_count; i++) {
        struct trodden_module_unit *unit = &module->units[i];
        const struct trodden_unit_calls *calls = calls_of(unit);
        if (!calls)
            continue;
        if (!unit->first_called) {
            unit->first_called = trodden_process.crossings.functions + 1;
            unit->rows_end = calls->scratch;
            trodden_process.crossings.functions += (uint32_t)calls->function_count;
        }
        clear_records(calls, module->first_unit + i + 1);
        for (uint64_t function = 0; function < calls->function_count; function++)
            calls->words[function] = (unit->first_called + function) << 32;
    }
    find_accessor(NULL);
}

static bool is_in(const struct trodden_module *module, uint64_t word) {
    for (uint32_t i = 0; i < module->unit_count; i++) {
        const struct trodden_unit_calls *calls = calls_of(&module->units[i]);
        if (calls && (word >> 32) - module->units[i].first_called < calls->function_count)
            return true;
    }
    return false;
}

static void forget(struct trodden_call_record *record, const struct trodden_call_site *site, unsigned kind,
                   const struct trodden_module *module) {
    if (!(record->word >> 63) && is_in(module, record->word))
        clear_record(record, site, kind);
}

/* Calls of its functions may be asked for again, if it is loaded again: their rows are found then. */
void trodden_crossings_forget_module(struct trodden_module *module) {
    for (const struct trodden_module *each = trodden_process.modules; each; each = each->next)
        for (uint32_t i = 0; i < each->unit_count && each != module && trodden_module_may_count(each); i++) {
            const struct trodden_unit_calls *calls = calls_of(&each->units[i]);
            for (uint64_t site = 0; calls && site < calls->site_count; site++)
                if (calls->sites[site].target)
                    forget((struct trodden_call_record *)&calls->records[calls->sites[site].at], &calls->sites[site],
                           CELL, module);
        }
    for (unsigned i = 0; i < TRODDEN_CROSSING_BUCKETS; i++) {
        for (struct trodden_prefix *each = trodden_process.crossings.prefixes[i]; each; each = each->next)
            if (!(each->published >> 63) && is_in(module, each->published))
                each->published = ask_for(each, PREFIX);
        for (struct trodden_target *each = trodden_process.crossings.targets[i]; each; each = each->next) {
            if (each->site)
                forget(&each->record, each->site, CELL_OF_TARGET, module);
            /* Its memory is that of nobody; unless the same unit is loaded there again, it is never found. */
            if (each->unit - 1 - module->first_unit < module->unit_count)
                each->site = NULL;
        }
    }
    find_accessor(module);
}
