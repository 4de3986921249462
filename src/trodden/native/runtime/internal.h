/* What the files of the runtime share.  Nothing here is visible outside the module it is linked into,
 * except the functions marked SHARED: of these the first copy in lookup order serves the whole
 * process, so that an executable and its instrumented libraries write one result. */
#ifndef TRODDEN_INTERNAL_H
#define TRODDEN_INTERNAL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "live.h"
#include "trodden.h"

/* Leaves nothing on the stack for the function that goes on. */
#if defined(__has_attribute)
#if __has_attribute(musttail)
#define TAIL_CALL __attribute__((musttail))
#endif
#endif
#ifndef TAIL_CALL
#define TAIL_CALL
#endif

#define EXPORTED __attribute__((visibility("default")))
#define PROCESS_WIDE __attribute__((visibility("default"), weak))

/* ---- system.c: memory and mutual exclusion without malloc and without the C library's locks ---- */
int trodden_sys_open(const char *path, int flags); /* these are no points of cancellation, as those of the C library are */
int trodden_sys_close(int file);
long trodden_sys_read(int file, void *buffer, size_t bytes);
long trodden_sys_write(int file, const void *buffer, size_t bytes);
void trodden_sleep(uint64_t nanoseconds);
void *trodden_map(size_t bytes);
void trodden_unmap(void *memory, size_t bytes);
void *trodden_alloc(size_t bytes); /* never given back; caller holds the lock */
uint64_t trodden_lock(void);       /* blocks all signals; answers the mask to restore */
bool trodden_lock_timed(uint64_t *mask); /* false: somebody does not let go of it */
void trodden_unlock(uint64_t mask);
void trodden_lock_reset(void);
uint64_t trodden_block_signals(void); /* answers the mask to restore */
void trodden_restore_signals(uint64_t mask);
void trodden_discard_pending_signal(int number);
uint64_t trodden_now(void); /* nanoseconds since the epoch */
uint64_t trodden_process_start_time(void);
uint64_t trodden_process_start_ticks(void);
long trodden_read_task_file(uint32_t tid, const char *name, char *buffer, size_t capacity); /* what was read of it, or less */
uint64_t trodden_start_ticks_of(uint32_t pid); /* 0: there is no such process, or none that can be seen */
size_t trodden_page_size(void);
uint32_t trodden_pid(void);

static inline uintptr_t trodden_thread_pointer(void) {
    uintptr_t tp;
#if defined(__x86_64__)
    __asm__("movq %%fs:0, %0" : "=r"(tp));
#elif defined(__aarch64__)
    __asm__("mrs %0, tpidr_el0" : "=r"(tp));
#else
#error "trodden's runtime knows x86-64 and aarch64"
#endif
    return tp;
}

/* ---- images.c: the loaded objects, as the dynamic linker tells ---- */
#define TRODDEN_MAX_SEGMENTS 8

struct trodden_image {
    uintptr_t bias, low, high; /* [low, high) spans all loaded segments */
    const void *dynamic;       /* what the dynamic linker goes by, or NULL */
    struct trodden_segment {
        uintptr_t from, bytes;
    } segments[TRODDEN_MAX_SEGMENTS]; /* that can be read */
    uint32_t segment_count;
    const uint8_t *eh_frame_hdr;
    const char *name; /* valid only while the image is known to be loaded */
};

struct trodden_images {
    size_t count, bytes;
    uint64_t generation;
    struct trodden_image entries[];
};

struct trodden_images *trodden_images_snapshot(void); /* may wait for the dynamic linker: hold no lock */
void trodden_images_free(struct trodden_images *images);
uint64_t trodden_images_generation(void); /* another one whenever something was loaded or unloaded */
const struct trodden_image *trodden_image_of(const struct trodden_images *images, uintptr_t address);
bool trodden_image_contains(const struct trodden_image *image, uintptr_t from, size_t bytes);

