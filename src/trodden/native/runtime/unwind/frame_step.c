/* One step of a stack walk.  Only call frame information is used: a frame that it does not describe ends the walk.
 * Nothing is allocated; the list of loaded images has been made before. */
#include <string.h>

#include "process/process.h"
#include "unwind/expression.h"
#include "unwind/frame_step.h"

static bool register_value(struct trodden_walk *walk, const struct trodden_image *image, unsigned column,
                           uint64_t cfa, uint64_t *value) {
    const struct trodden_cfi_rule *rule = &walk->info.row.columns[column];
    const uint8_t *expression = (const uint8_t *)(intptr_t)rule->value;
    switch (rule->kind) {
    case RULE_SAME_VALUE: *value = walk->regs.r[column]; return walk->regs.known >> column & 1;
    case RULE_OFFSET: return trodden_read_memory(&walk->page_copy, cfa + (uint64_t)rule->value, 8, value);
    case RULE_VAL_OFFSET: *value = cfa + (uint64_t)rule->value; return true;
    case RULE_REGISTER:
        if ((uint64_t)rule->value >= TRODDEN_COLUMNS || !(walk->regs.known >> rule->value & 1))
            return false;
        *value = walk->regs.r[rule->value];
        return true;
    case RULE_EXPRESSION:
        return trodden_evaluate_expression(expression, image, &walk->regs, &walk->page_copy, &cfa, value) &&
               trodden_read_memory(&walk->page_copy, *value, 8, value);
    case RULE_VAL_EXPRESSION:
        return trodden_evaluate_expression(expression, image, &walk->regs, &walk->page_copy, &cfa, value);
    case RULE_UNDEFINED: break;
    }
    return false;
}

static bool find_cfa(struct trodden_walk *walk, const struct trodden_image *image, uint64_t *cfa) {
    const struct trodden_cfi_row *row = &walk->info.row;
    if (row->cfa_expression)
        return trodden_evaluate_expression(row->cfa_expression, image, &walk->regs, &walk->page_copy, NULL, cfa);
    if (row->cfa_column >= TRODDEN_COLUMNS || !(walk->regs.known >> row->cfa_column & 1))
        return false;
    *cfa = walk->regs.r[row->cfa_column] + (uint64_t)row->cfa_offset;
    return true;
}

static bool code_matches(struct trodden_walk *walk, const uint8_t *code, unsigned size) {
    uintptr_t pc = walk->regs.pc;
    if (walk->image)
        return trodden_image_contains(walk->image, pc, size) && memcmp((const void *)pc, code, size) == 0;
    for (unsigned i = 0; i < size; i++) {
        uint64_t byte;
        if (!trodden_read_memory(&walk->page_copy, pc + i, 1, &byte) || byte != code[i])
            return false;
    }
    return true;
}

/* musl has no unwinding table for its return from signal handlers, and in a static program the kernel's lies in no
 * image.  Both are recognized by their two instructions, and the registers lie where the kernel has put them. */
