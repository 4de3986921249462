/* The active frames of a thread: which instrumented calls have not returned, when the process ends, forks or executes
 * another program. */
#include "platform/system.h"
#include "process/process.h"
#include "unwind/frame_step.h"
#include "unwind/stack_walk.h"

static void append_saved(struct trodden_walk *walk, struct trodden_frames *frames) {
    uint32_t limit = walk->interrupted ? TRODDEN_MAX_SAVED_REGISTERS : TRODDEN_MAX_SAVED_REGISTERS / 2;
    if (!frames->saved || frames->saved_count >= limit)
        return;
    struct trodden_saved_registers *saved = &frames->saved[frames->saved_count++];
    trodden_walk_save_registers(walk, saved);
    saved->thread = frames->entries[frames->count - 1].thread;
    saved->frame = frames->count - 1;
}

/* Appends the frame with walk->regs; false if it is not in a module with units. */
static bool append_frame(const struct trodden_walk *walk, struct trodden_frames *frames, uint32_t thread) {
    const struct trodden_module *module = trodden_module_of(walk->regs.pc);
    if (module)
        frames->entries[frames->count++] = (struct trodden_frame){
            .thread = thread, .module = module->index, .address = walk->regs.pc - module->bias};
    return module;
}

/* Registers are saved for the frames of a thread that a signal has stopped (`stopped`), not only for the interrupted
 * one: a call to a function that can only return has no call site record, and its caller can be located by registers
 * alone. */
static void complete_frame(struct trodden_walk *walk, struct trodden_frames *frames, bool stopped) {
    struct trodden_frame *frame = &frames->entries[frames->count - 1];
    if (trodden_walk_read_path_register(walk, &frame->slot_value))
        frame->flags |= TRODDEN_FRAME_SLOT_KNOWN;
    if (walk->interrupted)
        frame->flags |= TRODDEN_FRAME_INTERRUPTED;
    if (stopped)
        append_saved(walk, frames);
}

static void drop_last(struct trodden_frames *frames) {
    frames->count--;
    if (frames->saved_count && frames->saved[frames->saved_count - 1].frame == frames->count)
        frames->saved_count--;
}

/* Was the frame with walk->regs left by an unwinder that is still at work?  `*leaving`: it had left the one inside. */
static bool was_left(const struct trodden_walk *walk, const struct trodden_unwinding *unwinding, bool *leaving) {
    if (!unwinding)
        return false;
    uint64_t sp = walk->regs.r[TRODDEN_SP];
    *leaving = *leaving || (walk->regs.pc == unwinding->first_pc && sp == unwinding->first_sp);
    return *leaving && sp <= unwinding->last_sp;
}

struct trodden_frames trodden_collect_frames(const struct trodden_regs *regs, uint32_t thread, bool interrupted,
                                             const struct trodden_unwinding *unwinding) {
    struct trodden_frames frames = {.incomplete = true, .bytes = TRODDEN_MAX_FRAMES * sizeof(struct trodden_frame)};
    struct trodden_walk *walk = trodden_map(sizeof *walk);
    frames.entries = trodden_map(frames.bytes);
    frames.saved = trodden_map(TRODDEN_MAX_SAVED_REGISTERS * sizeof *frames.saved);
    if (walk && frames.entries) {
        trodden_walk_start(walk, regs);
        bool last_is_ours = interrupted && append_frame(walk, &frames, thread);
        bool stopped = interrupted, leaving = false;
        for (uint32_t depth = 0; depth < TRODDEN_MAX_FRAMES - 1; depth++) {
            enum trodden_step step = trodden_walk_describe(walk);
            stopped = stopped || (depth && walk->interrupted);
            if (step == TRODDEN_STEPPED && last_is_ours)
                complete_frame(walk, &frames, stopped);
            if (step == TRODDEN_STEPPED)
                step = trodden_walk_step(walk);
            /* The outermost function started the program or the thread; it is never instrumented. */
            if (step == TRODDEN_OUTERMOST && last_is_ours)
                drop_last(&frames);
            frames.incomplete = step != TRODDEN_OUTERMOST;
            if (step != TRODDEN_STEPPED)
                break;
            last_is_ours = !was_left(walk, unwinding, &leaving) && append_frame(walk, &frames, thread);
        }
    }
    trodden_unmap(walk, sizeof *walk);
    return frames;
}

void trodden_frames_free(struct trodden_frames *frames) {
    trodden_unmap(frames->entries, frames->bytes);
    trodden_unmap(frames->saved, TRODDEN_MAX_SAVED_REGISTERS * sizeof *frames->saved);
    *frames = (struct trodden_frames){.entries = NULL};
}