/* ---- registry.c: modules (executable, shared libraries), their units, and the one who leads ---- */
/* Whole pages on every machine. */
#ifdef __x86_64__
#define TRODDEN_PADDING 4096
#else
#define TRODDEN_PADDING 65536
#endif

#define TRODDEN_MAX_TABLE_UNITS (1u << 18) /* that find their counters by a table */

struct trodden_module_unit {
    const struct trodden_unit *unit; /* only while its module is loaded */
    uint8_t id[16];
    uint32_t slots;
    bool static_tls;
    uint32_t table_index;  /* in the threads' tables */
    intptr_t tls_offset; /* from the thread pointer: of its counters, or of where the table is told */
    size_t shard_offset;       /* of its counters in a shard, in bytes */
};

struct trodden_shard {
    struct trodden_shard *next;   /* of the same module */
    struct trodden_shard *next_of_thread; /* of the same thread, or the next spare one */
    struct trodden_module *module;
    uint64_t *memory;
    uint64_t offset; /* in the live file */
    uintptr_t tp;    /* whose it is; 0: nobody's */
    bool mapped_over_tls;  /* the thread's TLS */
    size_t zero_from, zero_to; /* known to be so */
};

struct trodden_module {
    struct trodden_module *next;
    const void *instance; /* the runtime copy in it; NULL once it is known to be unloaded */
    bool finalized;        /* its destructors have run: it is unloaded, or the process ends */
    bool stays_mapped;       /* it has left because the process ends, and stays mapped */
    uint32_t index;
    uintptr_t bias, low, high;
    uintptr_t padding;    /* the runtime's own page behind its counters, in the thread that loaded it */
    intptr_t tls_low; /* its counters in static TLS, from the thread pointer */
    size_t tls_bytes;
    bool whole_pages; /* that hold nothing else */
    bool has_table_units;      /* some of its units find their counters by tables */
    bool has_rings;      /* some of its units keep last paths */
    intptr_t ring_tls_offset;    /* then: from the thread pointer, where they find the thread's ring */
    size_t shard_bytes;
    struct trodden_shard *shards, *free_shards, *fallback_shard;
    struct trodden_live_module *live;
    char *path;
    uint32_t path_length;
    uint32_t unit_count, first_unit;
    struct trodden_module_unit *units;
    const void *slots_mark; /* one entry of its section .trodden_cells, or NULL */
    struct trodden_register_slot *slots; /* sorted by address, once somebody asks */
    size_t slot_count, slots_bytes;
    struct trodden_sparse_paths *sparse_paths; /* those of the copy in it; only while it is loaded */
    struct trodden_sparse_paths *saved_sparse_paths;  /* the same between two times that it is loaded */
    const struct trodden_unwinder *unwinder; /* what its copy would unwind with, or NULL */
};

struct trodden_thread {
    struct trodden_thread *next, *previous; /* in the list of live threads; `next` also of free ones */
    uintptr_t tp;                           /* 0 until it runs */
    uint32_t number;
    uint32_t destructor_rounds; /* of destruction seen so far */
    uint32_t tid;
    struct trodden_shard *shards;
    struct trodden_ring_region *ring;
    bool ending;     /* all its functions have returned */
    void *alternate_stack; /* a stack for signals, unless the thread has one of its own */
    uint64_t vfork_return, vfork_sp; /* where its last vfork returns to, and the stack pointer then */
    const void *stopped_at; /* what a signal has interrupted it in, see stops.c */
    void **counter_table; /* of TRODDEN_MOST_UNITS, by `index`: where its counters are */
    void *(*start)(void *);
    void *argument;
};

#define TRODDEN_MAX_SAVED_REGISTERS 32

struct trodden_frames {
    struct trodden_frame *entries;
    struct trodden_saved_registers *saved; /* of the first that were interrupted, or wait for one that was */
    uint32_t count, saved_count;
    bool incomplete; /* the walk did not reach the outermost frame */
    size_t bytes;
};

