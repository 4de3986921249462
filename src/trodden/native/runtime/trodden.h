/* The interface between instrumented code and trodden's runtime.
 *
 * The runtime is linked into every instrumented executable and shared library.  Instrumented code increments counters
 * of its thread, or calls __trodden_note where a counter for each path would take too much space.  Everything else
 * happens when a thread starts or exits, when functions are left without returning (by longjmp, an exception, a
 * switch of stacks), and when the process forks or ends.
 *
 * Compile all *.c below this folder with
 *     -I. -O2 -fPIC -fvisibility=hidden -fasynchronous-unwind-tables
 * and link all of them (as one object, or with --whole-archive): some are referenced by their sections only.
 *
 * A dynamic executable should export __trodden_enter, __trodden_leave, __trodden_leader, __trodden_keep,
 * __trodden_passed, __trodden_landing and trodden_dump, so that its shared libraries use its instance of the runtime: with
 * --export-dynamic-symbol, or, if the driver lacks that, with a shared library on the link line that refers to them,
 * behind --as-needed.  A static executable, and only that, needs -Wl,-u for the other names of the functions that are
 * interposed, such as __pthread_create.  native/driver/linking/runtime_link.py requests them.
 *
 * The environment variable TRODDEN_FILE names the output file, which exists from the start of the process
 * (counters/live_file.h); %p is the process id, %h the host name, %% a percent sign.  The default is trodden.%p.raw
 * in the directory that the program was started in. */
#ifndef TRODDEN_H
#define TRODDEN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One for each compiled unit, in the section trodden_units. */
struct trodden_unit {
    uint8_t id[16];
    uint32_t slots;
    uint32_t flags;
    /* With TRODDEN_STATIC_TLS: the calling thread's array of `slots` counters.  Without: its variable
     * __trodden_table. */
    void *(*counters)(void);
    /* The calling thread's variable __trodden_caller; NULL: the unit does not record call paths. */
    struct trodden_call_node **(*caller)(void);
    /* Set by the runtime.  `index`: the entry of the thread's table that holds the address of the unit's counters.
     * `number`: identifies the unit in the process, from 1 on. */
    uint64_t index, number;
    /* The calling thread's variable __trodden_ring; NULL: the unit does not record last paths. */
    struct trodden_ring **(*ring)(void);
    /* &__trodden_layout_4: an object that was made for another runtime than this does not link. */
    const void *layout;
    /* The calling thread's variable __trodden_trace; NULL: the unit records no trace. */
    struct trodden_trace_cursor *(*trace)(void);
    /* For each function the record that says that it was entered, and from bit 32 on how long that is
     * (trace/records.h), which the runtime fills in when the unit is registered. */
    uint64_t *tokens;
    uint64_t functions;
};

extern const char __trodden_layout_4 __attribute__((visibility("hidden")));

/* The counters lie in the section .trodden_counts of the static TLS, at the same distance from the thread pointer in
 * every thread.  Code that may end up in a shared library has a thread-local variable __trodden_table instead: weak,
 * exported, of the initial-exec model, and initialized with trodden_common.  There it finds the address of its
 * counters, in the entry `index`. */
#define TRODDEN_STATIC_TLS 1u

/* The unit records call paths. */
#define TRODDEN_CALL_PATHS 2u

/* `flags` shifted right by this is the number of last paths that each thread should keep. */
#define TRODDEN_LAST_PATHS_SHIFT 8

extern void *trodden_common[] __attribute__((visibility("hidden")));

/* On x86-64 a function may tell in which stack slot it keeps its path register while calls are active, by an entry of
 * 16 bytes in the section .trodden_cells (flags "ao?", linked to the code), aligned to 16: the displacement (i32)
 * from the entry to an address in the function, behind its prologue; the encoding of `leaq SLOT, %rax` at that
 * address, with a base register and a displacement, padded with zeros to offset 12; the letters "cell". */

/* The convention of functions that are called from the middle of other functions' code: they should preserve the
 * registers. */
#if defined(__has_attribute) && (defined(__x86_64__) || defined(__aarch64__))
#if __has_attribute(preserve_most)
#define TRODDEN_PRESERVE_MOST __attribute__((preserve_most))
#endif
#endif
#ifndef TRODDEN_PRESERVE_MOST
#define TRODDEN_PRESERVE_MOST
#endif

/* Adds `amount` to the sum that the unit keeps for `key` and `value` in its sparse path table.  For instrumented code
 * of the same module; may be called anywhere, also in signal handlers. */
