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
    /* For each function the record that says that it was entered (trace/records.h), which the runtime fills in when the
     * unit is registered. */
    uint32_t *tokens;
    uint64_t functions;
    const struct trodden_unit_calls *calls; /* NULL: the unit counts no paths over calls and returns */
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
#define TRODDEN_TRACE_UNKNOWN_TOKEN 0xffffffe4u

extern uint8_t trodden_no_trace[] __attribute__((visibility("hidden")));

TRODDEN_PRESERVE_MOST void __trodden_trace_full(const struct trodden_unit *unit, uint64_t function, uint64_t location)
    __attribute__((visibility("hidden"), nothrow));

/* ---- paths that extend over calls and returns (counters/crossings.c) ----
 *
 * A *row* counts what has the same callee, call site and first part: it has a counter for each second part.  Over a call
 * the first part is the prefix with which the caller has reached it, the second one is counted by the callee, and the row
 * lies among the counters of the callee's unit.  Over a return the first part is the path of the callee, the second one
 * is counted by the caller, and the row lies among the counters of the caller's unit.  The first counters of a unit are
 * for rows; those at slot 0 count what belongs to no row.
 *
 * Caller and callee tell each other in a thread-local variable __trodden_channel that all modules of the process share:
 * weak, exported, of the initial-exec model, and initialized with zeros and the address of trodden_no_crossings.  Each
 * function has a *word*: a number of its own, shifted left by 32 (0: its unit is not registered yet).
 *
 * Before a call the caller stores what a record of the call site has for its prefix: the word of the callee plus the slot
 * of the row; or, as long as it is not known whether the callee takes it, a negative number, which
 * the runtime turns into the row if the call was meant for the function that asks.  A function that is entered puts 0 in its place.
 * When its last path has ended, it stores its word plus the number of the path.  Behind the call the caller takes that
 * if the record of the call site knows the word. */
struct trodden_call_record {
    uint64_t target;     /* whom the call is meant for: a token or an address */
    uint64_t word;       /* of that function, if it has been entered from there; otherwise TRODDEN_NO_WORD */
    uint64_t paths, row; /* how many paths have a row, and the slot of the first one; 0: the runtime has to be asked */
    uint64_t callee;     /* the same function, and */
    uint64_t site;       /* the call site, as the runtime names them */
    uint64_t cells[];    /* by prefix: what to publish */
};

#define TRODDEN_NO_WORD ((uint64_t)1 << 63)

struct trodden_call_site {
    uint64_t target;     /* the token of whom it calls; 0: that is known when it is called */
    uint32_t at;         /* where in the unit's words of records its record is */
    uint32_t cells;      /* how many prefixes it has; 0: too many, and the runtime has to be asked */
    uint32_t first_cell; /* the prefix of its first cell in the unit's `prefixes` */
    uint32_t parts;      /* of a row behind the call; 0: too many, and __trodden_crossed counts them */
};

struct trodden_called_function {
    uint64_t paths; /* how many it has */
    uint32_t parts; /* of a row at its entry; 0: as above */
    uint32_t reserved;
};

struct trodden_unit_calls {
    struct trodden_channel *(*channel)(void); /* that of the calling thread */
    uint64_t *records, record_words;
    struct trodden_call_record *nobody; /* stands in for a record that is not known yet */
    const struct trodden_call_site *sites;
    uint64_t site_count;
    const uint64_t *prefixes;
    const struct trodden_called_function *functions;
    uint64_t function_count;
    uint64_t *words;         /* of its functions */
    uint64_t scratch, slots; /* how many counters are for what belongs to no row, and these and those for rows together */
};

struct trodden_channel {
    uint64_t row, returned; /* what was published before a call, and for a return */
    struct trodden_crossing_table *table;
    uint64_t asked, address, token; /* what the runtime is asked; the function that asks for the row of a call */
};

extern struct trodden_crossing_table trodden_no_crossings __attribute__((visibility("hidden")));

/* Adds one to the count of a second part in a row that has no counters, by the number of the row.  For instrumented code of
 * the same module, with the channel of the calling thread; may be called anywhere, also in signal handlers. */
TRODDEN_PRESERVE_MOST void __trodden_crossed(struct trodden_channel *channel, uint64_t row, uint64_t part)
    __attribute__((visibility("hidden"), nothrow));
/* Questions, which units ask by functions of their own.  What was asked is in the channel, too. */
/* The slot, or number, of a row for what was published before a call of the function; 0: there is none. */
TRODDEN_PRESERVE_MOST uint64_t __trodden_called(const struct trodden_unit *unit,
                                                const struct trodden_called_function *function,
                                                const struct trodden_channel *channel)
    __attribute__((visibility("hidden"), nothrow));
/* The same for a return with a path. */
TRODDEN_PRESERVE_MOST uint64_t __trodden_returned(const struct trodden_unit *unit, struct trodden_call_record *record,
                                                  const struct trodden_channel *channel)
    __attribute__((visibility("hidden"), nothrow));
/* The record of an indirect call for an address. */
TRODDEN_PRESERVE_MOST struct trodden_call_record *__trodden_target(const struct trodden_unit *unit,
                                                                   const struct trodden_call_site *site,
                                                                   const struct trodden_channel *channel)
    __attribute__((visibility("hidden"), nothrow));
/* What to publish for a prefix. */
TRODDEN_PRESERVE_MOST uint64_t __trodden_prefix(const struct trodden_unit *unit, struct trodden_call_record *record,
                                                const struct trodden_channel *channel)
    __attribute__((visibility("hidden"), nothrow));

/* Writes the counts so far, with the frames that are active now.  The program continues to count, and the raw file at
 * its end replaces this one.  NULL in a program that was not instrumented. */
void trodden_dump(void) __attribute__((visibility("default"), weak));

#ifdef __cplusplus
}
#endif
#endif