struct trodden_nonlocal_exit {
    uint32_t module;
    bool slot_known, used;
    uint64_t address;
    uint64_t slot_value; /* what the function's cell held, if `known` */
    int64_t count; /* how often left at this return address, less how often come back to */
};

struct trodden_nonlocal_exit_table {
    struct trodden_nonlocal_exit_table *older; /* full, but still in use */
    uint64_t capacity, used;
    struct trodden_nonlocal_exit entries[];
};

struct trodden_nonlocal_exits {
    struct trodden_nonlocal_exit_table *newest;
    bool incomplete;       /* not all of a jump could be noted */
    bool stack_switched; /* one went to another stack */
};

/* A note, as in the raw file, but for `used`. */
struct trodden_sparse_total {
    uint32_t unit, occupied;
    uint64_t key, value, amount;
};

struct trodden_sparse_totals {
    struct trodden_sparse_total *entries;
    uint64_t capacity, used;
    bool lost; /* there was no memory for some */
};

/* As in the raw file. */
struct trodden_call_path_record {
    uint32_t unit, function, parent, flags;
    uint64_t count;
};

#define TRODDEN_CALL_RECURSIVE 1u /* the call went back to the same function on the way to `parent` */
#define TRODDEN_CALL_BUCKETS 256

/* The trees of all threads, by a hash of their thread pointers. */
struct trodden_call_paths {
    struct trodden_call_path_tree *buckets[TRODDEN_CALL_BUCKETS];
    struct trodden_call_node **(*current)(void); /* of some unit that keeps call paths, while there is one */
    bool lost;                             /* there was no memory for some */
};

struct trodden_process {
    int init_state; /* 0 not yet, 1 being set up, 2 done */
    bool exiting, final_written;
    uint32_t pid, first_pid;
    uint64_t start_time;
    struct trodden_module *modules;
    uint32_t module_count, unit_count;
    struct trodden_images *images;
    struct trodden_thread *threads;
    uint32_t thread_count; /* ever */
    size_t tls_bytes;
    struct trodden_frames fork_frames;
    struct trodden_nonlocal_exits nonlocal_exits;
    struct trodden_call_paths call_paths;
    struct {
        struct trodden_abandoned_chunk *newest;
        uint32_t chunks;
    } abandoned;
    uint32_t table_units;
    struct trodden_live_header *live;
    uintptr_t region_owner; /* the thread that adds a region or takes one away, or forks; 0: nobody */
};

extern struct trodden_process trodden_process;

struct trodden_regs;
/* What a module tells of itself.  `copy` tells the copies apart: it is the address of its own trodden_lead. */
struct trodden_module_info {
    const void *instance;
    struct trodden_unit *begin, *end;
    const void *slots_mark;
    struct trodden_sparse_paths *sparse_paths;
    uintptr_t padding; /* where that of pad.c is in the calling thread, or 0 */
    const struct trodden_unwinder *unwinder;
};

PROCESS_WIDE void __trodden_enter(const struct trodden_module_info *info);
PROCESS_WIDE void __trodden_leave(const void *instance, const struct trodden_regs *regs);
PROCESS_WIDE struct trodden_process *__trodden_leader(void);
PROCESS_WIDE void *__trodden_keep(uint32_t kind, uint32_t module, size_t bytes);

void trodden_init(void);
void trodden_set_images(struct trodden_images *images); /* takes them over; caller holds the lock */
bool trodden_is_leader(void); /* is this copy the one that serves? begins if it has units */
bool trodden_has_units(void);

