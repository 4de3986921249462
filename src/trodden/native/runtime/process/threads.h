/* The threads of the process (threads.c). */
#ifndef TRODDEN_PROCESS_THREADS_H
#define TRODDEN_PROCESS_THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/landing.h"
#include "unwind/registers.h"
#include "unwind/stack_walk.h"

struct trodden_thread {
    struct trodden_thread *next, *previous; /* in the list of threads; `next` also in the free list */
    uintptr_t tp;                           /* 0 until it runs */
    uint32_t number;
    uint32_t destructor_rounds; /* seen so far */
    uint32_t tid;
    struct trodden_shard *shards;
    struct trodden_ring_region *ring;
    struct trodden_trace_stream *trace;
    bool ending;                     /* all its functions have returned */
    void *alternate_stack;           /* for signal handlers, unless the program has installed one */
    uint64_t vfork_return, vfork_sp; /* the return address of its last vfork, and the stack pointer after it */
    uint64_t vfork_faults;           /* its `faults_blocked` before that */
    const void *stopped_at;          /* the ucontext that it was stopped with (stop_threads.c) */
    bool stop_sent;                  /* the signal that stops it has been sent */
    uint64_t signal_mask;            /* the one that it starts with */
    uint64_t faults_blocked;         /* signals of faults that the program has blocked (sigmask.c) */
    struct trodden_landing landing;  /* of a jump that is under way (landing.c), and a copy of its context: */
    void *context_copy;
    struct trodden_unwinding unwinding; /* an exception that is under way (unwind/personality.c) */
    bool cancelled;                   /* the signal that cancels it has interrupted it (pthread_cancel.c), with: */
    struct trodden_regs cancelled_at;
    void **counter_table;            /* of TRODDEN_MAX_TABLE_UNITS entries: where the counters of each unit are */
    void *(*start)(void *);
    void *argument;
    void *stack; /* the one that the program supplied, if it is not the C library's idea of the thread's stack */
    size_t stack_bytes;
};

void trodden_threads_init(void);
void trodden_threads_shutdown(void);
void trodden_threads_after_fork(void);

uint32_t trodden_thread_number(void);
struct trodden_thread *trodden_own_thread(void); /* NULL: its start was not observed */

/* ---- for pthread_create.c ---- */
struct trodden_thread *trodden_thread_add(void);           /* the caller holds the lock */
void trodden_thread_remove(struct trodden_thread *thread); /* the caller holds the lock */
void trodden_thread_starts(struct trodden_thread *thread); /* in the new thread, with all signals blocked */

#endif
