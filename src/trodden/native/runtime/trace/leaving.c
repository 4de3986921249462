/* Frames that are left without returning, and stacks that are switched to, in the trace: LEFT records for the frames
 * in the order in which they are left, or a SYNC record with those that the thread goes on with.
 *
 * The frames are found by a walk of the trace's own, or in the cache of those that jumps have left before.
 *
 * Where a signal handler jumps out, the innermost frame that it has interrupted is left in a call, if it is in one: that
 * tells what was executed up to there.  Those below it wait in calls that the reader knows. */
#include <string.h>

#include "platform/system.h"
#include "process/process.h"
#include "trace/streams.h"
#include "unwind/frame_cache.h"
#include "unwind/frame_step.h"

enum { DELAYED = 64 };

void trodden_trace_left(struct trodden_trace_stream *stream, uintptr_t pc) {
    const struct trodden_module *module = trodden_module_of(pc);
    uint8_t *at = module ? trodden_trace_reserve(stream, TRODDEN_TRACE_LEFT_BYTES) : NULL;
    if (!at)
        return;
    uint64_t address = pc - module->bias;
    memcpy(at + 1, &module->index, sizeof module->index);
    memcpy(at + 5, &address, sizeof address);
    trodden_trace_commit(stream, TRODDEN_TRACE_LEFT, TRODDEN_TRACE_LEFT_BYTES);
}

/* The first frames wait until it is known that the jump does not switch to another stack: then none is left. */
struct leaving {
    struct trodden_trace_stream *stream;
    uint32_t level;     /* that of the frames that the walk has come to */
    bool interrupted;   /* a frame that is left waits for no call */
    uintptr_t waiting;  /* the innermost frame of that level, if that waits for a call: where it returns to */
    bool in_call;       /* no code with probes was interrupted itself */
    uint64_t stack;     /* where the stack begins that is left; 0: not known */
    uint32_t delayed;
    uintptr_t pcs[DELAYED];
};

static void release(struct leaving *leaving) {
    for (uint32_t i = 0; i < leaving->delayed; i++)
        trodden_trace_left(leaving->stream, leaving->pcs[i]);
    leaving->delayed = 0;
}

static void leave(struct leaving *leaving, uintptr_t pc) {
    if (leaving->level != leaving->stream->level || leaving->interrupted)
        return;
    if (leaving->delayed == DELAYED)
        release(leaving);
    leaving->pcs[leaving->delayed++] = pc;
}

/* The walk has come to a frame: has a handler of the program interrupted it? */
static void note_interruption(struct leaving *leaving, const struct trodden_walk *walk) {
    const struct trodden_trace_level *level = &leaving->stream->levels[leaving->level];
    if (leaving->level && walk->regs.pc == level->pc && walk->regs.r[TRODDEN_SP] == level->sp)
        leaving->level--;
    else
        leaving->interrupted = true;
    leaving->waiting = 0;
    leaving->in_call = !trodden_module_of(walk->regs.pc);
}

static void note_waiting(struct leaving *leaving, uintptr_t pc) {
    if (leaving->in_call && !leaving->waiting && trodden_module_of(pc))
        leaving->waiting = pc;
}

/* Goes through the frames from the caller's to the one that `sp` belongs to, which is not left.  False: there is no such
 * frame.  The walk is at the last frame. */
static bool leave_until(struct leaving *leaving, const struct trodden_regs *regs, uint64_t sp) {
    struct trodden_walk *walk = trodden_trace_walk(leaving->stream);
    if (!walk)
        return false;
    trodden_walk_start(walk, regs);
    for (uint32_t depth = 0; depth < TRODDEN_MAX_FRAMES; depth++) {
        if (depth && walk->interrupted)
            note_interruption(leaving, walk);
        else
            note_waiting(leaving, walk->regs.pc);
        enum trodden_step step = trodden_walk_describe(walk);
        if (step == TRODDEN_STEPPED && depth && !walk->info.signal_frame && walk->regs.r[TRODDEN_SP] <= sp &&
            sp < walk->cfa)
            return true;
        if (depth)
            leave(leaving, walk->regs.pc);
        if (step == TRODDEN_STEPPED)
            step = trodden_walk_step(walk);
        if (step == TRODDEN_OUTERMOST)
            leaving->stack = walk->regs.r[TRODDEN_SP];
        if (step != TRODDEN_STEPPED)
            return false;
    }
    return false;
}