TRODDEN_PRESERVE_MOST void __trodden_note(const struct trodden_unit *unit, uint64_t key, uint64_t value,
                                          uint64_t amount) __attribute__((visibility("hidden"), nothrow));

/* ---- call paths (counters/call_path_tree.c) ----
 *
 * A unit that records them has a key for each function, and a thread-local variable __trodden_caller that all modules
 * of the process share: weak, exported, of the initial-exec model, and initialized with trodden_outside.  When a
 * function is entered, the variable points to the node of its caller.  If `cache` of that node, at the index
 * `function` % TRODDEN_CALLEE_CACHE, is a node with the function's key, it is the node of this call; otherwise
 * __trodden_call returns it.  The function adds one to `count`, stores its stack pointer in `sp` and puts `target`
 * into the variable; when it is left, it puts the caller's node back. */
struct trodden_function_key {
    const struct trodden_unit *unit;
    uint64_t function;
};

#define TRODDEN_CALLEE_CACHE 8

struct trodden_call_node {
    const struct trodden_function_key *key;
    struct trodden_call_node *target; /* the node itself; of a recursive call, the function's node on the path */
    uint64_t count;
    uint64_t sp;
    struct trodden_call_node *parent;
    struct trodden_call_node *cache[TRODDEN_CALLEE_CACHE]; /* recent callees */
    struct trodden_call_path_tree *tree;
    uint32_t unit, function; /* the unit's index in the process, from 0 on; the function's index in its unit */
    uint32_t record_number;  /* while the raw file is written */
};

extern struct trodden_call_node trodden_outside __attribute__((visibility("hidden")));

TRODDEN_PRESERVE_MOST struct trodden_call_node *__trodden_call(const struct trodden_function_key *key,
                                                               struct trodden_call_node *parent)
    __attribute__((visibility("hidden"), nothrow));

/* ---- ifunc resolvers (counters/early_counts.c) ----
 *
 * A resolver has no probes; it calls these first and last, so that functions that it calls may have some. */
void __trodden_resolver_starts(void) __attribute__((visibility("hidden")));
void __trodden_resolver_ends(void) __attribute__((visibility("hidden")));

/* ---- the last paths of each thread (counters/last_paths.c) ----
 *
 * A unit that records them has a thread-local variable __trodden_ring that all modules of the process share: weak,
 * exported, of the initial-exec model, and initialized with trodden_no_ring.  Where a path ends, the entry `current`
 * is filled; only then does `current` advance to its `next`. */
struct trodden_ring_entry {
    struct trodden_ring_entry *next;
    uint32_t function; /* in its unit, from 1 on; 0: the entry is empty */
    uint32_t tag;      /* the first four bytes of the unit's id */
    uint64_t path;
};

struct trodden_ring {
    struct trodden_ring_entry *current;
    uint32_t thread, capacity; /* `capacity`: one more than the number of paths that are kept */
    struct trodden_ring_entry entries[];
};

extern struct trodden_ring trodden_no_ring __attribute__((visibility("hidden")));

/* ---- the trace (trace/) ----
 *
 * A unit that records one has a thread-local variable __trodden_trace that all modules of the process share: weak,
 * exported, of the initial-exec model, and initialized with the address of trodden_no_trace, twice.  A record is stored
 * at `next`, by one store or its first byte last; then `next` is advanced behind it; then, if `next` is at `end` or
 * behind, __trodden_trace_full is called, which provides more space.  Behind `end` there is always room for
 * TRODDEN_TRACE_MARGIN more bytes, which are zero.
 *
 * `function` is the function's index in its unit.  `location` says where it goes on: 2 * v if the region that starts at
 * vertex v comes next, 2 * v + 1 if the call at the end of block v does, or if v is EXIT, the return. */
struct trodden_trace_cursor {
    uint8_t *next, *end;
};

#define TRODDEN_TRACE_MARGIN 64

/* Of functions that are called before their unit is registered, by ifunc resolvers: what the compiler fills the tokens
 * with, an entry into an unknown function. */
#define TRODDEN_TRACE_UNKNOWN_TOKEN 0x4ffffffe4u

extern uint8_t trodden_no_trace[] __attribute__((visibility("hidden")));

TRODDEN_PRESERVE_MOST void __trodden_trace_full(const struct trodden_unit *unit, uint64_t function, uint64_t location)
    __attribute__((visibility("hidden"), nothrow));

/* Writes the counts so far, with the frames that are active now.  The program continues to count, and the raw file at
 * its end replaces this one.  NULL in a program that was not instrumented. */
void trodden_dump(void) __attribute__((visibility("default"), weak));

#ifdef __cplusplus
}
#endif
#endif
