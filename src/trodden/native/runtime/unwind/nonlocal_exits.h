/* Non-local exits: frames that were left without returning, counted by return address (nonlocal_exits.c). */
#ifndef TRODDEN_UNWIND_NONLOCAL_EXITS_H
#define TRODDEN_UNWIND_NONLOCAL_EXITS_H

#include <stdbool.h>
#include <stdint.h>

#include "unwind/registers.h"

struct trodden_cached_walk;
struct trodden_lost_page;

/* As in the live file. */
struct trodden_nonlocal_exit {
    uint32_t module;
    bool slot_known, used;
    uint64_t address;
    uint64_t slot_value; /* the function's path register, if `slot_known` */
    int64_t count;       /* how often frames were left at this return address, less how often they were resumed */
};

struct trodden_nonlocal_exit_table {
    struct trodden_nonlocal_exit_table *older; /* full, but still in use */
    uint64_t capacity, used;
    struct trodden_nonlocal_exit entries[];
};

struct trodden_nonlocal_exits {
    struct trodden_nonlocal_exit_table *newest;
    bool incomplete;     /* some exits could not be recorded */
    bool stack_switched; /* a thread has switched to another stack */
};

/* The record of frames that return to that address of the module.  NULL: there is none, and `create` is false or
 * there is no memory.  With `create`, the caller holds the lock. */
struct trodden_nonlocal_exit *trodden_nonlocal_exit_at(uint32_t module, uint64_t address, bool slot_known,
                                                       uint64_t slot_value, bool create);

/* longjmp with these registers leaves the frames up to walk->target_sp and resumes with the registers `to`.  The walk
 * may have recorded the first frames already.  All signals are blocked; while it waits for the lock, they are those of
 * the mask, unless frames have been recorded. */
void trodden_record_jump(const struct trodden_regs *regs, struct trodden_cached_walk *walk,
                         const struct trodden_regs *to, uint64_t mask);
/* All frames from the caller's up to the one at `sp` are left `amount` times, and resumed at `resume_pc`. */
void trodden_record_exits_to(const struct trodden_regs *regs, uint64_t sp, uint64_t resume_pc, int64_t amount);
/* An unwinder leaves the frame with these stack and frame pointers, which has made the call that returns to `pc`.
 * False: the frame is not in the frame cache, so that all its registers are needed: */
bool trodden_record_unwound_cached(uintptr_t pc, uint64_t sp, uint64_t fp);
void trodden_record_unwound(const struct trodden_regs *regs, bool interrupted);
/* What is inlined at the call that returns to `pc` is left. */
void trodden_record_exit_at(uintptr_t pc);
/* The frame with these registers leaves the call that it waits for and resumes behind setjmp, at `pc`.  `interrupted`:
 * the registers of the frame that a signal has interrupted, which may be this one, or NULL. */
void trodden_record_resume(const struct trodden_regs *regs, const struct trodden_regs *interrupted, uintptr_t pc);
/* The thread exits: all frames from the caller's outwards are left. */
void trodden_record_thread_exit(const struct trodden_regs *regs);
/* The thread continues with the registers `to`, possibly on another stack.  `from`: the caller of that frame, and all
 * frames above it, are left; NULL: no frame is left.  All signals are blocked; while it waits for the lock, they are
 * those of the mask.  False: no function is resumed, but one starts. */
bool trodden_record_stack_switch(const struct trodden_regs *from, const struct trodden_regs *to, uint64_t mask);
void trodden_nonlocal_exits_rebuild(const struct trodden_lost_page *page); /* as of an empty table */
/* Zeroes all records, in a forked child. */
void trodden_nonlocal_exits_reset(void);

/* Takes the lock, with the list of images at least as new as that generation. */
uint64_t trodden_lock_with_images(uint64_t generation);

#endif
