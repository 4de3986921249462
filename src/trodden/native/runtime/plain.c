/* Frames that jumps have passed before.
 *
 * Most frames are plain: the CFA lies at a fixed distance from the stack or frame pointer, the return address and
 * the caller's frame pointer at fixed distances from the CFA, the function's cell at one from the CFA or the
 * frame pointer.  Programs jump from few places again and again, so these distances are remembered by return
 * address, together with what such a frame is noted as.  A jump over such frames alone takes no lock, makes no
 * system call and asks no unwinding table.
 *
 * Rows are made under the lock.  A row is shown when it is whole, and stays as it is until all are dropped at once;
 * whoever reads without the lock asks, before using what was read, whether that has happened. */
#include <string.h>

#include "dwarf.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define COLD TRODDEN_KEEPS_REGISTERS __attribute__((noinline))

enum { FIRST_ROOM = 1 << 10, GROWTH = 4 };

struct row {
    uintptr_t key;               /* 0: empty */
    struct trodden_jump *always; /* what all frames here are noted as, if that is known once and for all */
    struct trodden_jump *last;   /* otherwise: what the last one was noted as, or NULL */
    struct row *caller;          /* of the last frame here, or this row itself */
    int32_t cfa;                 /* from the stack pointer, or from the frame pointer if `by_frame` */
    int32_t back, saved;         /* from the CFA to the return address and the frame pointer; 0: it was left alone */
    bool by_frame;
    bool stays; /* it lies in this very module: should that be unloaded, the rows go with it */
    uint8_t cell_by, cell_pushed;
    int32_t cell;
    uint32_t cell_alignment;
    const struct trodden_module *module; /* NULL: one without units */
};

_Static_assert(sizeof(struct row) == 64, "a row takes one line of the cache");

enum { WITHOUT, BY_CFA, BY_FRAME };

struct rows {
    uint64_t mask; /* one less than its places; at most half of them are taken */
    uint64_t used;
    _Alignas(64) struct row at[];
};

static struct rows *rows;
static uint64_t drops;      /* odd while the rows are being dropped */
static uint64_t generation; /* of the images that the rows are about */

static inline uint64_t hash_of(uintptr_t key) { return key * 0x61c88647u >> 32; }

static inline bool is_row(const struct row *row, uintptr_t key) {
    return __atomic_load_n(&row->key, __ATOMIC_ACQUIRE) == key;
}

COLD static struct row *find_beyond(struct rows *in, uintptr_t key) {
    for (uint64_t index = hash_of(key);; index++) {
        struct row *row = &in->at[index & in->mask];
        if (is_row(row, key))
            return row;
        if (is_row(row, 0))
            return NULL;
    }
}

static inline struct row *find_row(struct rows *in, uintptr_t key) {
    struct row *row = &in->at[hash_of(key) & in->mask];
    return LIKELY(is_row(row, key)) ? row : find_beyond(in, key);
}

/* Where setjmp returns to is kept beside the frames: by a key that is nobody's return address. */
static inline uintptr_t landing(uintptr_t pc) { return ~pc; }