void trodden_trace_jump(const struct trodden_regs *regs, uint64_t sp, const struct trodden_regs *to) {
    struct trodden_trace_stream *stream = trodden_trace_own();
    if (!stream)
        return;
    struct leaving leaving = {.stream = stream, .level = stream->level};
    bool found = leave_until(&leaving, regs, sp);
    if (found)
        release(&leaving);
    if (found && leaving.level == stream->level && !leaving.interrupted)
        return;
    if (found)
        trodden_trace_land(stream, leaving.level, false);
    if (found && leaving.waiting && !leaving.interrupted)
        trodden_trace_left(stream, leaving.waiting);
    trodden_trace_sync(stream, to, true, 0, found ? TRODDEN_TRACE_SAME_STACK : leaving.stack);
}

bool trodden_trace_jump_cached(struct trodden_cached_walk *walk) {
    struct trodden_trace_stream *stream = trodden_trace_own();
    uintptr_t pcs[DELAYED];
    int count = stream ? trodden_cached_frames(walk, pcs, DELAYED) : 0;
    if (count < 0)
        return false;
    uint64_t mask = trodden_block_signals();
    bool recorded = (!count || trodden_trace_has_room(stream, (size_t)count * TRODDEN_TRACE_LEFT_BYTES)) &&
                    trodden_walk_cached(walk);
    for (int i = 0; recorded && i < count; i++)
        trodden_trace_left(stream, pcs[i]);
    trodden_restore_signals(mask);
    return recorded;
}

void trodden_trace_exits_to(const struct trodden_regs *regs, uint64_t sp) {
    struct trodden_trace_stream *stream = trodden_trace_own();
    struct leaving leaving = {.stream = stream};
    if (!stream)
        return;
    leaving.level = stream->level;
    leave_until(&leaving, regs, sp);
    release(&leaving);
}

void trodden_trace_thread_exit(const struct trodden_regs *regs) { trodden_trace_exits_to(regs, UINT64_MAX); }

/* Is the frame with that CFA (0: none), which goes on with the registers `to`, on the stack of `from`?  `leaving` then
 * has its level, or else where the stack begins.  `*exactly`: it goes on where a handler has interrupted it. */
static bool is_on_stack(struct leaving *leaving, const struct trodden_regs *from, const struct trodden_regs *to,
                        uint64_t cfa, bool *exactly) {
    struct trodden_walk *walk = trodden_trace_walk(leaving->stream);
    *exactly = false;
    if (!walk)
        return false;
    trodden_walk_start(walk, from);
    for (uint32_t depth = 0; depth < TRODDEN_MAX_FRAMES; depth++) {
        bool interrupted = depth && walk->interrupted;
        if (interrupted)
            note_interruption(leaving, walk);
        enum trodden_step step = trodden_walk_describe(walk);
        if (step == TRODDEN_STEPPED && depth && cfa && walk->cfa == cfa) {
            *exactly = interrupted && walk->regs.pc == to->pc;
            return true;
        }
        if (step == TRODDEN_STEPPED)
            step = trodden_walk_step(walk);
        if (step == TRODDEN_OUTERMOST)
            leaving->stack = walk->regs.r[TRODDEN_SP];
        if (step != TRODDEN_STEPPED)
            return false;
    }
    return false;
}

void trodden_trace_switch(const struct trodden_regs *from, const struct trodden_regs *to, uint64_t cfa) {
    struct trodden_trace_stream *stream = trodden_trace_own();
    bool exactly;
    if (!stream)
        return;
    struct leaving leaving = {.stream = stream, .level = stream->level};
    bool same = from && is_on_stack(&leaving, from, to, cfa, &exactly);
    if (same && leaving.level != stream->level) {
        trodden_trace_land(stream, leaving.level, exactly);
        if (exactly)
            return;
    }
    trodden_trace_sync(stream, cfa ? to : NULL, true, 0, same ? TRODDEN_TRACE_SAME_STACK : leaving.stack);
}

void trodden_trace_exec_failed(const struct trodden_regs *regs, bool left) {
    struct trodden_trace_stream *stream = trodden_trace_own();
    if (!stream)
        return;
    trodden_trace_event(stream, TRODDEN_TRACE_EXEC_FAILED, 0);
    if (left)
        trodden_trace_sync(stream, regs, false, 0, TRODDEN_TRACE_SAME_STACK);
}
