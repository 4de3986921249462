/* Frames that a signal interrupted and that were then left for good (abandoned_frames.c).  The callers hold the
 * lock. */
#ifndef TRODDEN_UNWIND_ABANDONED_FRAMES_H
#define TRODDEN_UNWIND_ABANDONED_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "counters/live_file.h"
#include "unwind/stack_walk.h"

typedef void trodden_abandoned_visitor(const struct trodden_frame *frame, struct trodden_saved_registers *saved,
                                       void *context);

bool trodden_abandoned_record(const struct trodden_frame_state *frame); /* false: there is no space left */
uint32_t trodden_abandoned_count(void);
void trodden_abandoned_visit(trodden_abandoned_visitor *visit, void *context);
void trodden_abandoned_reset(void); /* in a forked child */

#endif
