/* Where a function on the stack keeps its path register.
 *
 * A function whose path register cannot be derived from a return address alone stores it in a slot of its stack frame
 * before it calls.  A function that records call paths and that an exception may unwind has another slot, with the
 * node of the call-path tree that it found at entry.  For each slot the compiler puts an instruction that would load
 * the slot's address (it is never executed) into the section .trodden_cells, together with a code address at which
 * the instruction would be valid.
 *
 * Linkers discard an entry together with its function, since the section is linked to that of the code
 * (SHF_LINK_ORDER).  For the same reason there are no symbols for the section's bounds: a reference to them would
 * retain all functions.  Therefore the runtime has an entry of its own there, and looks from it in both directions
 * for as long as entries end in a four-letter marker that it knows. */
#include <string.h>

#include "platform/system.h"
#include "process/process.h"
#include "unwind/register_slots.h"

struct section_entry {
    int32_t code_displacement; /* from the entry itself */
    uint8_t lea[8];
    char marker[4];
};
_Static_assert(sizeof(struct section_entry) == 16, "an entry has 16 bytes");

#define NO_BASE 0xff

struct trodden_register_slot {
    uintptr_t pc;
    int32_t displacement;
    uint8_t base; /* DWARF number, or NO_BASE */
    bool of_call_path;
};

