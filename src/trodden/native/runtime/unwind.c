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

#define MAX_FRAMES ((uint32_t)1 << 20)

enum step_result { STEPPED, OUTERMOST, LOST };

struct walk {
    struct trodden_regs regs, caller;
    const struct trodden_image *image; /* where regs.pc is */
    uint64_t cfa;                      /* of the frame that has these registers; 0: not described */
    bool interrupted;  /* regs.pc is where it was interrupted, not a return address */
    bool innermost; /* nothing of the frame below bounds this one's address */
    struct trodden_page_copy page_copy;
    struct trodden_frame_info info, scratch;
    uintptr_t slot_function; /* the function whose cell is at: */
    struct trodden_slot_location slot;
};

/* The kernel copies what is there and refuses what is not.  It is asked for this thread's memory, since the first
 * thread may have ended.  Where that call is forbidden, a page that is mapped at all has to do. */
bool trodden_read_memory(struct trodden_page_copy *page_copy, uintptr_t address, unsigned size, uint64_t *value) {
    uint8_t bytes[8] = {0};
    for (unsigned i = 0; i < size; i++) {
        uintptr_t page = (address + i) & ~(uintptr_t)(sizeof page_copy->words - 1);
        if (page != page_copy->page || !page) {
            struct iovec local = {page_copy->words, sizeof page_copy->words};
            struct iovec remote = {(void *)page, sizeof page_copy->words};
            long got = syscall(SYS_process_vm_readv, syscall(SYS_gettid), &local, 1ul, &remote, 1ul, 0ul);
            page_copy->page = 0;
            if (got < 0 && (errno == ENOSYS || errno == EPERM) && page) {
                unsigned char resident;
                if (mincore((void *)page, 1, &resident) != 0)
                    return false;
                memcpy(page_copy->words, (const void *)page, sizeof page_copy->words);
                got = sizeof page_copy->words;
            }
            if (got != (long)sizeof page_copy->words)
                return false;
            page_copy->page = page;
        }
        bytes[i] = ((const uint8_t *)page_copy->words)[(address + i) - page];
    }
    *value = 0;
    for (unsigned i = 0; i < size; i++)
        *value |= (uint64_t)bytes[i] << (8 * i);
    return true;
}

static bool register_value(struct walk *walk, const struct trodden_image *image, unsigned column, uint64_t cfa,
                     uint64_t *value) {
    const struct trodden_cfi_rule *rule = &walk->info.row.columns[column];
    const uint8_t *expression = (const uint8_t *)(intptr_t)rule->value;
    switch (rule->kind) {
    case RULE_SAME_VALUE:
        *value = walk->regs.r[column];
        return walk->regs.known >> column & 1;
    case RULE_OFFSET: return trodden_read_memory(&walk->page_copy, cfa + (uint64_t)rule->value, 8, value);
    case RULE_VAL_OFFSET: *value = cfa + (uint64_t)rule->value; return true;
    case RULE_REGISTER:
        if ((uint64_t)rule->value >= TRODDEN_COLUMNS || !(walk->regs.known >> rule->value & 1))
            return false;
        *value = walk->regs.r[rule->value];
        return true;
    case RULE_EXPRESSION:
        return trodden_evaluate_expression(expression, image, &walk->regs, &walk->page_copy, &cfa, value) &&
               trodden_read_memory(&walk->page_copy, *value, 8, value);
    case RULE_VAL_EXPRESSION: return trodden_evaluate_expression(expression, image, &walk->regs, &walk->page_copy, &cfa, value);
    case RULE_UNDEFINED: break;
    }
    return false;
}

static bool find_cfa(struct walk *walk, const struct trodden_image *image, uint64_t *cfa) {
    const struct trodden_cfi_row *row = &walk->info.row;
    if (row->cfa_expression)
        return trodden_evaluate_expression(row->cfa_expression, image, &walk->regs, &walk->page_copy, NULL, cfa);
    if (row->cfa_column >= TRODDEN_COLUMNS || !(walk->regs.known >> row->cfa_column & 1))
        return false;
    *cfa = walk->regs.r[row->cfa_column] + (uint64_t)row->cfa_offset;
    return true;
}

