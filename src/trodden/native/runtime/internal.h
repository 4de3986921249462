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
#define IN_PLACE __attribute__((musttail))
#endif
#endif
#ifndef IN_PLACE
#define IN_PLACE
#endif

#define EXPORTED __attribute__((visibility("default")))
#define SHARED __attribute__((visibility("default"), weak))

/* ---- system.c: memory and mutual exclusion without malloc and without the C library's locks ---- */
int trodden_open(const char *path, int flags); /* these are no points of cancellation, as those of the C library are */
int trodden_close(int file);
long trodden_read(int file, void *into, size_t bytes);
long trodden_send(int file, const void *from, size_t bytes);
void trodden_sleep(uint64_t nanoseconds);
void *trodden_map(size_t bytes);
void trodden_unmap(void *memory, size_t bytes);
void *trodden_alloc(size_t bytes); /* never given back; caller holds the lock */
uint64_t trodden_lock(void);       /* blocks all signals; answers the mask to restore */
bool trodden_lock_patiently(uint64_t *mask); /* false: somebody does not let go of it */
void trodden_unlock(uint64_t mask);
void trodden_lock_reset(void);
uint64_t trodden_block_signals(void); /* answers the mask to restore */
void trodden_restore_mask(uint64_t mask);
void trodden_swallow_signal(int number);
uint64_t trodden_now(void); /* nanoseconds since the epoch */
uint64_t trodden_process_start(void);
uint64_t trodden_process_ticks(void);
long trodden_task_file(uint32_t tid, const char *name, char *into, size_t room); /* what was read of it, or less */
uint64_t trodden_ticks_of(uint32_t pid); /* 0: there is no such process, or none that can be seen */
size_t trodden_page(void);
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
#define TRODDEN_SEGMENTS 8

struct trodden_image {
    uintptr_t bias, low, high; /* [low, high) spans all loaded segments */
    const void *dynamic;       /* what the dynamic linker goes by, or NULL */
    struct trodden_segment {
        uintptr_t from, bytes;
    } segments[TRODDEN_SEGMENTS]; /* that can be read */
    uint32_t segment_count;
    const uint8_t *eh_frame_hdr;
    const char *name; /* valid only while the image is known to be loaded */
};

struct trodden_images {
    size_t count, bytes;
    uint64_t generation;
    struct trodden_image at[];
};

struct trodden_images *trodden_images_gather(void); /* may wait for the dynamic linker: hold no lock */
void trodden_images_free(struct trodden_images *images);
uint64_t trodden_images_generation(void); /* another one whenever something was loaded or unloaded */
const struct trodden_image *trodden_image_of(const struct trodden_images *images, uintptr_t address);
bool trodden_image_holds(const struct trodden_image *image, uintptr_t from, size_t bytes);

/* ---- registry.c: modules (executable, shared libraries), their units, and the one who leads ---- */
/* Whole pages on every machine. */
#ifdef __x86_64__
#define TRODDEN_PAD 4096
#else
#define TRODDEN_PAD 65536
#endif

#define TRODDEN_MOST_UNITS (1u << 18) /* that find their counters by a table */

struct trodden_counted {
    const struct trodden_unit *unit; /* only while its module is loaded */
    uint8_t id[16];
    uint32_t slots;
    bool static_tls;
    uint32_t index;  /* in the threads' tables */
    intptr_t offset; /* from the thread pointer: of its counters, or of where the table is told */
    size_t at;       /* of its counters in a shard, in bytes */
};

struct trodden_shard {
    struct trodden_shard *next;   /* of the same module */
    struct trodden_shard *beside; /* of the same thread, or the next spare one */
    struct trodden_module *module;
    uint64_t *home;
    uint64_t offset; /* in the live file */
    uintptr_t tp;    /* whose it is; 0: nobody's */
    bool laid_over;  /* the thread's TLS */
    size_t empty_from, empty_to; /* known to be so */
};

