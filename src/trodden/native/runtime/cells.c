/* Cells: where a function on the stack keeps its path register.
 *
 * A function whose path cannot be told from a return address alone stores its register in a cell of its frame
 * before it calls.  A function that keeps paths of calls and that an exception may pass has another cell, with
 * what it has found in the thread's place.  The compiler enters an instruction that would load a cell's address (it
 * is never run) in the section .trodden_cells, with an address in the function at which the instruction would be
 * right.
 *
 * Linkers drop an entry together with its function, as the section is tied to that of the code.  For the same
 * reason its bounds have no names: a reference to them would keep all functions.  So the runtime has an entry
 * of its own there and looks from it in both directions, as long as entries end in a word of four letters that it
 * knows. */
#include <string.h>

#include "dwarf.h"

struct entry {
    int32_t to_code; /* from the entry itself */
    uint8_t lea[8];
    char end[4];
};
_Static_assert(sizeof(struct entry) == 16, "an entry has 16 bytes");

#define NO_BASE 0xff

struct trodden_cell {
    uintptr_t pc;
    int32_t distance;
    uint8_t base; /* by DWARF number, or NO_BASE */
    bool of_calls;
};

const void *trodden_cells_mark(void) {
#ifdef __x86_64__
    const void *mark;
    __asm__(".Ltrodden_here%=:\n\t.pushsection .trodden_cells,\"ao?\",@progbits,.Ltrodden_here%=\n\t.balign 16\n"
            ".Ltrodden_mark%=:\n\t.long .Ltrodden_here%= - .Ltrodden_mark%=\n\t.quad 0\n\t.ascii \"cell\"\n\t"
            ".popsection\n\tleaq .Ltrodden_mark%=(%%rip), %0"
            : "=r"(mark));
    return mark;
#else
    return NULL;
#endif
}