static bool step_over_sigreturn(struct trodden_walk *walk) {
#ifdef __x86_64__
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
    static const uint8_t order[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7};
    const uint64_t from = 40;
#else
    static const uint8_t code[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
    static const uint8_t order[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    const uint64_t from = 128 + 176 + 8;
#endif
    if (!code_matches(walk, code, sizeof code))
        return false;
    uint64_t at = walk->regs.r[TRODDEN_SP] + from;
    for (unsigned i = 0; i < sizeof order; i++, at += 8)
        if (!trodden_read_memory(&walk->page_copy, at, 8, &walk->caller.r[order[i]]))
            return false;
    walk->caller.known = ((uint64_t)1 << sizeof order) - 1;
    return trodden_read_memory(&walk->page_copy, at, 8, &walk->caller.pc);
}

enum trodden_step trodden_walk_describe(struct trodden_walk *walk) {
    uintptr_t pc = walk->interrupted ? walk->regs.pc : walk->regs.pc - 1;
    walk->image = trodden_image_of(trodden_process.images, pc);
    walk->cfa = 0;
    bool described = walk->image && trodden_find_cfi_row(walk->image, pc, &walk->info);
    /* The table entry may belong to the function that ends right before, since the return from a signal handler is
     * not preceded by a call. */
    if (!walk->interrupted && !(described && walk->info.signal_frame) && step_over_sigreturn(walk))
        return TRODDEN_STEPPED;
    if (!described) {
        /* Startup code in assembly language marks the outermost frame by a frame pointer of zero, as the ABI asks. */
        bool last = walk->image && walk->regs.known >> TRODDEN_FP & 1 && walk->regs.r[TRODDEN_FP] == 0;
        return last ? TRODDEN_OUTERMOST : TRODDEN_UNREADABLE;
    }
    if (walk->info.return_column >= TRODDEN_COLUMNS)
        return TRODDEN_UNREADABLE;
    if (walk->info.row.columns[walk->info.return_column].kind == RULE_UNDEFINED)
        return TRODDEN_OUTERMOST;
    if (!find_cfa(walk, walk->image, &walk->cfa) || !walk->cfa)
        return TRODDEN_UNREADABLE;
    /* Stacks grow down, and callers lie above; only a frame that has called nothing may be empty.  A signal handler
     * may run on a stack of its own, so that nothing is known across a signal. */
    uint64_t sp = walk->regs.r[TRODDEN_SP];
    if (!walk->info.signal_frame && (walk->cfa < sp || (walk->cfa == sp && !walk->innermost)))
        return TRODDEN_UNREADABLE;
    return TRODDEN_STEPPED;
}

enum trodden_step trodden_walk_step(struct trodden_walk *walk) {
    if (!walk->cfa) {
        walk->regs = walk->caller;
        walk->interrupted = walk->innermost = true;
        return TRODDEN_STEPPED;
    }
    const struct trodden_image *image = walk->image;
    uint64_t cfa = walk->cfa, return_column = walk->info.return_column, return_address;
    if (!register_value(walk, image, (unsigned)return_column, cfa, &return_address))
        return TRODDEN_UNREADABLE;
    walk->caller.known = 0;
    for (unsigned i = 0; i < TRODDEN_COLUMNS; i++)
        if (register_value(walk, image, i, cfa, &walk->caller.r[i]))
            walk->caller.known |= (uint64_t)1 << i;
    if (walk->info.row.columns[TRODDEN_SP].kind == RULE_SAME_VALUE) {
        walk->caller.r[TRODDEN_SP] = cfa;
        walk->caller.known |= (uint64_t)1 << TRODDEN_SP;
    }
    walk->caller.pc = trodden_strip_pointer_auth(return_address);
    walk->regs = walk->caller;
    walk->interrupted = walk->innermost = walk->info.signal_frame;
    return walk->regs.pc ? TRODDEN_STEPPED : TRODDEN_OUTERMOST;
}

struct trodden_slot_location trodden_walk_slot(struct trodden_walk *walk) {
    if (!walk->cfa || walk->info.signal_frame)
        return (struct trodden_slot_location){NO_SLOT, 0, 0, 0, 0};
    if (walk->slot_function != walk->info.function_start) {
        walk->slot = trodden_find_register_slot(walk->image, &walk->info, &walk->scratch);
        walk->slot_function = walk->info.function_start;
    }
    return walk->slot;
}

bool trodden_walk_read_slot(struct trodden_walk *walk, struct trodden_slot_location slot, uint64_t *value) {
    uint64_t address = trodden_slot_address(walk->cfa, slot.pushed_bytes, slot.alignment, slot.displacement);
    uint64_t sp = walk->regs.r[TRODDEN_SP];
    if (slot.kind == SLOT_FROM_REGISTER) {
        if (!(walk->regs.known >> slot.base & 1))
            return false;
        address = walk->regs.r[slot.base] + (uint64_t)(int64_t)slot.displacement;
    }
    return slot.kind != NO_SLOT && address >= sp && address < walk->cfa && walk->cfa - address >= 8 &&
           trodden_read_memory(&walk->page_copy, address, 8, value);
}

/* Copies part of the stack, word by word: some of it may be unmapped. */
static uint64_t copy_stack(struct trodden_walk *walk, uint64_t from, uint8_t *buffer) {
    for (unsigned i = 0; i < TRODDEN_STACK_SAMPLE; i += 8) {
        uint64_t word = 0;
        trodden_read_memory(&walk->page_copy, from + i, 8, &word);
        memcpy(buffer + i, &word, sizeof word);
    }
    return from;
}

/* A leaf function may keep values below its stack pointer. */
#ifdef __x86_64__
#define RED_ZONE 128u
#else
#define RED_ZONE 0u
#endif

void trodden_walk_save_registers(struct trodden_walk *walk, struct trodden_saved_registers *saved) {
    *saved = (struct trodden_saved_registers){.pc = walk->regs.pc, .cfa = walk->cfa, .known = walk->regs.known};
    memcpy(saved->r, walk->regs.r, sizeof walk->regs.r);
    uint64_t sp = walk->regs.r[TRODDEN_SP];
    saved->low_address = copy_stack(walk, sp - RED_ZONE, saved->low_bytes);
    if (walk->cfa >= sp + TRODDEN_STACK_SAMPLE)
        saved->high_address = copy_stack(walk, walk->cfa - TRODDEN_STACK_SAMPLE, saved->high_bytes);
}