struct trodden_module {
    struct trodden_module *next;
    const void *copy; /* the runtime copy in it; NULL once it is known to be unloaded */
    bool left;        /* its destructors have run: it is unloaded, or the process ends */
    bool stays;       /* it has left because the process ends, and stays mapped */
    uint32_t index;
    uintptr_t bias, low, high;
    uintptr_t pad;    /* the runtime's own page behind its counters, in the thread that loaded it */
    intptr_t tls_low; /* its counters in static TLS, from the thread pointer */
    size_t tls_bytes;
    bool whole_pages; /* that hold nothing else */
    bool tabled;      /* some of its units find their counters by tables */
    bool ringed;      /* some of its units keep last paths */
    intptr_t ring;    /* then: from the thread pointer, where they find the thread's ring */
    size_t shard_bytes;
    struct trodden_shard *shards, *spare, *common;
    struct trodden_live_module *live;
    char *path;
    uint32_t path_length;
    uint32_t unit_count, first_unit;
    struct trodden_counted *units;
    const void *cells_mark; /* one entry of its section .trodden_cells, or NULL */
    struct trodden_cell *cells; /* sorted by address, once somebody asks */
    size_t cell_count, cells_bytes;
    struct trodden_notes *notes; /* those of the copy in it; only while it is loaded */
    struct trodden_notes *kept;  /* the same between two times that it is loaded */
    const struct trodden_unwinder *unwinder; /* what its copy would unwind with, or NULL */
};

struct trodden_thread {
    struct trodden_thread *next, *previous; /* in the list of live threads; `next` also of free ones */
    uintptr_t tp;                           /* 0 until it runs */
    uint32_t number;
    uint32_t rounds; /* of destruction seen so far */
    uint32_t tid;
    struct trodden_shard *shards;
    struct trodden_ring_home *ring;
    bool ending;     /* all its functions have returned */
    void *alternate; /* a stack for signals, unless the thread has one of its own */
    uint64_t vfork_back, vfork_sp; /* where its last vfork returns to, and the stack pointer then */
    const void *stopped; /* what a signal has interrupted it in, see stops.c */
    void **table; /* of TRODDEN_MOST_UNITS, by `index`: where its counters are */
    void *(*start)(void *);
    void *argument;
};

#define TRODDEN_CONTEXTS 32

struct trodden_frames {
    struct trodden_frame *at;
    struct trodden_context *contexts; /* of the first that were interrupted, or wait for one that was */
    uint32_t count, context_count;
    bool cut; /* the walk did not reach the outermost frame */
    size_t bytes;
};

struct trodden_jump {
    uint32_t module;
    bool known, used;
    uint64_t address;
    uint64_t cell; /* what the function's cell held, if `known` */
    int64_t count; /* how often left at this return address, less how often come back to */
};

struct trodden_jump_table {
    struct trodden_jump_table *older; /* full, but still in use */
    uint64_t room, used;
    struct trodden_jump at[];
};

struct trodden_jumps {
    struct trodden_jump_table *newest;
    bool cut;       /* not all of a jump could be noted */
    bool elsewhere; /* one went to another stack */
};

/* A note, as in the raw file, but for `used`. */
struct trodden_note_sum {
    uint32_t unit, used;
    uint64_t key, value, amount;
};

struct trodden_note_sums {
    struct trodden_note_sum *at;
    uint64_t room, used;
    bool lost; /* there was no memory for some */
};

/* As in the raw file. */
struct trodden_call_record {
    uint32_t unit, function, parent, flags;
    uint64_t count;
};

#define TRODDEN_RECURSION 1u /* the call went back to the same function on the way to `parent` */
#define TRODDEN_CALL_BUCKETS 256

/* The trees of all threads, by a hash of their thread pointers. */
struct trodden_calls {
    struct trodden_call_tree *buckets[TRODDEN_CALL_BUCKETS];
    struct trodden_call **(*caller)(void); /* of some unit that keeps call paths, while there is one */
    bool lost;                             /* there was no memory for some */
};

struct trodden_lead {
    int begun; /* 0 not yet, 1 being set up, 2 done */
    bool exiting, final;
    uint32_t pid, first_pid;
    uint64_t start;
    struct trodden_module *modules;
    uint32_t module_count, unit_count;
    struct trodden_images *images;
    struct trodden_thread *threads;
    uint32_t thread_count; /* ever */
    size_t tls_bytes;
    struct trodden_frames start_frames;
    struct trodden_jumps jumps;
    struct trodden_calls calls;
    struct {
        struct trodden_left_part *newest;
        uint32_t parts;
    } left;
    uint32_t table_used;
    struct trodden_live *live;
    uintptr_t growing; /* the thread that adds a region or takes one away, or forks; 0: nobody */
};

