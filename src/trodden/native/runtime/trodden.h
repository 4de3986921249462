/* trodden's runtime: what an instrumented program and its runtime agree upon.
 *
 * The runtime is linked into every instrumented executable and shared library.  Instrumented code
 * increments counters of its thread, or calls __trodden_note where there are too many things to count for
 * one counter each; everything else here happens when a thread starts or ends, when functions are left without
 * returning (by a longjmp, an exception, a switch of stacks), and when the process forks or comes to its end.
 *
 * Compile all *.c of this folder with  -O2 -fPIC -fvisibility=hidden -fasynchronous-unwind-tables.
 * Link them whole (as one object, or with --whole-archive): some are reached by their sections only.
 * A dynamic executable should export __trodden_enter, __trodden_leave, __trodden_leader, __trodden_keep,
 * __trodden_passed and trodden_dump, so that its shared libraries use its copy: --export-dynamic-symbol, or with
 * a driver that lacks it a shared library on the link line that refers to them, after --as-needed.
 * A static one, and only that, needs -Wl,-u for the other names of the functions that are replaced, such as
 * __pthread_create: native/driver/runtime_build.py has the list.
 *
 * The environment variable TRODDEN_FILE names the result, which is there from the start of the process (live.h);
 * %p is the process id, %h the host name, %% a percent sign.  The default is trodden.%p.raw in the directory the
 * program was started in.
 */
#ifndef TRODDEN_H
#define TRODDEN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* One per compiled unit, in the section trodden_units. */
struct trodden_unit {
    uint8_t id[16];
    uint32_t slots;
    uint32_t flags;
    /* the calling thread's array of `slots` counters, or, without the flag below, its variable __trodden_table */
    void *(*counters)(void);
    /* where the calling thread keeps its place among call paths; NULL: the unit does not keep any */
    struct trodden_call_node **(*caller)(void);
    /* set by the runtime: which entry of the calling thread's table is the address of its counters; and its number
     * in the process, from 1 on */
    uint64_t index, number;
    /* the calling thread's variable __trodden_ring; NULL: the unit does not keep last paths */
    struct trodden_ring **(*ring)(void);
    /* &__trodden_layout_2: an object that was made for another runtime than this does not link */
    const void *layout;
};

extern const char __trodden_layout_2 __attribute__((visibility("hidden")));

/* The counters lie at the same distance from the thread pointer in every thread, in the section .trodden_counts of
 * the static TLS.  Code that may end up in a shared library has a thread-local variable __trodden_table instead: weak,
 * exported, of the initial-exec model, and trodden_common to begin with.  There it finds the address of its
 * counters, at `index`. */
#define TRODDEN_STATIC_TLS 1u

/* So many last paths of each thread are to be kept: `flags` shifted by this. */
#define TRODDEN_LAST_PATHS_SHIFT 8

extern void *trodden_common[] __attribute__((visibility("hidden")));

/* On x86-64 a function may tell where it keeps its path register while calls are active: an entry of 16 bytes in
 * the section .trodden_cells (flags "ao?", linked to the code), aligned to 16: the distance (i32) from the entry to
 * an address in the function, behind its prologue; the encoding of `leaq CELL, %rax` at that address, with a
 * base register and a displacement, padded with zeros to offset 12; the letters "cell". */

/* A function that is called from the middle of others' code should leave their registers alone. */
#if defined(__has_attribute) && (defined(__x86_64__) || defined(__aarch64__))
#if __has_attribute(preserve_most)
#define TRODDEN_PRESERVE_MOST __attribute__((preserve_most))
#endif
#endif
#ifndef TRODDEN_PRESERVE_MOST
#define TRODDEN_PRESERVE_MOST
#endif

/* Adds `amount` to the sum that the unit keeps under `key` and `value`.  For instrumented code of the same module;
 * may be called anywhere, also from signal handlers. */
TRODDEN_PRESERVE_MOST void __trodden_note(const struct trodden_unit *unit, uint64_t key, uint64_t value,
                                            uint64_t amount) __attribute__((visibility("hidden"), nothrow));

/* ---- call paths (contexts.c) ----
 *
 * A unit that keeps them has a key for each function, and a thread-local variable that all modules of the process
 * share: weak, exported, of the initial-exec model, and trodden_outside to begin with.  When a function is entered,
 * it is at the call that led to its caller.  If the key of its `last` at `function` % TRODDEN_CALL_WAYS is that of
 * the function, this is the call; otherwise __trodden_call answers it.  The function adds one to `count`, puts its
 * stack pointer into `frame` and `to` into the variable, and `parent` of the call when it is left. */
struct trodden_function_key {
    const struct trodden_unit *unit;
    uint64_t function;
};

#define TRODDEN_CALLEE_CACHE 8

struct trodden_call_node {
    const struct trodden_function_key *key;
    struct trodden_call_node *target; /* itself, or where the function stands already on the way here */
    uint64_t count;
    uint64_t sp;
    struct trodden_call_node *parent;
    struct trodden_call_node *cache[TRODDEN_CALLEE_CACHE];
    struct trodden_call_path_tree *tree;
    uint32_t unit, function; /* in the order of the process, from 0 on; in its unit */
    uint32_t record_number;         /* while it is written */
};

extern struct trodden_call_node trodden_outside __attribute__((visibility("hidden")));

TRODDEN_PRESERVE_MOST struct trodden_call_node *__trodden_call(const struct trodden_function_key *key,
                                                            struct trodden_call_node *parent)
    __attribute__((visibility("hidden"), nothrow));

/* ---- the last paths of each thread (rings.c) ----
 *
 * A unit that keeps them has a thread-local variable __trodden_ring that all modules of the process share: weak,
 * exported, of the initial-exec model, and trodden_no_ring to begin with.  Where a path ends, the entry `at` is
 * filled, and only then gives way to its `next`. */
struct trodden_ring_entry {
    struct trodden_ring_entry *next;
    uint32_t function; /* in its unit, from 1 on; 0: nothing was entered yet */
    uint32_t tag;      /* the first four bytes of the unit's id */
    uint64_t path;
};

struct trodden_ring {
    struct trodden_ring_entry *current;
    uint32_t thread, capacity; /* `room`: entries, one more than are kept */
    struct trodden_ring_entry entries[];
};

extern struct trodden_ring trodden_no_ring __attribute__((visibility("hidden")));

/* Writes the counts so far, with the frames active now.  The program goes on counting, and what it
 * writes at its end replaces this.  NULL in a program that was not instrumented. */
void trodden_dump(void) __attribute__((visibility("default"), weak));

#ifdef __cplusplus
}
#endif
#endif
