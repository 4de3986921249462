/* Walking the stack of the calling thread, to tell which instrumented calls have not returned, or will not.
 *
 * It follows call frame information only: a frame it cannot read ends the walk.  It allocates nothing but
 * mappings; the list of loaded images has been made before. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "dwarf.h"

#define MOST_FRAMES ((uint32_t)1 << 20)

enum outcome { STEPPED, OUTERMOST, LOST };

struct walk {
    struct trodden_regs regs, caller;
    const struct trodden_image *image; /* where regs.pc is */
    uint64_t cfa;                      /* of the frame that has these registers; 0: not described */
    bool exact;  /* regs.pc is where it was interrupted, not a return address */
    bool lowest; /* nothing of the frame below bounds this one's address */
    struct trodden_window window;
    struct trodden_frame_facts facts, room;
    uintptr_t placed; /* the function whose cell is at: */
    struct trodden_cell_place place;
};

/* The kernel copies what is there and refuses what is not.  It is asked for this thread's memory, since the first
 * thread may have ended.  Where that call is forbidden, a page that is mapped at all has to do. */
bool trodden_peek(struct trodden_window *window, uintptr_t address, unsigned size, uint64_t *value) {
    uint8_t bytes[8] = {0};
    for (unsigned i = 0; i < size; i++) {
        uintptr_t page = (address + i) & ~(uintptr_t)(sizeof window->words - 1);
        if (page != window->page || !page) {
            struct iovec local = {window->words, sizeof window->words};
            struct iovec remote = {(void *)page, sizeof window->words};
            long got = syscall(SYS_process_vm_readv, syscall(SYS_gettid), &local, 1ul, &remote, 1ul, 0ul);
            window->page = 0;
            if (got < 0 && (errno == ENOSYS || errno == EPERM) && page) {
                unsigned char resident;
                if (mincore((void *)page, 1, &resident) != 0)
                    return false;
                memcpy(window->words, (const void *)page, sizeof window->words);
                got = sizeof window->words;
            }
            if (got != (long)sizeof window->words)
                return false;
            window->page = page;
        }
        bytes[i] = ((const uint8_t *)window->words)[(address + i) - page];
    }
    *value = 0;
    for (unsigned i = 0; i < size; i++)
        *value |= (uint64_t)bytes[i] << (8 * i);
    return true;
}

static bool value_of(struct walk *walk, const struct trodden_image *image, unsigned column, uint64_t cfa,
                     uint64_t *value) {
    const struct trodden_rule *rule = &walk->facts.row.columns[column];
    const uint8_t *expression = (const uint8_t *)(intptr_t)rule->value;
    switch (rule->kind) {
    case SAME:
        *value = walk->regs.r[column];
        return walk->regs.known >> column & 1;
    case AT_OFFSET: return trodden_peek(&walk->window, cfa + (uint64_t)rule->value, 8, value);
    case IS_OFFSET: *value = cfa + (uint64_t)rule->value; return true;
    case IN_REGISTER:
        if ((uint64_t)rule->value >= TRODDEN_COLUMNS || !(walk->regs.known >> rule->value & 1))
            return false;
        *value = walk->regs.r[rule->value];
        return true;
    case AT_EXPRESSION:
        return trodden_evaluate(expression, image, &walk->regs, &walk->window, &cfa, value) &&
               trodden_peek(&walk->window, *value, 8, value);
    case IS_EXPRESSION: return trodden_evaluate(expression, image, &walk->regs, &walk->window, &cfa, value);
    case UNDEFINED: break;
    }
    return false;
}

static bool find_cfa(struct walk *walk, const struct trodden_image *image, uint64_t *cfa) {
    const struct trodden_row *row = &walk->facts.row;
    if (row->cfa_expression)
        return trodden_evaluate(row->cfa_expression, image, &walk->regs, &walk->window, NULL, cfa);
    if (row->cfa_column >= TRODDEN_COLUMNS || !(walk->regs.known >> row->cfa_column & 1))
        return false;
    *cfa = walk->regs.r[row->cfa_column] + (uint64_t)row->cfa_offset;
    return true;
}