extern struct trodden_lead trodden_lead;

struct trodden_regs;
/* What a module tells of itself.  `copy` tells the copies apart: it is the address of its own trodden_lead. */
struct trodden_part {
    const void *copy;
    struct trodden_unit *begin, *end;
    const void *cells_mark;
    struct trodden_notes *notes;
    uintptr_t pad; /* where that of pad.c is in the calling thread, or 0 */
    const struct trodden_unwinder *unwinder;
};

SHARED void __trodden_enter(const struct trodden_part *part);
SHARED void __trodden_leave(const void *copy, const struct trodden_regs *regs);
SHARED struct trodden_lead *__trodden_leader(void);
SHARED void *__trodden_keep(uint32_t kind, uint32_t module, size_t bytes);

void trodden_begin(void);
void trodden_use_images(struct trodden_images *images); /* takes them over; caller holds the lock */
bool trodden_leading(void); /* is this copy the one that serves? begins if it has units */
bool trodden_has_units(void);

/* ---- live.c: memory in the live file ---- */
void trodden_live_begin(void);
void trodden_live_before_fork(void);
void trodden_live_await_child(void); /* in the parent */
void trodden_live_forked(void);      /* in the child */
void *trodden_keep(enum trodden_kind kind, uint32_t module, size_t bytes); /* zero, in whole pages; needs no lock */
void trodden_give_up(void *memory, size_t bytes);
uint64_t trodden_offset_of(const void *memory);
uint64_t trodden_data_from(uint64_t offset);
bool trodden_live_repair(uintptr_t address);
bool trodden_map_again(void *memory, uint64_t offset, size_t bytes, void *place); /* the same pages there too */
void trodden_live_forget_end(void); /* the process goes on after all */
void trodden_tell_cut(void);        /* not all could be noted: calls, paths or where threads were */
size_t trodden_whole_pages(size_t bytes);

/* ---- counters.c: the only place that knows where counters are; the caller holds the lock ---- */
__attribute__((weak)) uintptr_t trodden_own_pad(void); /* pad.c, only in executables */
void trodden_lay_out(struct trodden_module *module);
void trodden_attach_module(struct trodden_module *module);
void trodden_attach_thread(struct trodden_thread *thread);
void trodden_detach_thread(struct trodden_thread *thread, bool gone);
void trodden_counters_forked(struct trodden_thread *own);
void *trodden_home_of(uintptr_t address);
void *trodden_laid_over(uintptr_t home);
const uint64_t *trodden_sum(const struct trodden_module *module, const struct trodden_counted *unit, uint32_t first,
                            uint32_t count, uint64_t *workspace);

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
struct trodden_last_record {
    uint32_t thread, tag, function, reserved;
    uint64_t path;
};

struct trodden_lasts {
    struct trodden_last_record *at;
    uint32_t count;
    size_t bytes;
};

void trodden_rings_attach_module(struct trodden_module *module);
void trodden_rings_attach_thread(struct trodden_thread *thread);
void trodden_rings_detach_thread(struct trodden_thread *thread, bool gone);
void trodden_rings_forked(struct trodden_thread *own);
struct trodden_lasts trodden_gather_lasts(void);

/* ---- cells.c: where functions keep their path registers ---- */
const void *trodden_cells_mark(void);
void trodden_forget_cells(struct trodden_module *module);

/* ---- notes.c: what this copy's instrumented code has noted; note_sums.c: the leader's view of all copies' ---- */
struct trodden_notes *trodden_own_notes(void);
void trodden_retire_notes(uintptr_t tp);                  /* that thread ends */
void trodden_keep_notes(struct trodden_module *module);   /* it is about to be unloaded */
void trodden_resume_notes(struct trodden_module *module, struct trodden_notes *notes); /* it is loaded */
void trodden_forget_notes(uintptr_t tp);                  /* all: in a child that has only this thread */
void trodden_sum_notes(struct trodden_note_sums *sums);
void trodden_free_sums(struct trodden_note_sums *sums);

