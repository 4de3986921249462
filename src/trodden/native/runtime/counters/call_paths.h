/* Call paths (call_path_tree.c, call_path_records.c). */
#ifndef TRODDEN_COUNTERS_CALL_PATHS_H
#define TRODDEN_COUNTERS_CALL_PATHS_H

#include <stdbool.h>
#include <stdint.h>

#include "trodden.h"

struct trodden_module;

#define TRODDEN_CALL_BUCKETS 256

/* The trees of all threads, by a hash of the thread pointer. */
struct trodden_call_paths {
    struct trodden_call_path_tree *buckets[TRODDEN_CALL_BUCKETS];
    /* The accessor of the calling thread's current node, from some unit that records call paths; NULL: there is
     * none. */
    struct trodden_call_node **(*current)(void);
    bool lost; /* some calls, for lack of memory */
};

/* ---- call_path_tree.c: the current node of the calling thread ---- */
void trodden_calls_unwind_to(uint64_t sp);                       /* the frames below this stack pointer are left */
uint64_t trodden_calls_current(void);                            /* 0: no unit records call paths */
void trodden_calls_resume(uint64_t node);                        /* continues there; 0: outside of all functions */
void trodden_calls_leave_frame(uint64_t call_node, uint64_t sp); /* the frame with that stack pointer is left */

/* ---- call_path_records.c: the trees of all threads; the callers hold the lock ---- */
/* As in the raw file. */
struct trodden_call_path_record {
    uint32_t unit, function, parent, flags;
    uint64_t count;
};

#define TRODDEN_CALL_RECURSIVE 1u /* the function was on the path to `parent` already */

typedef void trodden_call_path_visitor(const struct trodden_call_path_record *record, void *context);

uint32_t trodden_calls_mark(void); /* selects the nodes to be written; returns how many records there will be */
void trodden_calls_visit_records(trodden_call_path_visitor *visit, void *context);
void trodden_calls_find_accessor(void);                          /* modules have been loaded or unloaded */
void trodden_calls_forget_module(struct trodden_module *module); /* it is about to be unloaded */
void trodden_calls_release_thread(uintptr_t tp);                 /* the calling thread exits */
void trodden_calls_reset(uintptr_t tp); /* zeroes all counts, in a forked child that has only this thread */

#endif