static bool code_matches(struct walk *walk, const uint8_t *code, unsigned size) {
    uintptr_t pc = walk->regs.pc;
    if (walk->image)
        return trodden_image_contains(walk->image, pc, size) && memcmp((const void *)pc, code, size) == 0;
    for (unsigned i = 0; i < size; i++) {
        uint64_t byte;
        if (!trodden_read_memory(&walk->page_copy, pc + i, 1, &byte) || byte != code[i])
            return false;
    }
    return true;
}

/* musl describes its return from signal handlers in no table, and the kernel's lies in no image of a static
 * program.  Both are known by their two instructions, and the registers lie where the kernel put them. */
static bool step_over_sigreturn(struct walk *walk) {
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
    if (!code_matches(walk, code, sizeof code))
        return false;
    uint64_t at = walk->regs.r[TRODDEN_SP] + from;
    for (unsigned i = 0; i < sizeof order; i++, at += 8)
        if (!trodden_read_memory(&walk->page_copy, at, 8, &walk->caller.r[order[i]]))
            return false;
    walk->caller.known = ((uint64_t)1 << sizeof order) - 1;
    return trodden_read_memory(&walk->page_copy, at, 8, &walk->caller.pc);
}

/* What is known of the frame that has these registers. */
static enum step_result describe_frame(struct walk *walk) {
    uintptr_t pc = walk->interrupted ? walk->regs.pc : walk->regs.pc - 1;
    walk->image = trodden_image_of(trodden_process.images, pc);
    walk->cfa = 0;
    bool described = walk->image && trodden_find_cfi_row(walk->image, pc, &walk->info);
    /* What is described may be a function that ends right before, for nobody calls a return from a signal. */
    if (!walk->interrupted && !(described && walk->info.signal_frame) && step_over_sigreturn(walk))
        return STEPPED;
    if (!described) {
        /* Start-up code in assembler marks itself, as the ABI asks, by a frame pointer of zero. */
        bool last = walk->image && walk->regs.known >> TRODDEN_FP & 1 && walk->regs.r[TRODDEN_FP] == 0;
        return last ? OUTERMOST : LOST;
    }
    if (walk->info.return_column >= TRODDEN_COLUMNS)
        return LOST;
    if (walk->info.row.columns[walk->info.return_column].kind == RULE_UNDEFINED)
        return OUTERMOST;
    if (!find_cfa(walk, walk->image, &walk->cfa) || !walk->cfa)
        return LOST;
    /* Stacks grow down, callers lie above; a frame may be empty only if it called nobody.  A handler may
     * run on a stack of its own, so nothing is known across a signal. */
    uint64_t sp = walk->regs.r[TRODDEN_SP];
    if (!walk->info.signal_frame && (walk->cfa < sp || (walk->cfa == sp && !walk->innermost)))
        return LOST;
    return STEPPED;
}

/* From a frame that has been described to its caller's. */
static enum step_result step_to_caller(struct walk *walk) {
    if (!walk->cfa) {
        walk->regs = walk->caller;
        walk->interrupted = walk->innermost = true;
        return STEPPED;
    }
    const struct trodden_image *image = walk->image;
    uint64_t cfa = walk->cfa, return_column = walk->info.return_column, return_address;
    if (!register_value(walk, image, (unsigned)return_column, cfa, &return_address))
        return LOST;
    walk->caller.known = 0;
    for (unsigned i = 0; i < TRODDEN_COLUMNS; i++)
        if (register_value(walk, image, i, cfa, &walk->caller.r[i]))
            walk->caller.known |= (uint64_t)1 << i;
    if (walk->info.row.columns[TRODDEN_SP].kind == RULE_SAME_VALUE) {
        walk->caller.r[TRODDEN_SP] = cfa;
        walk->caller.known |= (uint64_t)1 << TRODDEN_SP;
    }
    walk->caller.pc = trodden_strip_pointer_auth(return_address);
    walk->regs = walk->caller;
    walk->interrupted = walk->innermost = walk->info.signal_frame;
    return walk->regs.pc ? STEPPED : OUTERMOST;
}

