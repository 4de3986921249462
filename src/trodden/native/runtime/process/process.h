/* The state of the process, which the leading instance of the runtime keeps (leader.c). */
#ifndef TRODDEN_PROCESS_PROCESS_H
#define TRODDEN_PROCESS_PROCESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/call_paths.h"
#include "counters/crossings.h"
#include "counters/live_file.h"
#include "platform/attributes.h"
#include "platform/images.h"
#include "process/modules.h"
#include "process/threads.h"
#include "trace/trace.h"
#include "unwind/nonlocal_exits.h"
#include "unwind/stack_walk.h"

enum { TRODDEN_UNINITIALIZED, TRODDEN_INITIALIZING, TRODDEN_INITIALIZED };

struct trodden_process {
    int init_state;
    bool exiting, final_written;
    uint32_t pid, first_pid;
    uint64_t start_time;
    struct trodden_module *modules;
    uint32_t module_count, unit_count;
    struct trodden_images *images;
    struct trodden_thread *threads;
    uint32_t thread_count; /* how many threads there have been */
    size_t tls_bytes;
    struct trodden_frames fork_frames;
    struct trodden_nonlocal_exits nonlocal_exits;
    struct trodden_call_paths call_paths;
    struct trodden_crossings crossings;
    struct {
        struct trodden_abandoned_chunk *newest;
        uint32_t chunks;
    } abandoned;
    uint32_t table_units;
    struct trodden_live_header *live;
    uintptr_t region_owner; /* the thread pointer of the thread that adds or frees a region, or forks; 0: none */
    struct trodden_trace_process trace;
};

/* Each instance of the runtime has one; that of the leader is used. */
extern struct trodden_process trodden_process;

PROCESS_WIDE struct trodden_process *__trodden_leader(void);

void trodden_init(void);
/* Is this instance the leader, and initialized?  Initializes it if its module has units. */
bool trodden_is_leader(void);
/* The same without initializing anything: whether it leads already. */
bool trodden_leads(void);

#endif