static bool is_code(struct walk *walk, const uint8_t *code, unsigned size) {
    uintptr_t pc = walk->regs.pc;
    if (walk->image)
        return trodden_image_holds(walk->image, pc, size) && memcmp((const void *)pc, code, size) == 0;
    for (unsigned i = 0; i < size; i++) {
        uint64_t byte;
        if (!trodden_peek(&walk->window, pc + i, 1, &byte) || byte != code[i])
            return false;
    }
    return true;
}

/* musl describes its return from signal handlers in no table, and the kernel's lies in no image of a static
 * program.  Both are known by their two instructions, and the registers lie where the kernel put them. */
static bool step_over_signal(struct walk *walk) {
#ifdef __x86_64__
    static const uint8_t code[] = {0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05};
    static const uint8_t order[] = {8, 9, 10, 11, 12, 13, 14, 15, 5, 4, 6, 3, 1, 0, 2, 7};
    const uint64_t from = 40;
#else
    static const uint8_t code[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};
    static const uint8_t order[] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                    16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
    const uint64_t from = 128 + 176 + 8;
#endif
    if (!is_code(walk, code, sizeof code))
        return false;
    uint64_t at = walk->regs.r[TRODDEN_SP] + from;
    for (unsigned i = 0; i < sizeof order; i++, at += 8)
        if (!trodden_peek(&walk->window, at, 8, &walk->caller.r[order[i]]))
            return false;
    walk->caller.known = ((uint64_t)1 << sizeof order) - 1;
    return trodden_peek(&walk->window, at, 8, &walk->caller.pc);
}

/* What is known of the frame that has these registers. */
static enum outcome describe(struct walk *walk) {
    uintptr_t pc = walk->exact ? walk->regs.pc : walk->regs.pc - 1;
    walk->image = trodden_image_of(trodden_lead.images, pc);
    walk->cfa = 0;
    bool described = walk->image && trodden_find_row(walk->image, pc, &walk->facts);
    /* What is described may be a function that ends right before, for nobody calls a return from a signal. */
    if (!walk->exact && !(described && walk->facts.signal_frame) && step_over_signal(walk))
        return STEPPED;
    if (!described) {
        /* Start-up code in assembler marks itself, as the ABI asks, by a frame pointer of zero. */
        bool last = walk->image && walk->regs.known >> TRODDEN_FP & 1 && walk->regs.r[TRODDEN_FP] == 0;
        return last ? OUTERMOST : LOST;
    }
    if (walk->facts.return_column >= TRODDEN_COLUMNS)
        return LOST;
    if (walk->facts.row.columns[walk->facts.return_column].kind == UNDEFINED)
        return OUTERMOST;
    if (!find_cfa(walk, walk->image, &walk->cfa) || !walk->cfa)
        return LOST;
    /* Stacks grow down, callers lie above; a frame may be empty only if it called nobody.  A handler may
     * run on a stack of its own, so nothing is known across a signal. */
    uint64_t sp = walk->regs.r[TRODDEN_SP];
    if (!walk->facts.signal_frame && (walk->cfa < sp || (walk->cfa == sp && !walk->lowest)))
        return LOST;
    return STEPPED;
}

/* From a frame that has been described to its caller's. */
static enum outcome leave(struct walk *walk) {
    if (!walk->cfa) {
        walk->regs = walk->caller;
        walk->exact = walk->lowest = true;
        return STEPPED;
    }
    const struct trodden_image *image = walk->image;
    uint64_t cfa = walk->cfa, return_column = walk->facts.return_column, return_address;
    if (!value_of(walk, image, (unsigned)return_column, cfa, &return_address))
        return LOST;
    walk->caller.known = 0;
    for (unsigned i = 0; i < TRODDEN_COLUMNS; i++)
        if (value_of(walk, image, i, cfa, &walk->caller.r[i]))
            walk->caller.known |= (uint64_t)1 << i;
    if (walk->facts.row.columns[TRODDEN_SP].kind == SAME) {
        walk->caller.r[TRODDEN_SP] = cfa;
        walk->caller.known |= (uint64_t)1 << TRODDEN_SP;
    }
    walk->caller.pc = trodden_strip_signature(return_address);
    walk->regs = walk->caller;
    walk->exact = walk->lowest = walk->facts.signal_frame;
    return walk->regs.pc ? STEPPED : OUTERMOST;
}