static void start_walk(struct walk *walk, const struct trodden_regs *regs) {
    walk->regs = *regs;
    walk->interrupted = walk->innermost = true;
    walk->page_copy.page = 0;
    walk->slot_function = 0;
}

/* Where the cell is of the function that has just been described. */
static struct trodden_slot_location slot_of_frame(struct walk *walk) {
    if (!walk->cfa || walk->info.signal_frame)
        return (struct trodden_slot_location){NO_SLOT, 0, 0, 0, 0};
    if (walk->slot_function != walk->info.function_start) {
        walk->slot = trodden_find_register_slot(walk->image, &walk->info, &walk->scratch);
        walk->slot_function = walk->info.function_start;
    }
    return walk->slot;
}

static bool read_slot_at(struct walk *walk, struct trodden_slot_location slot, uint64_t *value) {
    uint64_t address = trodden_slot_address(walk->cfa, slot.pushed_bytes, slot.alignment, slot.displacement);
    uint64_t sp = walk->regs.r[TRODDEN_SP];
    if (slot.kind == SLOT_FROM_REGISTER) {
        if (!(walk->regs.known >> slot.base & 1))
            return false;
        address = walk->regs.r[slot.base] + (uint64_t)(int64_t)slot.displacement;
    }
    return slot.kind != NO_SLOT && address >= sp && address < walk->cfa && walk->cfa - address >= 8 &&
           trodden_read_memory(&walk->page_copy, address, 8, value);
}

static bool read_slot(struct walk *walk, uint64_t *value) { return read_slot_at(walk, slot_of_frame(walk), value); }

struct trodden_module *trodden_module_of(uintptr_t pc) {
    for (struct trodden_module *module = trodden_process.modules; module; module = module->next)
        if (module->instance && pc >= module->low && pc < module->high)
            return module;
    return NULL;
}

/* Part of the stack, word by word: some of it may not be there. */
static uint64_t copy_stack(struct walk *walk, uint64_t from, uint8_t *buffer) {
    for (unsigned i = 0; i < TRODDEN_STACK_SAMPLE; i += 8) {
        uint64_t word = 0;
        trodden_read_memory(&walk->page_copy, from + i, 8, &word);
        memcpy(buffer + i, &word, sizeof word);
    }
    return from;
}

/* A function that calls nobody may have its values below the stack pointer. */
#ifdef __x86_64__
#define RED_ZONE 128u
#else
#define RED_ZONE 0u
#endif

static void save_registers(struct walk *walk, struct trodden_saved_registers *saved) {
    *saved = (struct trodden_saved_registers){.pc = walk->regs.pc, .cfa = walk->cfa, .known = walk->regs.known};
    memcpy(saved->r, walk->regs.r, sizeof walk->regs.r);
    uint64_t sp = walk->regs.r[TRODDEN_SP];
    saved->low_address = copy_stack(walk, sp - RED_ZONE, saved->low_bytes);
    if (walk->cfa >= sp + TRODDEN_STACK_SAMPLE)
        saved->high_address = copy_stack(walk, walk->cfa - TRODDEN_STACK_SAMPLE, saved->high_bytes);
}

static void append_saved(struct walk *walk, struct trodden_frames *frames) {
    uint32_t limit = walk->interrupted ? TRODDEN_MAX_SAVED_REGISTERS : TRODDEN_MAX_SAVED_REGISTERS / 2;
    if (!frames->saved || frames->saved_count >= limit)
        return;
    struct trodden_saved_registers *saved = &frames->saved[frames->saved_count++];
    save_registers(walk, saved);
    saved->thread = frames->entries[frames->count - 1].thread;
    saved->frame = frames->count - 1;
}

