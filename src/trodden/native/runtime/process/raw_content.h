/* The content of the raw file (raw_content.c).  The callers of all these hold the lock. */
#ifndef TRODDEN_PROCESS_RAW_CONTENT_H
#define TRODDEN_PROCESS_RAW_CONTENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters/crossings.h"
#include "counters/last_paths.h"
#include "counters/sparse_paths.h"
#include "process/raw_writer.h"
#include "process/thread_snapshots.h"
#include "unwind/registers.h"

struct raw_nonlocal_exit;

struct trodden_raw_exits {
    struct raw_nonlocal_exit *entries;
    uint32_t count;
    size_t bytes;
    bool lost;
};

/* What is written beside the counters; it does not change any more. */
struct trodden_raw_content {
    struct trodden_thread_snapshots snapshots;
    struct trodden_sparse_totals sparse;
    struct trodden_raw_exits exits;
    struct trodden_last_paths last_paths;
    struct trodden_crossing_list crossings;
    uint32_t call_records, abandoned;
    bool complete; /* the process exits */
};

/* All other threads have been stopped, except for `unstopped` of them. */
struct trodden_raw_content trodden_raw_collect(const struct trodden_regs *regs, uint32_t unstopped, bool complete);
void trodden_raw_free_content(struct trodden_raw_content *content);
/* Everything from the header to the trailer. */
void trodden_raw_put_content(struct trodden_raw_writer *writer, const struct trodden_raw_content *content);

#endif