/* ---- making rows; the caller holds the lock ---- */
static void drop_rows(void) {
    if (!rows)
        return;
    __atomic_store_n(&drops, drops + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    memset(rows->at, 0, (rows->mask + 1) * sizeof *rows->at);
    rows->used = 0;
    __atomic_store_n(&drops, drops + 1, __ATOMIC_RELEASE);
}

void trodden_forget_plain_rows(void) { drop_rows(); }

void trodden_renew_plain(void) {
    uint64_t now = trodden_lead.images ? trodden_lead.images->generation : 0;
    if (generation == now)
        return;
    drop_rows();
    __atomic_store_n(&generation, now, __ATOMIC_RELEASE);
}

static void enter_row(struct rows *in, const struct row *made) {
    uint64_t index = hash_of(made->key);
    while (in->at[index & in->mask].key)
        index++;
    struct row *row = &in->at[index & in->mask];
    memcpy(&row->always, &made->always, sizeof *row - offsetof(struct row, always));
    row->caller = row;
    __atomic_store_n(&row->key, made->key, __ATOMIC_RELEASE);
    in->used++;
}

/* The smaller table stays mapped: others may be reading it. */
static struct rows *rows_with_room(void) {
    uint64_t room = rows ? rows->mask + 1 : 0;
    if (rows && rows->used < room / 2)
        return rows;
    uint64_t wanted = rows ? room * GROWTH : FIRST_ROOM;
    struct rows *larger = trodden_map(sizeof *larger + wanted * sizeof *larger->at);
    if (!larger)
        return NULL;
    larger->mask = wanted - 1;
    for (uint64_t i = 0; i < room; i++)
        if (rows->at[i].key)
            enter_row(larger, &rows->at[i]);
    __atomic_store_n(&rows, larger, __ATOMIC_RELEASE);
    return larger;
}

static bool is_kept(uintptr_t key) { return rows && find_row(rows, key); }

/* What a frame that returns to `pc` is noted as. */
static void name_row(struct row *row, uintptr_t pc, const struct trodden_image *image) {
    row->module = trodden_module_of(pc);
    row->stays = image && trodden_image_holds(image, (uintptr_t)&rows, sizeof rows);
    if (row->module && row->stays && row->cell_by == WITHOUT)
        row->always = trodden_jump_at(row->module->index, pc - row->module->bias, false, 0, true);
}

/* False: not by what is known of a plain frame. */
static bool place_cell(struct row *row, struct trodden_cell_place place) {
    row->cell_by = place.kind == NO_CELL ? WITHOUT : place.kind == FROM_CFA ? BY_CFA : BY_FRAME;
    row->cell = place.distance;
    row->cell_pushed = (uint8_t)place.pushed;
    row->cell_alignment = place.alignment;
    return row->cell_pushed == place.pushed && (place.kind != FROM_REGISTER || place.column == TRODDEN_FP);
}

void trodden_keep_frame(uintptr_t pc, bool lowest, const struct trodden_image *image,
                        const struct trodden_frame_facts *facts, struct trodden_cell_place cell) {
    const struct trodden_row *table = &facts->row;
    const struct trodden_rule *back = &table->columns[facts->return_column], *frame = &table->columns[TRODDEN_FP];
    bool plain = !facts->signal_frame && !table->cfa_expression &&
                 (table->cfa_column == TRODDEN_SP || table->cfa_column == TRODDEN_FP) &&
                 table->columns[TRODDEN_SP].kind == SAME && back->kind == AT_OFFSET &&
                 (frame->kind == SAME || frame->kind == AT_OFFSET);
    int64_t cfa = table->cfa_offset, saved = frame->kind == AT_OFFSET ? frame->value : 0;
    if (!plain || cfa != (int32_t)cfa || back->value != (int32_t)back->value || back->value > -8 ||
        saved != (int32_t)saved || (frame->kind == AT_OFFSET && saved > -8) || is_kept(pc))
        return;
    struct row row = {.key = pc,
                      .cfa = (int32_t)cfa,
                      .back = (int32_t)back->value,
                      .saved = (int32_t)saved,
                      .by_frame = table->cfa_column == TRODDEN_FP};
    if (!row.by_frame && (cfa + back->value < 0 || cfa + saved < 0))
        return;
    struct rows *into = place_cell(&row, cell) ? rows_with_room() : NULL;
    if (!into)
        return;
    if (!lowest) /* that is longjmp itself, which is not noted */
        name_row(&row, pc, image);
    enter_row(into, &row);
}

void trodden_keep_landing(uintptr_t pc) {
    struct row row = {.key = landing(pc)};
    struct rows *into = is_kept(row.key) ? NULL : rows_with_room();
    if (!into)
        return;
    name_row(&row, pc, trodden_image_of(trodden_lead.images, pc));
    enter_row(into, &row);
}

/* ---- following them ---- */
static inline bool are_kept(uint64_t since) {
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    return __atomic_load_n(&drops, __ATOMIC_RELAXED) == since;
}

static bool read_cell(const struct row *row, const struct trodden_trail *trail, uint64_t cfa, uint64_t *value) {
    uint64_t address = trail->frame + (uint64_t)(int64_t)row->cell;
    if (row->cell_by == BY_CFA)
        address = trodden_below_cfa(cfa, row->cell_pushed, row->cell_alignment, row->cell);
    if (row->cell_by == WITHOUT || address < trail->stack || address >= cfa || cfa - address < 8)
        return false;
    memcpy(value, (const void *)address, sizeof *value);
    return true;
}

/* What has been loaded or unloaded is asked for once in a jump at most, and not at all for the leader's own code. */
static bool is_right(const struct row *row, struct trodden_trail *trail) {
    if (!row->stays && !trail->fits)
        trail->fits = trodden_images_generation() == __atomic_load_n(&generation, __ATOMIC_ACQUIRE);
    return row->stays || trail->fits;
}

/* Who has read a row may set its entry after it was dropped, when another has taken its place. */
static bool is_entry(const struct trodden_jump *entry, const struct row *row, uintptr_t pc, bool known,
                     uint64_t cell) {
    return entry->cell == cell && entry->known == known && entry->address == pc - row->module->bias &&
           entry->module == row->module->index;
}

/* What is not noted as the last time.  False if it cannot be noted this way. */
COLD static bool note_anew(struct row *at, struct trodden_trail *trail, uint64_t cfa, int64_t amount) {
    struct row row = *at;
    if (!is_right(&row, trail) || !are_kept(trail->drops))
        return false;
    if (!row.module)
        return true;
    uint64_t cell = 0;
    bool known = read_cell(&row, trail, cfa, &cell);
    struct trodden_jump *entry =
        trodden_jump_at(row.module->index, trail->pc - row.module->bias, known, cell, trail->locked);
    if (!entry)
        return false;
    __atomic_store_n(&at->last, entry, __ATOMIC_RELEASE);
    __atomic_fetch_add(&entry->count, amount, __ATOMIC_RELAXED);
    return true;
}

/* What is not always noted as the same. */
COLD static bool note_other(struct row *at, struct trodden_trail *trail, uint64_t cfa, int64_t amount) {
    struct trodden_jump *entry = __atomic_load_n(&at->last, __ATOMIC_ACQUIRE);
    struct row row = *at;
    uint64_t cell = 0;
    if (entry && row.module && (row.stays || trail->fits) && are_kept(trail->drops)) {
        bool known = read_cell(&row, trail, cfa, &cell);
        if (is_entry(entry, &row, trail->pc, known, cell)) {
            __atomic_fetch_add(&entry->count, amount, __ATOMIC_RELAXED);
            return true;
        }
    }
    IN_PLACE return note_anew(at, trail, cfa, amount);
}

COLD static struct row *find_caller(struct rows *in, struct row *at, uintptr_t pc) {
    struct row *caller = find_row(in, pc);
    if (caller)
        __atomic_store_n(&at->caller, caller, __ATOMIC_RELAXED);
    return caller;
}

static bool land(struct rows *in, struct trodden_trail *trail) {
    struct row *at = find_row(in, landing(trail->back));
    struct trodden_jump *always = at ? at->always : NULL;
    trail->pc = trail->back;
    if (!always || !are_kept(trail->drops))
        return at && note_other(at, trail, 0, -1);
    __atomic_fetch_sub(&always->count, 1, __ATOMIC_RELAXED);
    return true;
}

/* All of it is stack in use, and is read as it is. */
bool trodden_follow(struct trodden_trail *trail) {
    uint64_t since = __atomic_load_n(&drops, __ATOMIC_ACQUIRE); /* before the table, as only the newest is dropped */
    struct rows *in = __atomic_load_n(&rows, __ATOMIC_ACQUIRE);
    uint64_t stack = trail->stack, frame = trail->frame, sp = trail->sp;
    uint32_t passed = trail->passed;
    if (!in || since & 1 || sp < stack)
        return false;
    trail->drops = since;
    uintptr_t pc = trail->pc;
    struct row *at = find_row(in, pc);
    if (!at)
        return false;
    for (;;) {
        struct trodden_jump *always = at->always;
        struct row *caller = __atomic_load_n(&at->caller, __ATOMIC_RELAXED);
        int64_t back = at->back, saved = at->saved;
        uint64_t cfa = stack + (uint64_t)(int64_t)at->cfa;
        if (at->by_frame) {
            cfa = frame + (uint64_t)(int64_t)at->cfa;
            if ((int64_t)cfa + (back < saved ? back : saved) < (int64_t)stack)
                break;
        }
        if (!are_kept(since))
            break;
        if (LIKELY(always)) {
            __atomic_fetch_add(&always->count, 1, __ATOMIC_RELAXED);
        } else if (passed) {
            trail->pc = pc;
            trail->stack = stack;
            trail->frame = frame;
            if (!note_other(at, trail, cfa, 1))
                break;
        }
        if (cfa > sp) {
            trail->there = passed > 0;
            return trail->there && land(in, trail);
        }
        passed++;
        pc = trodden_strip_signature(*(const uint64_t *)(cfa + (uint64_t)back));
        if (saved)
            frame = *(const uint64_t *)(cfa + (uint64_t)saved);
        stack = cfa;
        if (LIKELY(is_row(caller, pc)))
            at = caller;
        else if (!(at = find_caller(in, at, pc)))
            break;
    }
    trail->pc = pc;
    trail->stack = stack;
    trail->frame = frame;
    trail->passed = passed;
    return false;
}

bool trodden_note_plain(struct trodden_trail *trail) {
    uint64_t since = __atomic_load_n(&drops, __ATOMIC_ACQUIRE);
    struct rows *in = __atomic_load_n(&rows, __ATOMIC_ACQUIRE);
    struct row *at = in && !(since & 1) ? find_row(in, trail->pc) : NULL;
    if (!at)
        return false;
    struct trodden_jump *always = at->always;
    uint64_t cfa = (at->by_frame ? trail->frame : trail->stack) + (uint64_t)(int64_t)at->cfa;
    if (!are_kept(since))
        return false;
    trail->drops = since;
    if (!always)
        return note_other(at, trail, cfa, 1);
    __atomic_fetch_add(&always->count, 1, __ATOMIC_RELAXED);
    return true;
}
