/* Walks over the frames that a non-local exit leaves. */
#include <string.h>

#include "platform/system.h"
#include "process/process.h"
#include "unwind/frame_cache.h"
#include "unwind/frame_step.h"
#include "unwind/stack_walk.h"

/* By a signal? A signal that the program sends to itself arrives right behind a system call, which is a location like
 * that of any other call. */
static bool is_interrupted(const struct trodden_walk *walk) {
#ifdef __x86_64__
    static const uint8_t code[] = {0x0f, 0x05};
#else
    static const uint8_t code[] = {0x01, 0x00, 0x00, 0xd4};
#endif
    uintptr_t before = walk->regs.pc - sizeof code;
    return walk->interrupted && !(walk->image && trodden_image_contains(walk->image, before, sizeof code) &&
                                  memcmp((const void *)before, code, sizeof code) == 0);
}

/* Of a frame that was interrupted in code with probes.  There is only one buffer; the caller holds the lock. */
static const struct trodden_saved_registers *saved_registers_of(struct trodden_walk *walk) {
    static struct trodden_saved_registers *saved;
    if (!is_interrupted(walk) || !trodden_module_of(walk->regs.pc))
        return NULL;
    if (!saved && !(saved = trodden_map(sizeof *saved)))
        return NULL;
    trodden_walk_save_registers(walk, saved);
    return saved;
}

/* It is too large for the stack of a signal handler; NULL: out of memory. */
static struct trodden_walk *shared_walk(void) {
    static struct trodden_walk *walk;
    if (!walk)
        walk = trodden_map(sizeof *walk);
    return walk;
}

struct trodden_frame_state trodden_frame_state_of(const struct trodden_regs *regs, bool interrupted,
                                                  uint64_t *call_node) {
    struct trodden_frame_state frame = {regs->pc, 0, false, interrupted, 0, NULL};
    struct trodden_walk *walk = shared_walk();
    *call_node = 0;
    if (!walk)
        return frame;
    trodden_walk_start(walk, regs);
    walk->interrupted = interrupted;
    bool described = trodden_walk_describe(walk) == TRODDEN_STEPPED && walk->cfa;
    frame.interrupted = is_interrupted(walk);
    frame.saved = saved_registers_of(walk);
    frame.cfa = described ? walk->cfa : 0;
    if (!described)
        return frame;
    if (!interrupted)
        trodden_cache_frame(walk->regs.pc, false, walk->image, &walk->info, trodden_walk_slot(walk));
    frame.slot_known = trodden_walk_read_path_register(walk, &frame.slot_value);
    if (trodden_process.call_paths.current &&
        !trodden_walk_read_slot(walk, trodden_find_call_slot(walk->image, &walk->info, &walk->scratch), call_node))
        *call_node = 0;
    return frame;
}

/* The frame that a jump goes to is recognized by the stack pointer that setjmp saved there: it lies at or above the
 * frame's current stack pointer, and below its CFA. */
enum trodden_walk_result trodden_walk_to(const struct trodden_regs *regs, uint64_t sp, trodden_frame_visitor *visit,
                                         void *context) {
    struct trodden_walk *walk = shared_walk();
    if (!walk)
        return TRODDEN_WALK_LOST;
    trodden_walk_start(walk, regs);
    for (uint32_t depth = 0; depth < TRODDEN_MAX_FRAMES; depth++) {
        enum trodden_step step = trodden_walk_describe(walk);
        if (step == TRODDEN_STEPPED && walk->cfa && (!depth || !walk->interrupted))
            trodden_cache_frame(walk->regs.pc, !depth, walk->image, &walk->info, trodden_walk_slot(walk));
        if (depth) {
            struct trodden_frame_state frame = {walk->regs.pc,        0, false,
                                                is_interrupted(walk), 0, saved_registers_of(walk)};
            frame.slot_known = step == TRODDEN_STEPPED && trodden_walk_read_path_register(walk, &frame.slot_value);
            visit(&frame, context);
        }
        if (step == TRODDEN_STEPPED && depth && !walk->info.signal_frame && walk->regs.r[TRODDEN_SP] <= sp &&
            sp < walk->cfa)
            return TRODDEN_WALK_FOUND;
        if (step == TRODDEN_STEPPED)
            step = trodden_walk_step(walk);
        if (step != TRODDEN_STEPPED)
            return step == TRODDEN_UNREADABLE ? TRODDEN_WALK_LOST : TRODDEN_WALK_OTHER_STACK;
    }
    return TRODDEN_WALK_LOST;
}

uint64_t trodden_cfa_of(const struct trodden_regs *regs) {
    struct trodden_walk *walk = shared_walk();
    if (!walk)
        return 0;
    trodden_walk_start(walk, regs);
    if (trodden_walk_describe(walk) != TRODDEN_STEPPED || walk->info.function_start == regs->pc)
        return 0;
    trodden_walk_start(walk, regs);
    walk->interrupted = false;
    return trodden_walk_describe(walk) == TRODDEN_STEPPED ? walk->cfa : 0;
}

enum trodden_walk_result trodden_walk_stack(const struct trodden_regs *regs, uint64_t cfa, bool include_innermost,
                                            bool across_signals, trodden_frame_visitor *visit, void *context) {
    struct trodden_walk *walk = shared_walk();
    if (!walk)
        return TRODDEN_WALK_LOST;
    trodden_walk_start(walk, regs);
    walk->interrupted = !include_innermost;
    for (uint32_t depth = 0; depth < TRODDEN_MAX_FRAMES; depth++) {
        enum trodden_step step = trodden_walk_describe(walk);
        if (step == TRODDEN_STEPPED && !across_signals && (!walk->cfa || walk->info.signal_frame))
            return TRODDEN_WALK_OTHER_STACK;
        if (depth || include_innermost) {
            struct trodden_frame_state frame = {walk->regs.pc,        0,         false,
                                                is_interrupted(walk), walk->cfa, saved_registers_of(walk)};
            frame.slot_known = step == TRODDEN_STEPPED && trodden_walk_read_path_register(walk, &frame.slot_value);
            visit(&frame, context);
        }
        if (step == TRODDEN_STEPPED && cfa && depth && walk->cfa == cfa)
            return TRODDEN_WALK_FOUND;
        if (step == TRODDEN_STEPPED)
            step = trodden_walk_step(walk);
        if (step != TRODDEN_STEPPED)
            return step == TRODDEN_UNREADABLE ? TRODDEN_WALK_LOST : TRODDEN_WALK_OTHER_STACK;
    }
    return TRODDEN_WALK_LOST;
}