static void start(struct walk *walk, const struct trodden_regs *regs) {
    walk->regs = *regs;
    walk->exact = walk->lowest = true;
    walk->window.page = 0;
    walk->placed = 0;
}

/* Where the cell is of the function that has just been described. */
static struct trodden_cell_place find_cell(struct walk *walk) {
    if (!walk->cfa || walk->facts.signal_frame)
        return (struct trodden_cell_place){NO_CELL, 0, 0, 0, 0};
    if (walk->placed != walk->facts.from) {
        walk->place = trodden_find_cell(walk->image, &walk->facts, &walk->room);
        walk->placed = walk->facts.from;
    }
    return walk->place;
}

static bool read_at(struct walk *walk, struct trodden_cell_place place, uint64_t *value) {
    uint64_t address = trodden_below_cfa(walk->cfa, place.pushed, place.alignment, place.distance);
    uint64_t sp = walk->regs.r[TRODDEN_SP];
    if (place.kind == FROM_REGISTER) {
        if (!(walk->regs.known >> place.column & 1))
            return false;
        address = walk->regs.r[place.column] + (uint64_t)(int64_t)place.distance;
    }
    return place.kind != NO_CELL && address >= sp && address < walk->cfa && walk->cfa - address >= 8 &&
           trodden_peek(&walk->window, address, 8, value);
}

static bool read_cell(struct walk *walk, uint64_t *value) { return read_at(walk, find_cell(walk), value); }

struct trodden_module *trodden_module_of(uintptr_t pc) {
    for (struct trodden_module *module = trodden_lead.modules; module; module = module->next)
        if (module->copy && pc >= module->low && pc < module->high)
            return module;
    return NULL;
}

/* Part of the stack, word by word: some of it may not be there. */
static uint64_t copy_stack(struct walk *walk, uint64_t from, uint8_t *into) {
    for (unsigned i = 0; i < TRODDEN_STACK_PART; i += 8) {
        uint64_t word = 0;
        trodden_peek(&walk->window, from + i, 8, &word);
        memcpy(into + i, &word, sizeof word);
    }
    return from;
}

/* A function that calls nobody may have its values below the stack pointer. */
#ifdef __x86_64__
#define RED_ZONE 128u
#else
#define RED_ZONE 0u
#endif

static void take_context(struct walk *walk, struct trodden_context *context) {
    *context = (struct trodden_context){.pc = walk->regs.pc, .cfa = walk->cfa, .known = walk->regs.known};
    memcpy(context->r, walk->regs.r, sizeof walk->regs.r);
    uint64_t sp = walk->regs.r[TRODDEN_SP];
    context->low = copy_stack(walk, sp - RED_ZONE, context->low_part);
    if (walk->cfa >= sp + TRODDEN_STACK_PART)
        context->high = copy_stack(walk, walk->cfa - TRODDEN_STACK_PART, context->high_part);
}

static void note_context(struct walk *walk, struct trodden_frames *frames) {
    uint32_t most = walk->exact ? TRODDEN_CONTEXTS : TRODDEN_CONTEXTS / 2;
    if (!frames->contexts || frames->context_count >= most)
        return;
    struct trodden_context *context = &frames->contexts[frames->context_count++];
    take_context(walk, context);
    context->thread = frames->at[frames->count - 1].thread;
    context->frame = frames->count - 1;
}

