/* What the other folders need of the trace.  All of these do nothing in a process that records none. */
#ifndef TRODDEN_TRACE_TRACE_H
#define TRODDEN_TRACE_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/attributes.h"
#include "trodden.h"
#include "unwind/registers.h"

struct trodden_module;
struct trodden_thread;
struct trodden_trace_stream;
struct trodden_live_region;
struct trodden_cached_walk;

/* The part of the process's state that is about its trace. */
struct trodden_trace_process {
    bool active;            /* a unit records one */
    intptr_t cursor_offset; /* of the variable __trodden_trace, from the thread pointer */
    uint32_t functions;     /* numbers that have been given to functions */
    uint32_t stopped;       /* enum trodden_trace_reason */
    uint32_t lost;          /* 1: some records are in no chunk */
    uint64_t limit;         /* bytes that may be spooled */
    uint64_t spooled;
    uint64_t ring;          /* segments of each thread's ring; 0: chunks are spooled */
    uint64_t backlog;       /* of the spool file, from which on a thread waits for it to be drained; 0: never */
    struct trodden_trace_stream *streams;
};

/* More space for the calling thread's cursor.  `regs` have been captured in a function that instrumented code has
 * called: the function with that number. */
PROCESS_WIDE void __trodden_trace_next(struct trodden_trace_cursor *cursor, const struct trodden_regs *regs,
                                       uint32_t function, uint64_t location);

/* ---- streams.c; the callers hold the lock ---- */
void trodden_trace_attach_module(struct trodden_module *module);
void trodden_trace_attach_thread(struct trodden_thread *thread);
void trodden_trace_detach_thread(struct trodden_thread *thread); /* it exits */

/* ---- endings.c; the callers hold the lock, and all threads are stopped that could be ---- */
/* Spools what has been recorded so far.  `final`: nothing more is recorded. */
void trodden_trace_write(bool final);

/* ---- forks.c ---- */
/* In the child: does it keep that region of its parent, and with what is in it? */
bool trodden_trace_keeps(const void *memory);
bool trodden_trace_is_empty(const void *memory);
void trodden_trace_after_fork(const struct trodden_regs *regs);
void trodden_trace_forked(uint32_t child); /* in the parent; 0: there is no child */

/* ---- leaving.c; the callers hold the lock, with a list of images that is up to date ---- */
/* A jump leaves the frames of the caller up to the one that `sp` belongs to, which goes on with the registers `to`. */
void trodden_trace_jump(const struct trodden_regs *regs, uint64_t sp, const struct trodden_regs *to);
/* The same without the lock and for counts too, of cached frames.  False: they are not, or there is no room; what has been
 * counted is in `walk`. */
bool trodden_trace_jump_cached(struct trodden_cached_walk *walk);
/* A child of vfork leaves the frames up to that one. */
void trodden_trace_exits_to(const struct trodden_regs *regs, uint64_t sp);
void trodden_trace_thread_exit(const struct trodden_regs *regs);
/* The thread continues with the registers `to`; `from`: as for trodden_record_stack_switch; `cfa`: of `to`, or 0. */
void trodden_trace_switch(const struct trodden_regs *from, const struct trodden_regs *to, uint64_t cfa);
/* exec has failed; `left`: the frames had been recorded as left. */
void trodden_trace_exec_failed(const struct trodden_regs *regs, bool left);

/* ---- unwinding.c; without the lock ---- */
/* An unwinder leaves the frame with these registers, or (`lands`) control goes on there. */
void trodden_trace_unwound(const struct trodden_regs *regs, bool interrupted, bool lands);

/* ---- handlers.c ---- */
/* Around a signal handler of the program, on the stack of the function that calls it. */
struct trodden_trace_gate {
    struct trodden_trace_stream *stream; /* NULL: the thread records no trace */
    struct trodden_trace_cursor interrupted;
    uint32_t level;                      /* of the handler; 0: there are too many */
};
void trodden_trace_enter_handler(struct trodden_trace_gate *gate, int number, const void *context);
static inline void trodden_trace_handler_starts(struct trodden_trace_gate *gate, struct trodden_trace_stream *stream,
                                                int number, const void *context) {
    gate->stream = stream;
    if (stream)
        trodden_trace_enter_handler(gate, number, context);
}
void trodden_trace_leave_handler(const struct trodden_trace_gate *gate);
static inline void trodden_trace_handler_ends(const struct trodden_trace_gate *gate) {
    if (gate->stream)
        trodden_trace_leave_handler(gate);
}

#endif
