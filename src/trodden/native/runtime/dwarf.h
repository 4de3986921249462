/* The parts of the stack walk: bytes of unwinding tables, expressions, one step. */
#ifndef TRODDEN_DWARF_H
#define TRODDEN_DWARF_H

#include "internal.h"

/* Bytes being read.  Reading past the end answers zeros and says so in `bad`, so that callers check once. */
struct trodden_byte_reader {
    const uint8_t *next, *end;
    bool overrun;
};

static inline uint64_t trodden_read_unsigned(struct trodden_byte_reader *in, unsigned size) {
    uint64_t value = 0;
    if (in->overrun || (size_t)(in->end - in->next) < size) {
        in->overrun = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)in->next[i] << (8 * i);
    in->next += size;
    return value;
}

static inline int64_t trodden_read_signed(struct trodden_byte_reader *in, unsigned size) {
    unsigned shift = 64 - 8 * size;
    return (int64_t)(trodden_read_unsigned(in, size) << shift) >> shift;
}

static inline uint64_t trodden_read_uleb(struct trodden_byte_reader *in) {
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = trodden_read_unsigned(in, 1);
        if (shift < 64)
            value |= (byte & 0x7F) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

static inline int64_t trodden_read_sleb(struct trodden_byte_reader *in) {
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = trodden_read_unsigned(in, 1);
        if (shift < 64)
            value |= (byte & 0x7F) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

static inline struct trodden_byte_reader trodden_read_block(struct trodden_byte_reader *in, uint64_t length) {
    struct trodden_byte_reader part = {in->next, in->next, in->overrun};
    if (in->overrun || length > (uint64_t)(in->end - in->next)) {
        in->overrun = part.overrun = true;
        return part;
    }
    in->next += length;
    part.end = in->next;
    return part;
}

/* Memory that may not be there: a wrong table must not crash the program that is being measured. */
struct trodden_page_copy {
    uintptr_t page; /* 0: none */
    uint64_t words[512];
};

bool trodden_read_memory(struct trodden_page_copy *page_copy, uintptr_t address, unsigned size, uint64_t *value);

/* A DWARF expression, on a stack that holds `initial` (if not NULL). */
bool trodden_evaluate_expression(const uint8_t *block, const struct trodden_image *image, const struct trodden_regs *regs,
                      struct trodden_page_copy *page_copy, const uint64_t *initial, uint64_t *result);

/* aarch64 may sign return addresses in their upper bits; where it does not, this instruction does nothing. */
static inline uint64_t trodden_strip_pointer_auth(uint64_t address) {
#ifdef __aarch64__
    register uint64_t x30 __asm__("x30") = address;
    __asm__("hint #7" : "+r"(x30));
    return x30;
#else
    return address;
#endif
}

/* How a caller's register is found from the callee's frame. */
enum trodden_cfi_rule_kind { RULE_SAME_VALUE, RULE_UNDEFINED, RULE_OFFSET, RULE_VAL_OFFSET, RULE_REGISTER, RULE_EXPRESSION, RULE_VAL_EXPRESSION };

struct trodden_cfi_rule {
    enum trodden_cfi_rule_kind kind;
    int64_t value; /* offset, register, or address of the expression's length */
};

struct trodden_cfi_row {
    struct trodden_cfi_rule columns[TRODDEN_COLUMNS];
    const uint8_t *cfa_expression; /* or NULL: */
    uint64_t cfa_column;
    int64_t cfa_offset;
};

#define TRODDEN_CFI_STATE_DEPTH 16

struct trodden_frame_info {
    struct trodden_cfi_row row;
    uintptr_t function_start, function_size; /* of the function */
    uint64_t return_column;
    bool signal_frame;
    struct trodden_cfi_row initial, state_stack[TRODDEN_CFI_STATE_DEPTH];
};

/* The row of the unwinding table for `pc`; false if there is none, or none that can be read. */
bool trodden_find_cfi_row(const struct trodden_image *image, uintptr_t pc, struct trodden_frame_info *info);

/* Where in its frame a function's cell lies: at a distance from a register, or from the CFA, less what was
 * pushed, rounded down. */
struct trodden_slot_location {
    enum { NO_SLOT, SLOT_FROM_CFA, SLOT_FROM_REGISTER } kind;
    unsigned base; /* the register */
    int32_t displacement;
    uint32_t pushed_bytes, alignment;
};

static inline uint64_t trodden_slot_address(uint64_t cfa, uint32_t pushed, uint32_t alignment, int32_t distance) {
    return ((cfa - pushed) & -(uint64_t)alignment) + (uint64_t)(int64_t)distance;
}

/* That of the function that `facts` describe; `room` is overwritten.  The caller holds the lock. */
struct trodden_slot_location trodden_find_register_slot(const struct trodden_image *image,
                                            const struct trodden_frame_info *info,
                                            struct trodden_frame_info *scratch);

/* The same for the cell with what it has found in the thread's place among call paths. */
struct trodden_slot_location trodden_find_call_slot(const struct trodden_image *image,
                                                 const struct trodden_frame_info *info,
                                                 struct trodden_frame_info *scratch);

/* ---- plain.c: frames that jumps have passed before; the caller holds the lock ---- */
/* Remembers the frame with that return address, or that is there if it is the `lowest`, unless it is odd. */
void trodden_cache_frame(uintptr_t pc, bool innermost, const struct trodden_image *image,
                        const struct trodden_frame_info *info, struct trodden_slot_location slot);

#endif