/* ---- live.c: memory in the live file ---- */
void trodden_live_init(void);
void trodden_live_before_fork(void);
void trodden_live_wait_for_child(void); /* in the parent */
void trodden_live_after_fork(void);      /* in the child */
void *trodden_live_alloc(enum trodden_region_kind kind, uint32_t module, size_t bytes); /* zero, in whole pages; needs no lock */
void trodden_live_free(void *memory, size_t bytes);
uint64_t trodden_live_offset(const void *memory);
uint64_t trodden_live_next_data(uint64_t offset);
bool trodden_live_replace_page(uintptr_t address);
bool trodden_live_map_alias(void *memory, uint64_t offset, size_t bytes, void *target); /* the same pages there too */
void trodden_live_discard_end(void); /* the process goes on after all */
void trodden_mark_incomplete(void);        /* not all could be noted: calls, paths or where threads were */
size_t trodden_round_to_pages(size_t bytes);

/* ---- counters.c: the only place that knows where counters are; the caller holds the lock ---- */
__attribute__((weak)) uintptr_t trodden_own_padding(void); /* pad.c, only in executables */
void trodden_shards_lay_out(struct trodden_module *module);
void trodden_shards_attach_module(struct trodden_module *module);
void trodden_shards_attach_thread(struct trodden_thread *thread);
void trodden_shards_detach_thread(struct trodden_thread *thread, bool forked);
void trodden_shards_after_fork(struct trodden_thread *own);
void *trodden_shard_page_of(uintptr_t address);
void *trodden_tls_page_of(uintptr_t address);
const uint64_t *trodden_sum_counters(const struct trodden_module *module, const struct trodden_module_unit *unit, uint32_t first,
                            uint32_t count, uint64_t *buffer);

/* The next counter that is not zero, or their end: tables of paths are mostly empty. */
static inline uint32_t trodden_skip_zeros(const uint64_t *counts, uint32_t k, uint32_t end) {
    while (k < end) {
        bool eight = k + 8 <= end && !(counts[k] | counts[k + 1] | counts[k + 2] | counts[k + 3] | counts[k + 4] |
                                       counts[k + 5] | counts[k + 6] | counts[k + 7]);
        if (!eight && counts[k])
            break;
        k += eight ? 8 : 1;
    }
    return k;
}

/* ---- rings.c: the last paths of threads; the caller holds the lock ---- */
/* As in the raw file. */
struct trodden_last_path_record {
    uint32_t thread, tag, function, reserved;
    uint64_t path;
};

struct trodden_last_paths {
    struct trodden_last_path_record *entries;
    uint32_t count;
    size_t bytes;
};

void trodden_rings_attach_module(struct trodden_module *module);
void trodden_rings_attach_thread(struct trodden_thread *thread);
void trodden_rings_detach_thread(struct trodden_thread *thread, bool forked);
void trodden_rings_after_fork(struct trodden_thread *own);
struct trodden_last_paths trodden_collect_last_paths(void);

/* ---- cells.c: where functions keep their path registers ---- */
const void *trodden_slots_mark(void);
void trodden_drop_slot_index(struct trodden_module *module);

/* ---- notes.c: what this copy's instrumented code has noted; note_sums.c: the leader's view of all copies' ---- */
struct trodden_sparse_paths *trodden_own_sparse_paths(void);
void trodden_sparse_release_thread(uintptr_t tp);                  /* that thread ends */
void trodden_sparse_save_module(struct trodden_module *module);   /* it is about to be unloaded */
void trodden_sparse_restore_module(struct trodden_module *module, struct trodden_sparse_paths *own); /* it is loaded */
void trodden_sparse_reset(uintptr_t tp);                  /* all: in a child that has only this thread */
void trodden_sparse_sum(struct trodden_sparse_totals *totals);
void trodden_sparse_free_totals(struct trodden_sparse_totals *totals);

