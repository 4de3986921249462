/* Call frame information: from a program counter to the rules that recover the caller's registers (cfi.c). */
#ifndef TRODDEN_UNWIND_CFI_H
#define TRODDEN_UNWIND_CFI_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/images.h"
#include "unwind/registers.h"

/* Removes a pointer authentication code from a return address.  Where aarch64 does not sign return addresses, the
 * instruction is a no-op. */
static inline uint64_t trodden_strip_pointer_auth(uint64_t address) {
#ifdef __aarch64__
    register uint64_t x30 __asm__("x30") = address;
    __asm__("hint #7" : "+r"(x30));
    return x30;
#else
    return address;
#endif
}

/* The register rules of DWARF 5, 6.4.1. */
enum trodden_cfi_rule_kind {
    RULE_SAME_VALUE,
    RULE_UNDEFINED,
    RULE_OFFSET,
    RULE_VAL_OFFSET,
    RULE_REGISTER,
    RULE_EXPRESSION,
    RULE_VAL_EXPRESSION
};

struct trodden_cfi_rule {
    enum trodden_cfi_rule_kind kind;
    int64_t value; /* offset, register number, or address of the expression's length */
};

/* One row of the unwinding table: how the CFA and the caller's registers are computed at one program counter. */
struct trodden_cfi_row {
    struct trodden_cfi_rule columns[TRODDEN_COLUMNS];
    const uint8_t *cfa_expression; /* NULL: the CFA is r[cfa_column] + cfa_offset */
    uint64_t cfa_column;
    int64_t cfa_offset;
};

#define TRODDEN_CFI_STATE_DEPTH 16

struct trodden_frame_info {
    struct trodden_cfi_row row;
    uintptr_t function_start, function_size;
    uint64_t return_column;
    bool signal_frame;
    struct trodden_cfi_row initial, state_stack[TRODDEN_CFI_STATE_DEPTH]; /* while the row is computed */
};

/* The row for `pc`; false if the image has none, or none that can be read. */
bool trodden_find_cfi_row(const struct trodden_image *image, uintptr_t pc, struct trodden_frame_info *info);

#endif