/* ---- contexts.c: the call paths of threads; context_records.c: the leader's view of them ---- */
void trodden_calls_jump(uint64_t sp);                   /* before the calling thread jumps there */
uint64_t trodden_calls_place(void);                     /* where the calling thread is; 0: nobody asks */
void trodden_calls_go_on(uint64_t place);               /* it goes on from there, or from no function at all */
void trodden_calls_pass(uint64_t found, uint64_t sp);   /* a frame with that stack pointer is left */
void trodden_find_caller(void);                         /* modules have come or gone */
void trodden_keep_calls(struct trodden_module *module); /* it is about to be unloaded */
void trodden_retire_calls(uintptr_t tp);                /* that thread, the calling one, ends */
void trodden_forget_calls(uintptr_t tp);                /* all counts: in a child that has only this thread */
uint32_t trodden_mark_calls(void);                      /* chooses what is written: how many records */
void trodden_tell_calls(void (*visit)(const struct trodden_call_record *record, void *context), void *context);

/* ---- threads.c ---- */
void trodden_threads_begin(void);
void trodden_threads_end(void);
void trodden_threads_forked(void);
uint32_t trodden_thread_number(void);
struct trodden_thread *trodden_own_thread(void); /* NULL: nobody saw it start */

/* ---- signals.c, deaths.c: signals that end the process; stops.c: other threads ---- */
void trodden_dies(int number, siginfo_t *info, void *context);
void trodden_signals_begin(void);
void trodden_signals_end(void);
int trodden_set_action(int number, const struct sigaction *action, struct sigaction *former);
void trodden_stack_begin(struct trodden_thread *thread); /* the calling one */
void trodden_stack_end(struct trodden_thread *thread);
void trodden_keep_frames(enum trodden_kind kind, const struct trodden_frames *frames, uint32_t thread, uint32_t tid);
void trodden_keep_threads(const struct trodden_regs *regs, bool interrupted);
void trodden_deaths_forked(void);
uint32_t trodden_stop_others(void);
void trodden_release_others(void);
void trodden_leave_stopped(void); /* for good */
void trodden_stops_forked(void);
void trodden_regs_from(const void *context, struct trodden_regs *regs);

/* ---- execs.c ---- */
/* False: this is no child of vfork. */
bool trodden_child_leaves(const struct trodden_regs *regs, int64_t amount);

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
#define TRODDEN_CAPTURE(regs)                                                                          \
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
#define TRODDEN_CAPTURE(regs)                                                                          \
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
struct trodden_frames trodden_frames_of(const struct trodden_regs *regs, uint32_t thread, bool interrupted);
void trodden_frames_free(struct trodden_frames *frames);
struct trodden_module *trodden_module_of(uintptr_t pc);

enum trodden_reach {
    TRODDEN_FOUND,
    TRODDEN_LOST,      /* a frame could not be read */
    TRODDEN_ELSEWHERE, /* the stack ends without such a frame */
};

/* Where a frame is: its return address, and what its function's cell holds, if that is known. */
struct trodden_place {
    uintptr_t pc;
    uint64_t cell;
    bool known;
    bool interrupted; /* `pc` is no return address, as a signal came in there */
    uint64_t cfa;     /* or 0 */
    const struct trodden_context *at; /* of one that was interrupted, if it matters */
};

/* ---- left.c ---- */
bool trodden_note_left(const struct trodden_place *place); /* false: there is no room */
uint32_t trodden_count_left(void);
void trodden_tell_left(void (*visit)(const struct trodden_frame *frame, struct trodden_context *context, void *with),
                       void *with);
void trodden_forget_left(void);

/* Where the frame with these registers is, and what its function has found in the thread's place among call paths,
 * or 0.  The caller holds the lock. */
struct trodden_place trodden_place_of(const struct trodden_regs *regs, bool interrupted, uint64_t *found);

/* The CFA of the frame with these registers, which stands behind a call; 0: it is not known, or stands at the
 * beginning of a function.  The caller holds the lock. */
uint64_t trodden_cfa_of(const struct trodden_regs *regs);
/* Tells `visit` the frames of a stack, up to the one with that CFA, or else to the outermost.  `inner`: the one with
 * these registers too, which stands behind a call; `across`: also those that a signal has interrupted.  The
 * caller holds the lock. */
enum trodden_reach trodden_walk_stack(const struct trodden_regs *regs, uint64_t cfa, bool inner, bool across,
                                      void (*visit)(const struct trodden_place *place, void *context),
                                      void *context);

/* Tells `visit` the frames from the caller's up to the one that holds `sp`, that one too.  The caller holds
 * the lock. */