/* ---- contexts.c: the call paths of threads; context_records.c: the leader's view of them ---- */
void trodden_calls_unwind_to(uint64_t sp);                   /* before the calling thread jumps there */
uint64_t trodden_calls_current(void);                     /* where the calling thread is; 0: nobody asks */
void trodden_calls_resume(uint64_t node);               /* it goes on from there, or from no function at all */
void trodden_calls_leave_frame(uint64_t call_node, uint64_t sp);   /* a frame with that stack pointer is left */
void trodden_calls_find_accessor(void);                         /* modules have come or gone */
void trodden_calls_forget_module(struct trodden_module *module); /* it is about to be unloaded */
void trodden_calls_release_thread(uintptr_t tp);                /* that thread, the calling one, ends */
void trodden_calls_reset(uintptr_t tp);                /* all counts: in a child that has only this thread */
uint32_t trodden_calls_mark(void);                      /* chooses what is written: how many records */
void trodden_calls_visit_records(void (*visit)(const struct trodden_call_path_record *record, void *context), void *context);

/* ---- threads.c ---- */
void trodden_threads_init(void);
void trodden_threads_shutdown(void);
void trodden_threads_after_fork(void);
uint32_t trodden_thread_number(void);
struct trodden_thread *trodden_own_thread(void); /* NULL: nobody saw it start */

/* ---- signals.c, deaths.c: signals that end the process; stops.c: other threads ---- */
void trodden_fatal_signal(int number, siginfo_t *info, void *ucontext);
void trodden_signals_init(void);
void trodden_signals_shutdown(void);
int trodden_real_sigaction(int number, const struct sigaction *action, struct sigaction *previous);
void trodden_alternate_stack_install(struct trodden_thread *thread); /* the calling one */
void trodden_alternate_stack_remove(struct trodden_thread *thread);
void trodden_live_save_frames(enum trodden_region_kind kind, const struct trodden_frames *frames, uint32_t thread, uint32_t tid);
void trodden_save_all_threads(const struct trodden_regs *regs, bool interrupted);
void trodden_fatal_signal_after_fork(void);
uint32_t trodden_stop_threads(void);
void trodden_resume_threads(void);
void trodden_keep_stopped(void); /* for good */
void trodden_stop_after_fork(void);
void trodden_regs_from_ucontext(const void *ucontext, struct trodden_regs *regs);

/* ---- execs.c ---- */
/* False: this is no child of vfork. */
bool trodden_vfork_child_leaves(const struct trodden_regs *regs, int64_t amount);

/* ---- unwind.c, cfi.c, expression.c: the frames of the calling thread ---- */
#if defined(__x86_64__)
#define TRODDEN_COLUMNS 17
#define TRODDEN_FP 6
#define TRODDEN_SP 7
#else
#define TRODDEN_COLUMNS 33
#define TRODDEN_FP 29
#define TRODDEN_SP 31
#endif

struct trodden_regs {
    uint64_t pc;
    uint64_t r[TRODDEN_COLUMNS]; /* by DWARF number */
    uint64_t known;              /* bit i: r[i] is known */
};

/* Has to sit in the function whose caller is to be the first frame reported. */
#if defined(__x86_64__)
#define TRODDEN_CAPTURE_REGS(regs)                                                                          \
    do {                                                                                               \
        __asm__ volatile("leaq 0f(%%rip), %%rax\n0:\n\t"                                               \
                         "movq %%rax, 0(%0)\n\tmovq %%rbx, 32(%0)\n\tmovq %%rbp, 56(%0)\n\t"           \
                         "movq %%rsp, 64(%0)\n\tmovq %%r12, 104(%0)\n\tmovq %%r13, 112(%0)\n\t"        \
                         "movq %%r14, 120(%0)\n\tmovq %%r15, 128(%0)"                                  \
                         :                                                                             \
                         : "r"(regs)                                                                   \
                         : "rax", "memory");                                                           \
        (regs)->known = 1u << 3 | 1u << 6 | 1u << 7 | 15u << 12;                                       \
    } while (0)
