/* Frames that an unwinder leaves (personality.c). */
#ifndef TRODDEN_UNWIND_PERSONALITY_H
#define TRODDEN_UNWIND_PERSONALITY_H

#include <stdint.h>

#include "platform/attributes.h"

struct _Unwind_Context;
struct trodden_unwinder;

const struct trodden_unwinder *trodden_own_unwinder(void); /* the one that this module is linked with, or NULL */

/* The unwinder that returns to `caller` leaves the frame of `context`. */
PROCESS_WIDE void __trodden_passed(struct _Unwind_Context *context, uintptr_t caller);
/* Control goes on in the frame of `context`, in the middle of its function. */
PROCESS_WIDE void __trodden_landed(struct _Unwind_Context *context, uintptr_t caller);
/* An unwinder is about to land in a function, or begins. */
PROCESS_WIDE void __trodden_landing(void);
/* Functions that are inlined at the call which returns to `pc` are left. */
PROCESS_WIDE void __trodden_left_at(uintptr_t pc);
/* The same for the call of this function. */
void __trodden_inlined_left(void);
/* The personality of functions that had none. */
int __trodden_personality(int version, int actions, uint64_t class, void *exception, struct _Unwind_Context *context);
/* Called by the wrapper around a function's own personality with the reason code that this returned. */
int __trodden_answered(int reason, int actions, struct _Unwind_Context *context, void *caller);

#endif