enum trodden_reach trodden_walk_to(const struct trodden_regs *regs, uint64_t sp,
                                   void (*visit)(const struct trodden_place *place, void *context), void *context);

/* ---- plain.c: frames that jumps have passed before ---- */
/* How far a jump has been followed over frames that are remembered, and noted. */
struct trodden_trail {
    uintptr_t pc; /* of the next frame, and its pointers: */
    uint64_t stack, frame;
    uint64_t sp, back; /* where the jump goes to */
    uint64_t drops;
    uint32_t passed; /* frames, from that of longjmp itself */
    bool there;      /* at the frame that holds `sp`, which has been noted too */
    bool locked;     /* the caller holds the lock */
    bool fits;       /* all that is remembered is known to be right */
};

/* Notes one frame after the other, and where the jump goes to; false: stopped at what it cannot note. */
bool trodden_follow(struct trodden_trail *trail);
/* The same for the one frame that the trail begins with, which is left for good. */
bool trodden_note_plain(struct trodden_trail *trail);
/* The caller of these holds the lock. */
void trodden_keep_landing(uintptr_t pc);
void trodden_renew_plain(void); /* there may be other images now */
void trodden_forget_plain_rows(void);

/* ---- jumps.c: functions that were left by longjmp ---- */
void trodden_jumps_begin(void);
void trodden_jumps_forget(void);
/* Takes the lock, with the images known that are there in that generation. */
uint64_t trodden_lock_with_images(uint64_t generation);
/* All frames from the caller's up to the one at `sp` are left, `amount` times, for where `back` is. */
void trodden_note_way(const struct trodden_regs *regs, uint64_t sp, uint64_t back, int64_t amount);
/* The frame with these pointers, which has called what returns to `pc`, is left by unwinding; false: no such frame has
 * been noted before, so that more has to be known of it: */
bool trodden_note_passed_before(uintptr_t pc, uint64_t stack, uint64_t frame);
/* The frame with these registers is left by unwinding. */
void trodden_note_passed(const struct trodden_regs *regs, bool interrupted);
/* The frame with these registers leaves the call it is in and goes on behind setjmp, at `pc`. */
void trodden_note_return(const struct trodden_regs *regs, uintptr_t pc);
/* All frames above the caller's are left, as the thread ends. */
void trodden_note_end(const struct trodden_regs *regs);
/* The thread goes on with the registers `to`, perhaps on another stack; `from`: above that caller's frame, or NULL if
 * nothing is left. */
void trodden_note_switch(const struct trodden_regs *from, const struct trodden_regs *to);
/* What frames are noted as that return to that address of the module; NULL: nothing yet, and none is to be made,
 * or there is no memory.  Who wants it made holds the lock. */
struct trodden_jump *trodden_jump_at(uint32_t module, uint64_t address, bool known, uint64_t cell, bool make);

/* ---- name.c, place.c, write.c, crc32.c ---- */
#define TRODDEN_PATH 8192
const char *trodden_place(void);
int trodden_open_result(bool *whole); /* `whole`: seen by nobody before it is closed */
int trodden_close_result(bool whole, int file, int error, bool final); /* answers the error */
int trodden_live_create(void);
bool trodden_live_name(void);
void trodden_live_unname(void);
const char *trodden_live_path(void);
void trodden_name_begin(void);
bool trodden_name(char *path, uint32_t attempt); /* TRODDEN_PATH bytes; false: too long */
void trodden_write(const struct trodden_regs *regs, bool complete, bool final);
uint32_t trodden_crc32(uint32_t crc, const void *bytes, size_t count);

/* ---- personality.c: frames that an unwinder passes; symbols.c ---- */
struct _Unwind_Context;
const struct trodden_unwinder *trodden_own_unwinder(void); /* what is linked to this copy, or NULL */
SHARED void __trodden_passed(struct _Unwind_Context *context, uintptr_t caller);
int __trodden_personality(int version, int actions, uint64_t class, void *exception,
                          struct _Unwind_Context *context);
int __trodden_answered(int answer, int actions, struct _Unwind_Context *context, void *caller);
/* What the object that holds `address` shows under these names (the last is NULL), or 0; and where it lies. */
void trodden_symbols_beside(uintptr_t address, const char *const *wanted, uintptr_t *found, uintptr_t range[2]);

#endif