/* Is the frame with these registers one that matters? */
static bool note_frame(const struct walk *walk, struct trodden_frames *frames, uint32_t thread) {
    const struct trodden_module *module = trodden_module_of(walk->regs.pc);
    if (module)
        frames->at[frames->count++] = (struct trodden_frame){
            .thread = thread, .module = module->index, .address = walk->regs.pc - module->bias};
    return module;
}

/* A function that can do nothing but return is called without further ado: only registers tell where its caller is, if
 * a signal has stopped it (`stopped`). */
static void finish_frame(struct walk *walk, struct trodden_frames *frames, bool stopped) {
    struct trodden_frame *frame = &frames->at[frames->count - 1];
    if (read_cell(walk, &frame->cell))
        frame->flags |= TRODDEN_KNOWN;
    if (walk->exact)
        frame->flags |= TRODDEN_INTERRUPTED;
    if (stopped)
        note_context(walk, frames);
}

static void forget_last(struct trodden_frames *frames) {
    frames->count--;
    if (frames->context_count && frames->contexts[frames->context_count - 1].frame == frames->count)
        frames->context_count--;
}

struct trodden_frames trodden_frames_of(const struct trodden_regs *regs, uint32_t thread, bool interrupted) {
    struct trodden_frames frames = {.cut = true, .bytes = MOST_FRAMES * sizeof(struct trodden_frame)};
    struct walk *walk = trodden_map(sizeof *walk);
    frames.at = trodden_map(frames.bytes);
    frames.contexts = trodden_map(TRODDEN_CONTEXTS * sizeof *frames.contexts);
    if (walk && frames.at) {
        start(walk, regs);
        bool ours = interrupted && note_frame(walk, &frames, thread); /* is it the last one noted? */
        bool stopped = interrupted;
        for (uint32_t depth = 0; depth < MOST_FRAMES - 1; depth++) {
            enum outcome outcome = describe(walk);
            stopped = stopped || (depth && walk->exact);
            if (outcome == STEPPED && ours)
                finish_frame(walk, &frames, stopped);
            if (outcome == STEPPED)
                outcome = leave(walk);
            /* The outermost function started the program or the thread: it is never instrumented. */
            if (outcome == OUTERMOST && ours)
                forget_last(&frames);
            frames.cut = outcome != OUTERMOST;
            if (outcome != STEPPED)
                break;
            ours = note_frame(walk, &frames, thread);
        }
    }
    trodden_unmap(walk, sizeof *walk);
    return frames;
}

void trodden_frames_free(struct trodden_frames *frames) {
    trodden_unmap(frames->at, frames->bytes);
    trodden_unmap(frames->contexts, TRODDEN_CONTEXTS * sizeof *frames->contexts);
    *frames = (struct trodden_frames){.at = NULL};
}

/* By a signal?  One that the program sends itself arrives behind a system call, which is a place like a call's. */
static bool is_interrupted(const struct walk *walk) {
#ifdef __x86_64__
    static const uint8_t code[] = {0x0f, 0x05};
#else
    static const uint8_t code[] = {0x01, 0x00, 0x00, 0xd4};
#endif
    uintptr_t before = walk->regs.pc - sizeof code;
    return walk->exact && !(walk->image && trodden_image_holds(walk->image, before, sizeof code) &&
                            memcmp((const void *)before, code, sizeof code) == 0);
}

/* Of a frame that was interrupted in code with probes.  There is only one; the caller holds the lock. */
static const struct trodden_context *context_of(struct walk *walk) {
    static struct trodden_context *context;
    if (!is_interrupted(walk) || !trodden_module_of(walk->regs.pc))
        return NULL;
    if (!context && !(context = trodden_map(sizeof *context)))
        return NULL;
    take_context(walk, context);
    return context;
}

/* Too large for the stack of a signal handler; NULL: no memory. */
static struct walk *own_walk(void) {
    static struct walk *walk;
    if (!walk)
        walk = trodden_map(sizeof *walk);
    return walk;
}

