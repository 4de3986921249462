/* Walks over the frames of a stack (stack_walk.c, collect_frames.c).  The callers of all these hold the lock. */
#ifndef TRODDEN_UNWIND_STACK_WALK_H
#define TRODDEN_UNWIND_STACK_WALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/live_file.h"
#include "unwind/registers.h"

/* ---- collect_frames.c: the active frames of a thread ---- */
#define TRODDEN_MAX_SAVED_REGISTERS 32

struct trodden_frames {
    struct trodden_frame *entries;
    struct trodden_saved_registers *saved; /* of the first frames that were interrupted, or wait for one that was */
    uint32_t count, saved_count;
    bool incomplete; /* the walk did not reach the outermost frame */
    size_t bytes;
};

/* An unwinder has left the frames from the one with this program counter and stack pointer outwards, up to the one with
 * the last stack pointer (0: none), and has not landed yet: they are recorded, but still on the stack. */
struct trodden_unwinding {
    uint64_t first_pc, first_sp, last_sp;
};

/* The frames that return into a module with units, innermost first, without those that an unwinder has left; and the
 * frame with these registers itself, if it was interrupted.  `unwinding` may be NULL. */
struct trodden_frames trodden_collect_frames(const struct trodden_regs *regs, uint32_t thread, bool interrupted,
                                             const struct trodden_unwinding *unwinding);
void trodden_frames_free(struct trodden_frames *frames);

/* ---- stack_walk.c: the frames that a non-local exit leaves ---- */
enum trodden_walk_result {
    TRODDEN_WALK_FOUND,
    TRODDEN_WALK_LOST,        /* a frame could not be read */
    TRODDEN_WALK_OTHER_STACK, /* the stack ends without such a frame */
};

/* The state of one frame. */
struct trodden_frame_state {
    uintptr_t pc; /* its return address */
    uint64_t slot_value;
    bool slot_known;                             /* `slot_value` is its path register */
    bool interrupted;                            /* by a signal: `pc` is the interrupted instruction */
    uint64_t cfa;                                /* or 0 */
    const struct trodden_saved_registers *saved; /* of an interrupted frame in code with probes */
};

typedef void trodden_frame_visitor(const struct trodden_frame_state *frame, void *context);

/* The state of the frame with these registers; `*call_node` becomes the node of the call-path tree that its function
 * found at entry, or 0. */
struct trodden_frame_state trodden_frame_state_of(const struct trodden_regs *regs, bool interrupted,
                                                  uint64_t *call_node);

/* The CFA of the frame with these registers, which waits for a call to return; 0 if it is not known, or if the frame
 * is at the first instruction of a function. */
uint64_t trodden_cfa_of(const struct trodden_regs *regs);

/* Visits the frames of a stack up to the one with that CFA, or else to the outermost.  `include_innermost`: also the
 * frame with these registers, which waits for a call to return.  `across_signals`: also the frames that a signal
 * handler interrupted. */
enum trodden_walk_result trodden_walk_stack(const struct trodden_regs *regs, uint64_t cfa, bool include_innermost,
                                            bool across_signals, trodden_frame_visitor *visit, void *context);

/* Visits the frames from the caller's up to and including the one that contains the address `sp`. */
enum trodden_walk_result trodden_walk_to(const struct trodden_regs *regs, uint64_t sp, trodden_frame_visitor *visit,
                                         void *context);

#endif
