/* One step of a stack walk: describe a frame, read its slots, go on to its caller (frame_step.c). */
#ifndef TRODDEN_UNWIND_FRAME_STEP_H
#define TRODDEN_UNWIND_FRAME_STEP_H

#include <stdbool.h>
#include <stdint.h>

#include "counters/live_file.h"
#include "platform/images.h"
#include "unwind/cfi.h"
#include "unwind/read_memory.h"
#include "unwind/register_slots.h"
#include "unwind/registers.h"

#define TRODDEN_MAX_FRAMES ((uint32_t)1 << 20)

enum trodden_step { TRODDEN_STEPPED, TRODDEN_OUTERMOST, TRODDEN_UNREADABLE };

/* The state of a walk.  It is too large for the stack of a signal handler. */
struct trodden_walk {
    struct trodden_regs regs, caller;
    const struct trodden_image *image; /* the one that contains regs.pc */
    uint64_t cfa;                      /* of the frame with these registers; 0: it has no unwinding table */
    bool interrupted;                  /* regs.pc is the interrupted instruction, not a return address */
    bool innermost;                    /* no frame below bounds the address of this one */
    struct trodden_page_copy page_copy;
    struct trodden_frame_info info, scratch;
    uintptr_t slot_function; /* the function that `slot` belongs to; 0: none */
    struct trodden_slot_location slot;
};

static inline void trodden_walk_start(struct trodden_walk *walk, const struct trodden_regs *regs) {
    walk->regs = *regs;
    walk->interrupted = walk->innermost = true;
    walk->page_copy.page = 0;
    walk->slot_function = 0;
}

/* Finds the unwinding information of the frame with walk->regs. */
enum trodden_step trodden_walk_describe(struct trodden_walk *walk);
/* Goes from a frame that has been described to its caller. */
enum trodden_step trodden_walk_step(struct trodden_walk *walk);
/* Of the frame that has been described: the location of its path-register slot, and the contents of a slot. */
struct trodden_slot_location trodden_walk_slot(struct trodden_walk *walk);
bool trodden_walk_read_slot(struct trodden_walk *walk, struct trodden_slot_location slot, uint64_t *value);
void trodden_walk_save_registers(struct trodden_walk *walk, struct trodden_saved_registers *saved);

static inline bool trodden_walk_read_path_register(struct trodden_walk *walk, uint64_t *value) {
    return trodden_walk_read_slot(walk, trodden_walk_slot(walk), value);
}

#endif
