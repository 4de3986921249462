/* The parts of the stack walk: bytes of unwinding tables, expressions, one step. */
#ifndef TRODDEN_DWARF_H
#define TRODDEN_DWARF_H

#include "internal.h"

/* Bytes being read.  Reading past the end answers zeros and says so in `bad`, so that callers check once. */
struct trodden_bytes {
    const uint8_t *at, *end;
    bool bad;
};

static inline uint64_t trodden_take(struct trodden_bytes *in, unsigned size) {
    uint64_t value = 0;
    if (in->bad || (size_t)(in->end - in->at) < size) {
        in->bad = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)in->at[i] << (8 * i);
    in->at += size;
    return value;
}

static inline int64_t trodden_take_signed(struct trodden_bytes *in, unsigned size) {
    unsigned shift = 64 - 8 * size;
    return (int64_t)(trodden_take(in, size) << shift) >> shift;
}

static inline uint64_t trodden_uleb(struct trodden_bytes *in) {
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = trodden_take(in, 1);
        if (shift < 64)
            value |= (byte & 0x7F) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

static inline int64_t trodden_sleb(struct trodden_bytes *in) {
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = trodden_take(in, 1);
        if (shift < 64)
            value |= (byte & 0x7F) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

static inline struct trodden_bytes trodden_part(struct trodden_bytes *in, uint64_t length) {
    struct trodden_bytes part = {in->at, in->at, in->bad};
    if (in->bad || length > (uint64_t)(in->end - in->at)) {
        in->bad = part.bad = true;
        return part;
    }
    in->at += length;
    part.end = in->at;
    return part;
}

/* Memory that may not be there: a wrong table must not crash the program that is being measured. */
struct trodden_window {
    uintptr_t page; /* 0: none */
    uint64_t words[512];
};

bool trodden_peek(struct trodden_window *window, uintptr_t address, unsigned size, uint64_t *value);

/* A DWARF expression, on a stack that holds `initial` (if not NULL). */
bool trodden_evaluate(const uint8_t *block, const struct trodden_image *image, const struct trodden_regs *regs,
                      struct trodden_window *window, const uint64_t *initial, uint64_t *result);

/* aarch64 may sign return addresses in their upper bits; where it does not, this instruction does nothing. */
static inline uint64_t trodden_strip_signature(uint64_t address) {
#ifdef __aarch64__
    register uint64_t x30 __asm__("x30") = address;
    __asm__("hint #7" : "+r"(x30));
    return x30;
#else
    return address;
#endif
}

/* How a caller's register is found from the callee's frame. */
enum trodden_rule_kind { SAME, UNDEFINED, AT_OFFSET, IS_OFFSET, IN_REGISTER, AT_EXPRESSION, IS_EXPRESSION };

struct trodden_rule {
    enum trodden_rule_kind kind;
    int64_t value; /* offset, register, or address of the expression's length */
};

struct trodden_row {
    struct trodden_rule columns[TRODDEN_COLUMNS];
    const uint8_t *cfa_expression; /* or NULL: */
    uint64_t cfa_column;
    int64_t cfa_offset;
};

#define TRODDEN_REMEMBERED 16

struct trodden_frame_facts {
    struct trodden_row row;
    uintptr_t from, size; /* of the function */
    uint64_t return_column;
    bool signal_frame;
    struct trodden_row initial, remembered[TRODDEN_REMEMBERED];
};

/* The row of the unwinding table for `pc`; false if there is none, or none that can be read. */
bool trodden_find_row(const struct trodden_image *image, uintptr_t pc, struct trodden_frame_facts *facts);

/* Where in its frame a function's cell lies: at a distance from a register, or from the CFA, less what was
 * pushed, rounded down. */
struct trodden_cell_place {
    enum { NO_CELL, FROM_CFA, FROM_REGISTER } kind;
    unsigned column; /* the register */
    int32_t distance;
    uint32_t pushed, alignment;
};

static inline uint64_t trodden_below_cfa(uint64_t cfa, uint32_t pushed, uint32_t alignment, int32_t distance) {
    return ((cfa - pushed) & -(uint64_t)alignment) + (uint64_t)(int64_t)distance;
}

/* That of the function that `facts` describe; `room` is overwritten.  The caller holds the lock. */
struct trodden_cell_place trodden_find_cell(const struct trodden_image *image,
                                            const struct trodden_frame_facts *facts,
                                            struct trodden_frame_facts *room);

/* The same for the cell with what it has found in the thread's place among call paths. */
struct trodden_cell_place trodden_find_call_cell(const struct trodden_image *image,
                                                 const struct trodden_frame_facts *facts,
                                                 struct trodden_frame_facts *room);

/* ---- plain.c: frames that jumps have passed before; the caller holds the lock ---- */
/* Remembers the frame with that return address, or that is there if it is the `lowest`, unless it is odd. */
void trodden_keep_frame(uintptr_t pc, bool lowest, const struct trodden_image *image,
                        const struct trodden_frame_facts *facts, struct trodden_cell_place cell);

#endif
