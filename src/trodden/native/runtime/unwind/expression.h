/* DWARF expressions in call frame information (expression.c). */
#ifndef TRODDEN_UNWIND_EXPRESSION_H
#define TRODDEN_UNWIND_EXPRESSION_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/images.h"
#include "unwind/read_memory.h"
#include "unwind/registers.h"

/* Evaluates the expression at `block`, which starts with its length as ULEB128.  The DWARF stack holds `*initial` at
 * first, unless `initial` is NULL. */
bool trodden_evaluate_expression(const uint8_t *block, const struct trodden_image *image,
                                 const struct trodden_regs *regs, struct trodden_page_copy *page_copy,
                                 const uint64_t *initial, uint64_t *result);

#endif
