/* Counts from before the module is relocated (early_counts.c). */
#ifndef TRODDEN_COUNTERS_EARLY_COUNTS_H
#define TRODDEN_COUNTERS_EARLY_COUNTS_H

#include <stdbool.h>
#include <stdint.h>

#include "trodden.h"

/* Adds what this module has counted so far to its counters.  Called when it has been registered. */
void trodden_early_counts_fold(void);

/* For functions that instrumented code calls.  While an ifunc resolver runs: */
bool trodden_early_note(const struct trodden_unit *unit, uint64_t key, uint64_t value, uint64_t amount);
struct trodden_call_node *trodden_early_call_node(void);
bool trodden_early_trace_full(void);
/* Otherwise they return false and NULL. */

#endif
