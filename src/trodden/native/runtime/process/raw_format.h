/* The layout of the raw file (docs/formats.md); names here may change, the layout may not. */
#ifndef TRODDEN_PROCESS_RAW_FORMAT_H
#define TRODDEN_PROCESS_RAW_FORMAT_H

#include <stdint.h>

#include "counters/call_paths.h"
#include "counters/last_paths.h"
#include "counters/live_file.h"

#define RAW_MAGIC "TRODRAW1"
#define RAW_VERSION 4
#define RAW_TRACE_VERSION 5 /* with a trace: struct raw_trace follows the last paths */
#define RAW_CROSSINGS_VERSION 6 /* with crossings: struct raw_crossings follows the last paths; then a trace, if flagged */

enum {
    RAW_INCOMPLETE = 2,  /* some active frames are not known */
    RAW_COUNTS_LOST = 4, /* something has truncated the live file, and with it counts */
    RAW_TRACED = 16,     /* from RAW_CROSSINGS_VERSION on: there is a struct raw_trace */
    RAW_NO_SPACE = 8,    /* the live file had no space for all counts: had the process been killed, they were lost */
};
enum { RAW_AT_EXIT, RAW_AT_DUMP }; /* when it was written */

struct raw_header {
    char magic[8];
    uint32_t version, flags;
    uint64_t pid, parent, start_time;
    uint32_t modules, units, frames, fork_frames;
    uint32_t nonlocal_exits, sparse_paths, call_records, saved_registers;
    uint32_t last_paths, ending, signal;
    uint32_t start_ticks; /* the low bits of when the kernel created the process, as in the live file */
};
_Static_assert(sizeof(struct raw_header) == 88, "the header has 88 bytes");

struct raw_module {
    uint64_t bias;
    uint32_t path_length, reserved;
};

struct raw_unit {
    uint8_t id[16];
    uint32_t module, slots;
};

/* `count` counters from `first` on; the last run of a unit has none. */
struct raw_run {
    uint32_t first, count;
};

struct raw_trailer {
    uint64_t size; /* of the whole file */
    uint32_t crc;  /* of everything before it */
    char end[4];
};

struct raw_nonlocal_exit {
    uint32_t module, slot_known;
    uint64_t address, slot_value;
    int64_t count;
};

struct raw_trace {
    uint32_t stopped, lost; /* enum trodden_trace_reason; 1: some records are in no chunk */
    uint64_t spooled;       /* bytes */
};

/* For each unit, in their order. */
struct raw_traced_unit {
    uint32_t first_function, traced; /* the number of its first function; 0: it records no trace */
};

/* Paths over calls and returns: `rows` times struct trodden_crossing_row, then `count` times struct trodden_crossing. */
struct raw_crossings {
    uint64_t rows, count;
};

struct raw_sparse_path {
    uint32_t unit, reserved;
    uint64_t key, value, amount;
};
_Static_assert(sizeof(struct trodden_frame) == 32 && sizeof(struct raw_nonlocal_exit) == 32 &&
                   sizeof(struct raw_sparse_path) == 32 && sizeof(struct trodden_call_path_record) == 24 &&
                   sizeof(struct trodden_saved_registers) == 1336 && sizeof(struct trodden_last_path_record) == 24,
               "frames, non-local exits and sparse paths have 32 bytes each, call paths and last paths 24");

#endif