const void *trodden_slots_mark(void) {
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

/* Decodes REX.W 8D /r with a base register and a displacement.  Any other form, such as that of the runtime's own
 * entry, yields NO_BASE. */
static struct trodden_register_slot decode(const struct section_entry *entry) {
    static const uint8_t dwarf[] = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
    struct trodden_register_slot slot = {(uintptr_t)entry + (uintptr_t)(intptr_t)entry->code_displacement, 0, NO_BASE,
                                         memcmp(entry->marker, "call", 4) == 0};
    const uint8_t *at = entry->lea;
    unsigned upper = at[0] & 1u, mode = at[2] >> 6, base = at[2] & 7u;
    if ((at[0] & 0xfe) != 0x48 || at[1] != 0x8d || mode == 3)
        return slot;
    at += 3;
    if (base == 4) {
        if ((*at >> 3 & 7) != 4) /* an index */
            return slot;
        base = *at++ & 7u;
    }
    if (mode == 0 && base == 5) /* no base */
        return slot;
    if (mode == 1)
        slot.displacement = (int8_t)*at;
    if (mode == 2)
        memcpy(&slot.displacement, at, sizeof slot.displacement);
    slot.base = dwarf[base + 8 * upper];
    return slot;
}

static bool is_section_entry(const struct trodden_image *image, const struct section_entry *entry) {
    return trodden_image_contains(image, (uintptr_t)entry, sizeof *entry) &&
           (memcmp(entry->marker, "cell", 4) == 0 || memcmp(entry->marker, "call", 4) == 0);
}

static void sift_down(struct trodden_register_slot *slots, size_t from, size_t count) {
    for (size_t child; (child = 2 * from + 1) < count; from = child) {
        child += child + 1 < count && slots[child].pc < slots[child + 1].pc;
        if (slots[from].pc >= slots[child].pc)
            return;
        struct trodden_register_slot lower = slots[from];
        slots[from] = slots[child];
        slots[child] = lower;
    }
}

/* Heapsort needs no further memory and is fast for any order. */
static void heap_sort(struct trodden_register_slot *slots, size_t count) {
    for (size_t i = count / 2; i-- > 0;)
        sift_down(slots, i, count);
    for (size_t end = count; end-- > 1;) {
        struct trodden_register_slot last = slots[0];
        slots[0] = slots[end];
        slots[end] = last;
        sift_down(slots, 0, end);
    }
}

static void build_index(struct trodden_module *module, const struct trodden_image *image) {
    const struct section_entry *first = module->slots_mark, *end = first;
    while (is_section_entry(image, first - 1))
        first--;
    while (is_section_entry(image, end))
        end++;
    size_t count = (size_t)(end - first);
    struct trodden_register_slot *slots = trodden_map(count * sizeof *slots);
    if (!slots)
        return;
    for (size_t i = 0; i < count; i++)
        slots[i] = decode(&first[i]);
    heap_sort(slots, count);
    module->slots = slots;
    module->slot_count = count;
    module->slots_bytes = count * sizeof *slots;
}

void trodden_drop_slot_index(struct trodden_module *module) {
    trodden_unmap(module->slots, module->slots_bytes);
    module->slots = NULL;
    module->slots_mark = NULL;
    module->slot_count = module->slots_bytes = 0;
}

static const struct trodden_slot_location no_slot = {NO_SLOT, 0, 0, 0, 0};

/* Decodes `op $value, %rsp`: the third byte is the operation, the second tells the size of the value. */
static bool decode_rsp_op(const uint8_t **code, const uint8_t *end, uint8_t op, int32_t *value) {
    const uint8_t *at = *code;
    if (end - at < 4 || at[0] != 0x48 || (at[1] != 0x81 && at[1] != 0x83) || at[2] != op)
        return false;
    *value = (int8_t)at[3];
    if (at[1] == 0x81 && end - at >= 7)
        memcpy(value, at + 3, sizeof *value);
    *code += at[1] == 0x81 ? 7 : 4;
    return *code <= end;
}

/* A function whose locals need more alignment than the stack has pushes the registers that it saves, rounds the stack
 * pointer down and allocates its frame.  Later it may push arguments, which no unwinding table describes at that
 * point.  Therefore the stack pointer that its slot is addressed by is computed as the prologue computed it. */
static struct trodden_slot_location locate_from_prologue(const struct trodden_register_slot *slot,
                                                         const struct trodden_image *image, uintptr_t from) {
    const uint8_t *code = (const uint8_t *)from, *end = (const uint8_t *)slot->pc;
    uint32_t pushed = 8; /* the return address */
    if (!trodden_image_contains(image, from, slot->pc - from))
        return no_slot;
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
    int32_t mask, frame_bytes;
    if (!decode_rsp_op(&code, end, 0xe4, &mask) || !decode_rsp_op(&code, end, 0xec, &frame_bytes) || /* and, sub */
        mask >= 0 || (-mask & (-mask - 1)))
        return no_slot;
    return (struct trodden_slot_location){SLOT_FROM_CFA, 0, slot->displacement - frame_bytes, pushed,
                                          (uint32_t)-mask};
}

/* If the instruction's base register is the one that the CFA is computed from at that address, the slot lies at a
 * fixed offset from the CFA, wherever the function is now.  For any other register the current value is used, for
 * which the register has to be callee-saved. */
static struct trodden_slot_location locate_slot(const struct trodden_register_slot *slot,
                                                const struct trodden_image *image, struct trodden_frame_info *info) {
    if (slot->base == NO_BASE || !trodden_find_cfi_row(image, slot->pc, info))
        return no_slot;
    if (!info->row.cfa_expression && info->row.cfa_column == slot->base)
        return (struct trodden_slot_location){SLOT_FROM_CFA, 0, slot->displacement - (int32_t)info->row.cfa_offset, 0,
                                              1};
    if (slot->base != TRODDEN_SP)
        return (struct trodden_slot_location){SLOT_FROM_REGISTER, slot->base, slot->displacement, 0, 0};
    return locate_from_prologue(slot, image, info->function_start);
}

static bool same_location(struct trodden_slot_location one, struct trodden_slot_location other) {
    return one.kind == other.kind && one.base == other.base && one.displacement == other.displacement &&
           one.pushed_bytes == other.pushed_bytes && one.alignment == other.alignment;
}

/* The slots of the function that `info` describes: from the result up to `*end`. */
static const struct trodden_register_slot *slots_of(const struct trodden_image *image,
                                                    const struct trodden_frame_info *info,
                                                    const struct trodden_register_slot **end) {
    struct trodden_module *module = trodden_module_of(info->function_start);
    *end = NULL;
    if (module && module->slots_mark && !module->slots)
        build_index(module, image);
    if (!module || !module->slots)
        return NULL;
    size_t low = 0, high = module->slot_count; /* the first at or above `function_start` is in [low, high] */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (module->slots[middle].pc < info->function_start)
            low = middle + 1;
        else
            high = middle;
    }
    for (high = low;
         high < module->slot_count && module->slots[high].pc - info->function_start < info->function_size;)
        high++;
    *end = module->slots + high;
    return module->slots + low;
}

/* A function has several entries with one location where code was duplicated.  If the locations differ, functions
 * were merged, and none can be chosen. */
struct trodden_slot_location trodden_find_register_slot(const struct trodden_image *image,
                                                        const struct trodden_frame_info *info,
                                                        struct trodden_frame_info *scratch) {
    struct trodden_slot_location found = no_slot;
    const struct trodden_register_slot *end, *slot = slots_of(image, info, &end);
    for (bool first = true; slot < end; slot++) {
        if (slot->of_call_path)
            continue;
        struct trodden_slot_location location = locate_slot(slot, image, scratch);
        if (!first && !same_location(location, found))
            return no_slot;
        found = location;
        first = false;
    }
    return found;
}

/* The first one: others belong to functions that were inlined. */
struct trodden_slot_location trodden_find_call_slot(const struct trodden_image *image,
                                                    const struct trodden_frame_info *info,
                                                    struct trodden_frame_info *scratch) {
    const struct trodden_register_slot *end, *slot = slots_of(image, info, &end);
    while (slot < end && !slot->of_call_path)
        slot++;
    return slot < end ? locate_slot(slot, image, scratch) : no_slot;
}