#else
#define TRODDEN_CAPTURE_REGS(regs)                                                                          \
    do {                                                                                               \
        __asm__ volatile("adr x9, 0f\n0:\n\tstr x9, [%0]\n\tstp x19, x20, [%0, #160]\n\t"              \
                         "stp x21, x22, [%0, #176]\n\tstp x23, x24, [%0, #192]\n\t"                    \
                         "stp x25, x26, [%0, #208]\n\tstp x27, x28, [%0, #224]\n\t"                    \
                         "stp x29, x30, [%0, #240]\n\tmov x9, sp\n\tstr x9, [%0, #256]"                \
                         :                                                                             \
                         : "r"(regs)                                                                   \
                         : "x9", "memory");                                                            \
        (regs)->known = 0xfff80000u | (uint64_t)1 << 31;                                               \
    } while (0)
#endif

/* Those that return into a module with units, innermost first; and the one with these registers, if it was
 * interrupted.  The caller holds the lock. */
struct trodden_frames trodden_collect_frames(const struct trodden_regs *regs, uint32_t thread, bool interrupted);
void trodden_frames_free(struct trodden_frames *frames);
struct trodden_module *trodden_module_of(uintptr_t pc);

enum trodden_walk_result {
    TRODDEN_WALK_FOUND,
    TRODDEN_WALK_LOST,      /* a frame could not be read */
    TRODDEN_WALK_OTHER_STACK, /* the stack ends without such a frame */
};

/* Where a frame is: its return address, and what its function's cell holds, if that is known. */
struct trodden_frame_state {
    uintptr_t pc;
    uint64_t slot_value;
    bool slot_known;
    bool interrupted; /* `pc` is no return address, as a signal came in there */
    uint64_t cfa;     /* or 0 */
    const struct trodden_saved_registers *saved; /* of one that was interrupted, if it matters */
};

/* ---- left.c ---- */
bool trodden_abandoned_record(const struct trodden_frame_state *frame); /* false: there is no room */
uint32_t trodden_abandoned_count(void);
void trodden_abandoned_visit(void (*visit)(const struct trodden_frame *frame, struct trodden_saved_registers *context, void *with),
                       void *context);
void trodden_abandoned_reset(void);

/* Where the frame with these registers is, and what its function has found in the thread's place among call paths,
 * or 0.  The caller holds the lock. */
struct trodden_frame_state trodden_frame_state_of(const struct trodden_regs *regs, bool interrupted, uint64_t *call_node);

/* The CFA of the frame with these registers, which stands behind a call; 0: it is not known, or stands at the
 * beginning of a function.  The caller holds the lock. */
uint64_t trodden_cfa_of(const struct trodden_regs *regs);
/* Tells `visit` the frames of a stack, up to the one with that CFA, or else to the outermost.  `inner`: the one with
 * these registers too, which stands behind a call; `across`: also those that a signal has interrupted.  The
 * caller holds the lock. */
enum trodden_walk_result trodden_walk_stack(const struct trodden_regs *regs, uint64_t cfa, bool include_innermost, bool across_signals,
                                      void (*visit)(const struct trodden_frame_state *place, void *context),
                                      void *context);

/* Tells `visit` the frames from the caller's up to the one that holds `sp`, that one too.  The caller holds
 * the lock. */
enum trodden_walk_result trodden_walk_to(const struct trodden_regs *regs, uint64_t sp,
                                   void (*visit)(const struct trodden_frame_state *place, void *context), void *context);

/* ---- plain.c: frames that jumps have passed before ---- */
/* How far a jump has been followed over frames that are remembered, and noted. */
struct trodden_cached_walk {
    uintptr_t pc; /* of the next frame, and its pointers: */
    uint64_t frame_sp, frame_fp;
    uint64_t target_sp, resume_pc; /* where the jump goes to */
    uint64_t clear_count;
    uint32_t frames_walked; /* frames, from that of longjmp itself */
    bool at_target;      /* at the frame that holds `sp`, which has been noted too */
    bool holds_lock;     /* the caller holds the lock */
    bool images_current;       /* all that is remembered is known to be right */
};