struct trodden_place trodden_place_of(const struct trodden_regs *regs, bool interrupted, uint64_t *found) {
    struct trodden_place place = {regs->pc, 0, false, interrupted, 0, NULL};
    struct walk *walk = own_walk();
    *found = 0;
    if (!walk)
        return place;
    start(walk, regs);
    walk->exact = interrupted;
    bool described = describe(walk) == STEPPED && walk->cfa;
    place.interrupted = is_interrupted(walk);
    place.at = context_of(walk);
    if (!described)
        return place;
    if (!interrupted)
        trodden_keep_frame(walk->regs.pc, false, walk->image, &walk->facts, find_cell(walk));
    place.known = read_cell(walk, &place.cell);
    if (trodden_lead.calls.caller &&
        !read_at(walk, trodden_find_call_cell(walk->image, &walk->facts, &walk->room), found))
        *found = 0;
    return place;
}

/* The frame that a jump goes to is known by the stack pointer that was saved there: it lies above what the
 * frame has now, and below its end. */
enum trodden_reach trodden_walk_to(const struct trodden_regs *regs, uint64_t sp,
                                   void (*visit)(const struct trodden_place *place, void *context), void *context) {
    struct walk *walk = own_walk();
    if (!walk)
        return TRODDEN_LOST;
    start(walk, regs);
    for (uint32_t depth = 0; depth < MOST_FRAMES; depth++) {
        enum outcome outcome = describe(walk);
        if (outcome == STEPPED && walk->cfa && (!depth || !walk->exact))
            trodden_keep_frame(walk->regs.pc, !depth, walk->image, &walk->facts, find_cell(walk));
        if (depth) {
            struct trodden_place place = {walk->regs.pc, 0, false, is_interrupted(walk), 0, context_of(walk)};
            place.known = outcome == STEPPED && read_cell(walk, &place.cell);
            visit(&place, context);
        }
        if (outcome == STEPPED && depth && !walk->facts.signal_frame && walk->regs.r[TRODDEN_SP] <= sp &&
            sp < walk->cfa)
            return TRODDEN_FOUND;
        if (outcome == STEPPED)
            outcome = leave(walk);
        if (outcome != STEPPED)
            return outcome == LOST ? TRODDEN_LOST : TRODDEN_ELSEWHERE;
    }
    return TRODDEN_LOST;
}

uint64_t trodden_cfa_of(const struct trodden_regs *regs) {
    struct walk *walk = own_walk();
    if (!walk)
        return 0;
    start(walk, regs);
    if (describe(walk) != STEPPED || walk->facts.from == regs->pc)
        return 0;
    start(walk, regs);
    walk->exact = false;
    return describe(walk) == STEPPED ? walk->cfa : 0;
}

enum trodden_reach trodden_walk_stack(const struct trodden_regs *regs, uint64_t cfa, bool inner, bool across,
                                      void (*visit)(const struct trodden_place *place, void *context),
                                      void *context) {
    struct walk *walk = own_walk();
    if (!walk)
        return TRODDEN_LOST;
    start(walk, regs);
    walk->exact = !inner;
    for (uint32_t depth = 0; depth < MOST_FRAMES; depth++) {
        enum outcome outcome = describe(walk);
        if (outcome == STEPPED && !across && (!walk->cfa || walk->facts.signal_frame))
            return TRODDEN_ELSEWHERE;
        if (depth || inner) {
            struct trodden_place place = {walk->regs.pc, 0, false, is_interrupted(walk), walk->cfa, context_of(walk)};
            place.known = outcome == STEPPED && read_cell(walk, &place.cell);
            visit(&place, context);
        }
        if (outcome == STEPPED && cfa && depth && walk->cfa == cfa)
            return TRODDEN_FOUND;
        if (outcome == STEPPED)
            outcome = leave(walk);
        if (outcome != STEPPED)
            return outcome == LOST ? TRODDEN_LOST : TRODDEN_ELSEWHERE;
    }
    return TRODDEN_LOST;
}