/* REX.W 8D /r with a base and a displacement: base 0xff if it is anything else, as the runtime's own. */
static struct trodden_cell decode(const struct entry *entry) {
    static const uint8_t dwarf[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    struct trodden_cell cell = {(uintptr_t)entry + (uintptr_t)(intptr_t)entry->to_code, 0, NO_BASE,
                                memcmp(entry->end, "call", 4) == 0};
    const uint8_t *at = entry->lea;
    unsigned upper = at[0] & 1u, mode = at[2] >> 6, base = at[2] & 7u;
    if ((at[0] & 0xfe) != 0x48 || at[1] != 0x8d || mode == 3)
        return cell;
    at += 3;
    if (base == 4) {
        if ((*at >> 3 & 7) != 4) /* an index */
            return cell;
        base = *at++ & 7u;
    }
    if (mode == 0 && base == 5) /* no base */
        return cell;
    if (mode == 1)
        cell.distance = (int8_t)*at;
    if (mode == 2)
        memcpy(&cell.distance, at, sizeof cell.distance);
    cell.base = dwarf[base + 8 * upper];
    return cell;
}

static bool is_entry(const struct trodden_image *image, const struct entry *entry) {
    return trodden_image_holds(image, (uintptr_t)entry, sizeof *entry) &&
           (memcmp(entry->end, "cell", 4) == 0 || memcmp(entry->end, "call", 4) == 0);
}

static void sift(struct trodden_cell *cells, size_t from, size_t count) {
    for (size_t child; (child = 2 * from + 1) < count; from = child) {
        child += child + 1 < count && cells[child].pc < cells[child + 1].pc;
        if (cells[from].pc >= cells[child].pc)
            return;
        struct trodden_cell lower = cells[from];
        cells[from] = cells[child];
        cells[child] = lower;
    }
}

/* By a heap: it needs no more memory, and takes no longer for any order. */
static void sort(struct trodden_cell *cells, size_t count) {
    for (size_t i = count / 2; i-- > 0;)
        sift(cells, i, count);
    for (size_t end = count; end-- > 1;) {
        struct trodden_cell last = cells[0];
        cells[0] = cells[end];
        cells[end] = last;
        sift(cells, 0, end);
    }
}

static void make_index(struct trodden_module *module, const struct trodden_image *image) {
    const struct entry *first = module->cells_mark, *end = first;
    while (is_entry(image, first - 1))
        first--;
    while (is_entry(image, end))
        end++;
    size_t count = (size_t)(end - first);
    struct trodden_cell *cells = trodden_map(count * sizeof *cells);
    if (!cells)
        return;
    for (size_t i = 0; i < count; i++)
        cells[i] = decode(&first[i]);
    sort(cells, count);
    module->cells = cells;
    module->cell_count = count;
    module->cells_bytes = count * sizeof *cells;
}

void trodden_forget_cells(struct trodden_module *module) {
    trodden_unmap(module->cells, module->cells_bytes);
    module->cells = NULL;
    module->cells_mark = NULL;
    module->cell_count = module->cells_bytes = 0;
}

static const struct trodden_cell_place nowhere = {NO_CELL, 0, 0, 0, 0};

/* `op` $value, %rsp: the operation is told by the third byte, how long the value is by the second. */
static bool take_rsp_op(const uint8_t **code, const uint8_t *end, uint8_t op, int32_t *value) {
    const uint8_t *at = *code;
    if (end - at < 4 || at[0] != 0x48 || (at[1] != 0x81 && at[1] != 0x83) || at[2] != op)
        return false;
    *value = (int8_t)at[3];
    if (at[1] == 0x81 && end - at >= 7)
        memcpy(value, at + 3, sizeof *value);
    *code += at[1] == 0x81 ? 7 : 4;
    return *code <= end;
}

/* A function whose locals ask for more alignment than the stack has pushes what it has to keep, rounds the stack
 * pointer down and takes its room.  Later it may push arguments, which then no table tells: so the stack
 * pointer that its cell is addressed by is computed as the prologue did. */
static struct trodden_cell_place from_prologue(const struct trodden_cell *cell, const struct trodden_image *image,
                                               uintptr_t from) {
    const uint8_t *code = (const uint8_t *)from, *end = (const uint8_t *)cell->pc;
    uint32_t pushed = 8; /* the return address */
    if (!trodden_image_holds(image, from, cell->pc - from))
        return nowhere;
    if (end - code > 4 && memcmp(code, "\xf3\x0f\x1e\xfa", 4) == 0) /* endbr64 */
        code += 4;
    for (; end - code > 3; pushed += 8) {
        if (memcmp(code, "\x48\x89\xe5", 3) == 0) /* mov %rsp, %rbp */
            code += 3;
        code += code[0] == 0x41;
        if ((code[0] & 0xf8) != 0x50) /* push */
            break;
        code++;
    }
    int32_t mask, room;
    if (!take_rsp_op(&code, end, 0xe4, &mask) || !take_rsp_op(&code, end, 0xec, &room) || /* and, sub */
        mask >= 0 || (-mask & (-mask - 1)))
        return nowhere;
    return (struct trodden_cell_place){FROM_CFA, 0, cell->distance - room, pushed, (uint32_t)-mask};
}

/* The register that the CFA is computed from where the entry stands can be told from the CFA again, wherever
 * the function is now; of another one the value now has to do, for which it has to be one that callees keep. */
static struct trodden_cell_place place_of(const struct trodden_cell *cell, const struct trodden_image *image,
                                          struct trodden_frame_facts *there) {
    if (cell->base == NO_BASE || !trodden_find_row(image, cell->pc, there))
        return nowhere;
    if (!there->row.cfa_expression && there->row.cfa_column == cell->base)
        return (struct trodden_cell_place){FROM_CFA, 0, cell->distance - (int32_t)there->row.cfa_offset, 0, 1};
    if (cell->base != TRODDEN_SP)
        return (struct trodden_cell_place){FROM_REGISTER, cell->base, cell->distance, 0, 0};
    return from_prologue(cell, image, there->from);
}

static bool same(struct trodden_cell_place one, struct trodden_cell_place other) {
    return one.kind == other.kind && one.column == other.column && one.distance == other.distance &&
           one.pushed == other.pushed && one.alignment == other.alignment;
}

/* The cells of the function that `facts` describe: from the one that is answered up to `end`. */
static const struct trodden_cell *cells_of(const struct trodden_image *image, const struct trodden_frame_facts *facts,
                                           const struct trodden_cell **end) {
    struct trodden_module *module = trodden_module_of(facts->from);
    *end = NULL;
    if (module && module->cells_mark && !module->cells)
        make_index(module, image);
    if (!module || !module->cells)
        return NULL;
    size_t low = 0, high = module->cell_count; /* the first at or above `from` is in [low, high] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (module->cells[middle].pc < facts->from)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low; high < module->cell_count && module->cells[high].pc - facts->from < facts->size;)
        high++;
    *end = module->cells + high;
    return module->cells + low;
}

/* Several are the same, of code that was copied, or of functions that became one: then none is the one. */
struct trodden_cell_place trodden_find_cell(const struct trodden_image *image,
                                            const struct trodden_frame_facts *facts,
                                            struct trodden_frame_facts *room) {
    struct trodden_cell_place found = nowhere;
    const struct trodden_cell *end, *cell = cells_of(image, facts, &end);
    for (bool first = true; cell < end; cell++) {
        if (cell->of_calls)
            continue;
        struct trodden_cell_place place = place_of(cell, image, room);
        if (!first && !same(place, found))
            return nowhere;
        found = place;
        first = false;
    }
    return found;
}

/* The first: others are of functions that were inlined. */
struct trodden_cell_place trodden_find_call_cell(const struct trodden_image *image,
                                                 const struct trodden_frame_facts *facts,
                                                 struct trodden_frame_facts *room) {
    const struct trodden_cell *end, *cell = cells_of(image, facts, &end);
    while (cell < end && !cell->of_calls)
        cell++;
    return cell < end ? place_of(cell, image, room) : nowhere;
}