/* Notes one frame after the other, and where the jump goes to; false: stopped at what it cannot note. */
bool trodden_walk_cached(struct trodden_cached_walk *walk);
/* The same for the one frame that the trail begins with, which is left for good. */
bool trodden_record_cached_frame(struct trodden_cached_walk *walk);
/* The caller of these holds the lock. */
void trodden_cache_resume_point(uintptr_t pc);
void trodden_frame_cache_validate(void); /* there may be other images now */
void trodden_frame_cache_clear(void);

/* ---- jumps.c: functions that were left by longjmp ---- */
void trodden_longjmp_init(void);
void trodden_nonlocal_exits_reset(void);
/* Takes the lock, with the images known that are there in that generation. */
uint64_t trodden_lock_with_images(uint64_t generation);
/* All frames from the caller's up to the one at `sp` are left, `amount` times, for where `back` is. */
void trodden_record_exits_to(const struct trodden_regs *regs, uint64_t sp, uint64_t resume_pc, int64_t amount);
/* The frame with these pointers, which has called what returns to `pc`, is left by unwinding; false: no such frame has
 * been noted before, so that more has to be known of it: */
bool trodden_record_unwound_cached(uintptr_t pc, uint64_t sp, uint64_t fp);
/* The frame with these registers is left by unwinding. */
void trodden_record_unwound(const struct trodden_regs *regs, bool interrupted);
/* The frame with these registers leaves the call it is in and goes on behind setjmp, at `pc`. */
void trodden_record_resume(const struct trodden_regs *regs, uintptr_t pc);
/* All frames above the caller's are left, as the thread ends. */
void trodden_record_thread_exit(const struct trodden_regs *regs);
/* The thread goes on with the registers `to`, perhaps on another stack; `from`: above that caller's frame, or NULL if
 * nothing is left. */
void trodden_record_stack_switch(const struct trodden_regs *from, const struct trodden_regs *to);
/* What frames are noted as that return to that address of the module; NULL: nothing yet, and none is to be made,
 * or there is no memory.  Who wants it made holds the lock. */
struct trodden_nonlocal_exit *trodden_nonlocal_exit_at(uint32_t module, uint64_t address, bool slot_known, uint64_t slot_value, bool create);

/* ---- name.c, place.c, write.c, crc32.c ---- */
#define TRODDEN_PATH_BYTES 8192
const char *trodden_output_path(void);
int trodden_output_open(bool *by_rename); /* `whole`: seen by nobody before it is closed */
int trodden_output_close(bool by_rename, int file, int error, bool final); /* answers the error */
int trodden_output_create_live(void);
bool trodden_output_publish_live(void);
void trodden_output_remove_live(void);
const char *trodden_output_live_path(void);
void trodden_output_name_init(void);
bool trodden_output_name(char *path, uint32_t attempt); /* TRODDEN_PATH bytes; false: too long */
void trodden_write_raw_file(const struct trodden_regs *regs, bool complete, bool final);
uint32_t trodden_crc32(uint32_t crc, const void *bytes, size_t count);

/* ---- personality.c: frames that an unwinder passes; symbols.c ---- */
struct _Unwind_Context;
const struct trodden_unwinder *trodden_own_unwinder(void); /* what is linked to this copy, or NULL */
PROCESS_WIDE void __trodden_passed(struct _Unwind_Context *context, uintptr_t caller);
int __trodden_personality(int version, int actions, uint64_t class, void *exception,
                          struct _Unwind_Context *context);
int __trodden_answered(int reason, int actions, struct _Unwind_Context *context, void *caller);
/* What the object that holds `address` shows under these names (the last is NULL), or 0; and where it lies. */
void trodden_find_dynamic_symbols(uintptr_t address, const char *const *names, uintptr_t *found, uintptr_t range[2]);

#endif