/* Is the frame with these registers one that matters? */
static bool append_frame(const struct walk *walk, struct trodden_frames *frames, uint32_t thread) {
    const struct trodden_module *module = trodden_module_of(walk->regs.pc);
    if (module)
        frames->entries[frames->count++] = (struct trodden_frame){
            .thread = thread, .module = module->index, .address = walk->regs.pc - module->bias};
    return module;
}

/* A function that can do nothing but return is called without further ado: only registers tell where its caller is, if
 * a signal has stopped it (`stopped`). */
static void complete_frame(struct walk *walk, struct trodden_frames *frames, bool stopped) {
    struct trodden_frame *frame = &frames->entries[frames->count - 1];
    if (read_slot(walk, &frame->slot_value))
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

struct trodden_frames trodden_collect_frames(const struct trodden_regs *regs, uint32_t thread, bool interrupted) {
    struct trodden_frames frames = {.incomplete = true, .bytes = MAX_FRAMES * sizeof(struct trodden_frame)};
    struct walk *walk = trodden_map(sizeof *walk);
    frames.entries = trodden_map(frames.bytes);
    frames.saved = trodden_map(TRODDEN_MAX_SAVED_REGISTERS * sizeof *frames.saved);
    if (walk && frames.entries) {
        start_walk(walk, regs);
        bool last_is_ours = interrupted && append_frame(walk, &frames, thread); /* is it the last one noted? */
        bool stopped = interrupted;
        for (uint32_t depth = 0; depth < MAX_FRAMES - 1; depth++) {
            enum step_result outcome = describe_frame(walk);
            stopped = stopped || (depth && walk->interrupted);
            if (outcome == STEPPED && last_is_ours)
                complete_frame(walk, &frames, stopped);
            if (outcome == STEPPED)
                outcome = step_to_caller(walk);
            /* The outermost function started the program or the thread: it is never instrumented. */
            if (outcome == OUTERMOST && last_is_ours)
                drop_last(&frames);
            frames.incomplete = outcome != OUTERMOST;
            if (outcome != STEPPED)
                break;
            last_is_ours = append_frame(walk, &frames, thread);
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

/* By a signal?  One that the program sends itself arrives behind a system call, which is a place like a call's. */
static bool is_interrupted(const struct walk *walk) {
#ifdef __x86_64__
    static const uint8_t code[] = {0x0f, 0x05};
#else
    static const uint8_t code[] = {0x01, 0x00, 0x00, 0xd4};
#endif
    uintptr_t before = walk->regs.pc - sizeof code;
    return walk->interrupted && !(walk->image && trodden_image_contains(walk->image, before, sizeof code) &&
                            memcmp((const void *)before, code, sizeof code) == 0);
}

/* Of a frame that was interrupted in code with probes.  There is only one; the caller holds the lock. */
static const struct trodden_saved_registers *saved_registers_of(struct walk *walk) {
    static struct trodden_saved_registers *saved;
    if (!is_interrupted(walk) || !trodden_module_of(walk->regs.pc))
        return NULL;
    if (!saved && !(saved = trodden_map(sizeof *saved)))
        return NULL;
    save_registers(walk, saved);
    return saved;
}

/* Too large for the stack of a signal handler; NULL: no memory. */
static struct walk *shared_walk(void) {
    static struct walk *walk;
    if (!walk)
        walk = trodden_map(sizeof *walk);
    return walk;
}

struct trodden_frame_state trodden_frame_state_of(const struct trodden_regs *regs, bool interrupted, uint64_t *call_node) {
    struct trodden_frame_state frame = {regs->pc, 0, false, interrupted, 0, NULL};
    struct walk *walk = shared_walk();
    *call_node = 0;
    if (!walk)
        return frame;
    start_walk(walk, regs);
    walk->interrupted = interrupted;
    bool described = describe_frame(walk) == STEPPED && walk->cfa;
    frame.interrupted = is_interrupted(walk);
    frame.saved = saved_registers_of(walk);
    if (!described)
        return frame;
    if (!interrupted)
        trodden_cache_frame(walk->regs.pc, false, walk->image, &walk->info, slot_of_frame(walk));
    frame.slot_known = read_slot(walk, &frame.slot_value);
    if (trodden_process.call_paths.current &&
        !read_slot_at(walk, trodden_find_call_slot(walk->image, &walk->info, &walk->scratch), call_node))
        *call_node = 0;
    return frame;
}

/* The frame that a jump goes to is known by the stack pointer that was saved there: it lies above what the
 * frame has now, and below its end. */
enum trodden_walk_result trodden_walk_to(const struct trodden_regs *regs, uint64_t sp,
                                   void (*visit)(const struct trodden_frame_state *place, void *context), void *context) {
    struct walk *walk = shared_walk();
    if (!walk)
        return TRODDEN_WALK_LOST;
    start_walk(walk, regs);
    for (uint32_t depth = 0; depth < MAX_FRAMES; depth++) {
        enum step_result outcome = describe_frame(walk);
        if (outcome == STEPPED && walk->cfa && (!depth || !walk->interrupted))
            trodden_cache_frame(walk->regs.pc, !depth, walk->image, &walk->info, slot_of_frame(walk));
        if (depth) {
            struct trodden_frame_state frame = {walk->regs.pc, 0, false, is_interrupted(walk), 0, saved_registers_of(walk)};
            frame.slot_known = outcome == STEPPED && read_slot(walk, &frame.slot_value);
            visit(&frame, context);
        }
        if (outcome == STEPPED && depth && !walk->info.signal_frame && walk->regs.r[TRODDEN_SP] <= sp &&
            sp < walk->cfa)
            return TRODDEN_WALK_FOUND;
        if (outcome == STEPPED)
            outcome = step_to_caller(walk);
        if (outcome != STEPPED)
            return outcome == LOST ? TRODDEN_WALK_LOST : TRODDEN_WALK_OTHER_STACK;
    }
    return TRODDEN_WALK_LOST;
}

uint64_t trodden_cfa_of(const struct trodden_regs *regs) {
    struct walk *walk = shared_walk();
    if (!walk)
        return 0;
    start_walk(walk, regs);
    if (describe_frame(walk) != STEPPED || walk->info.function_start == regs->pc)
        return 0;
    start_walk(walk, regs);
    walk->interrupted = false;
    return describe_frame(walk) == STEPPED ? walk->cfa : 0;
}

enum trodden_walk_result trodden_walk_stack(const struct trodden_regs *regs, uint64_t cfa, bool include_innermost, bool across_signals,
                                      void (*visit)(const struct trodden_frame_state *place, void *context),
                                      void *context) {
    struct walk *walk = shared_walk();
    if (!walk)
        return TRODDEN_WALK_LOST;
    start_walk(walk, regs);
    walk->interrupted = !include_innermost;
    for (uint32_t depth = 0; depth < MAX_FRAMES; depth++) {
        enum step_result outcome = describe_frame(walk);
        if (outcome == STEPPED && !across_signals && (!walk->cfa || walk->info.signal_frame))
            return TRODDEN_WALK_OTHER_STACK;
        if (depth || include_innermost) {
            struct trodden_frame_state frame = {walk->regs.pc, 0, false, is_interrupted(walk), walk->cfa, saved_registers_of(walk)};
            frame.slot_known = outcome == STEPPED && read_slot(walk, &frame.slot_value);
            visit(&frame, context);
        }
        if (outcome == STEPPED && cfa && depth && walk->cfa == cfa)
            return TRODDEN_WALK_FOUND;
        if (outcome == STEPPED)
            outcome = step_to_caller(walk);
        if (outcome != STEPPED)
            return outcome == LOST ? TRODDEN_WALK_LOST : TRODDEN_WALK_OTHER_STACK;
    }
    return TRODDEN_WALK_LOST;
}
