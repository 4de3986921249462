/* Modules (the executable and its shared libraries) and their units (modules.c). */
#ifndef TRODDEN_PROCESS_MODULES_H
#define TRODDEN_PROCESS_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/attributes.h"
#include "platform/images.h"
#include "trodden.h"
#include "unwind/registers.h"

struct trodden_module_unit {
    const struct trodden_unit *unit; /* valid only while its module is loaded */
    uint8_t id[16];
    uint32_t slots;
    bool static_tls;
    uint32_t table_index; /* in the counter tables of threads */
    intptr_t tls_offset;  /* from the thread pointer: of its counters, or of its variable __trodden_table */
    size_t shard_offset;  /* of its counters in a shard, in bytes */
    bool traced;          /* its functions have numbers, from `first_function` on */
    uint32_t first_function;
    uint32_t first_called; /* the number of its first function in published words; 0: it publishes none */
    uint64_t rows_end;     /* from there on its counters for rows are free */
};

struct trodden_module {
    struct trodden_module *next;
    const void *instance; /* identifies the instance of the runtime in it; NULL once it is known to be unloaded */
    bool finalized;       /* its destructors have run: it is being unloaded, or the process exits */
    bool stays_mapped;    /* it is finalized because the process exits */
    uint32_t index;
    uintptr_t bias, low, high;
    uintptr_t padding; /* the page behind its counters, in the thread that loaded it */
    intptr_t tls_low;  /* from the thread pointer: where its counters in static TLS start */
    size_t tls_bytes;
    bool whole_pages;         /* nothing else lies in the pages of these counters */
    bool has_table_units;     /* some of its units find their counters by a table */
    bool has_rings;           /* some of its units record last paths */
    bool has_trace;           /* some of them record a trace */
    intptr_t ring_tls_offset; /* of their variable __trodden_ring, from the thread pointer */
    size_t shard_bytes;
    struct trodden_shard *shards, *free_shards, *fallback_shard;
    uint32_t shard_count;
    struct trodden_live_module *live;
    char *path;
    uint32_t path_length;
    uint32_t unit_count, first_unit;
    struct trodden_module_unit *units;
    const void *slots_mark;              /* an entry of its section .trodden_cells, or NULL */
    struct trodden_register_slot *slots; /* sorted by address; built on demand */
    size_t slot_count, slots_bytes;
    struct trodden_sparse_paths *sparse_paths;       /* those of the instance in it, while it is loaded */
    struct trodden_sparse_paths *saved_sparse_paths; /* while it is not */
    const struct trodden_unwinder *unwinder;         /* the one that it is linked with, or NULL */
};

/* What an instance of the runtime tells the leader about its module. */
struct trodden_module_info {
    const void *instance; /* the address of its own trodden_process */
    struct trodden_unit *begin, *end;
    const void *slots_mark;
    struct trodden_sparse_paths *sparse_paths;
    uintptr_t padding; /* its address in the calling thread, or 0 */
    const struct trodden_unwinder *unwinder;
};

/* It is loaded, or the process exits, and until then its code may run in destructors and threads. */
static inline bool trodden_module_may_count(const struct trodden_module *module) {
    return module->instance && (!module->finalized || module->stays_mapped);
}

PROCESS_WIDE void __trodden_enter(const struct trodden_module_info *info);
PROCESS_WIDE void __trodden_leave(const void *instance, const struct trodden_regs *regs);

bool trodden_has_units(void); /* does this module? (init_fini.c) */

/* The callers of the following hold the lock. */
struct trodden_module *trodden_module_of(uintptr_t pc); /* NULL: that module has no units */
void trodden_set_images(struct trodden_images *images); /* takes ownership */

#endif
