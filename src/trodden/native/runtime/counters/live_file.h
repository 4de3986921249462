/* The layout of the live file, which holds what a process has counted and outlives the process.
 *
 * Everything that a profile is made of lies in shared mappings of this one file: counters, sparse path tables,
 * call-path trees, non-local exits.  When the process is killed, the file stays.  Its region table gives the address
 * at which the process had mapped each region, so that a reader can follow the pointers in them.
 *
 * collect/rawfile/live.py reads the file.  A process that exits replaces it with a smaller raw file (raw_file.c).
 * docs/formats.md describes both; names here may change, the layout may not. */
#ifndef TRODDEN_COUNTERS_LIVE_FILE_H
#define TRODDEN_COUNTERS_LIVE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trodden_region_kind {
    TRODDEN_REGION_FREE,            /* has been freed */
    TRODDEN_REGION_MODULE,          /* struct trodden_live_module */
    TRODDEN_REGION_SHARD,           /* the counters of a module in one thread, and later in another */
    TRODDEN_REGION_NONLOCAL_EXITS,  /* struct trodden_nonlocal_exit_table */
    TRODDEN_REGION_SPARSE_TABLE,    /* struct trodden_sparse_table, followed by its first array */
    TRODDEN_REGION_SPARSE_ARRAY,    /* struct trodden_sparse_array */
    TRODDEN_REGION_CALL_TREE,       /* struct trodden_call_path_tree, followed by its first table and chunk */
    TRODDEN_REGION_CALL_NODES,      /* struct trodden_call_node_chunk */
    TRODDEN_REGION_CALL_TABLE,      /* a hash table, which readers do not need */
    TRODDEN_REGION_FORK_FRAMES,     /* struct trodden_live_frames: frames that were active at the fork */
    TRODDEN_REGION_END_FRAMES,      /* struct trodden_live_frames: frames of one thread that were active at the end */
    TRODDEN_REGION_SAVED_REGISTERS, /* struct trodden_saved_registers: of one of these, which was interrupted */
    TRODDEN_REGION_RING,            /* struct trodden_ring: the last paths of a thread */
    TRODDEN_REGION_ABANDONED_FRAMES, /* struct trodden_abandoned_chunk: frames that were interrupted and then left */
    /* Not memory, but a process that has no file of its own (live_family.c).  `module` is its id, `address` its
     * start_ticks, `offset` where its header is in this file.  If that is nowhere, `size` is the error for which. */
    TRODDEN_REGION_MEMBER,
    TRODDEN_REGION_FORMER_MEMBER, /* the entry may be used again */
    TRODDEN_REGION_NEW_MEMBER,    /* is being written */
    TRODDEN_REGION_TRACE, /* struct trodden_trace_chunk: the trace of a thread that is not spooled yet */
    TRODDEN_REGION_CROSSING_TABLE, /* struct trodden_crossing_table, followed by its first array */
    TRODDEN_REGION_CROSSING_ARRAY, /* struct trodden_crossing_array */
    TRODDEN_REGION_CROSSING_ROWS,  /* struct trodden_crossing_chunk */
};

struct trodden_live_region {
    uint64_t offset; /* in the file; TRODDEN_NO_OFFSET: it is not in the file */
    uint64_t size, address;
    uint32_t kind, module;
};

#define TRODDEN_NO_OFFSET UINT64_MAX
#define TRODDEN_LIVE_MAGIC "TRODLIVE"
/* `flags` shifted right by this, and 255, is the enum trodden_trace_reason for which the trace has stopped. */
#define TRODDEN_LIVE_TRACE_SHIFT 16

enum trodden_live_state {
    TRODDEN_STATE_RUNNING,
    TRODDEN_STATE_EXEC,   /* about to execute another program */
    TRODDEN_STATE_SIGNAL, /* killed by the signal in `signal` */
    TRODDEN_STATE_EXITED, /* by itself, but the raw file could not be written */
};

enum {
    TRODDEN_LIVE_INCOMPLETE = 1,  /* some regions are not in the file */
    TRODDEN_LIVE_NO_SPACE = 2,    /* because there was no space for them */
    TRODDEN_LIVE_COUNTS_LOST = 4, /* something has truncated the file, and with it counts */
    TRODDEN_LIVE_MEMBERS_ONLY = 8, /* what its own process has counted is in a raw file */
    TRODDEN_LIVE_TICKS_ESTIMATED = 16, /* `start_ticks` is some ticks late: the process could not read /proc */
};

struct trodden_live_header {
    char magic[8];
    uint32_t version, header_bytes;
    uint64_t pid, parent, start_time, start_ticks; /* `start_ticks`: field 22 of /proc/PID/stat */
    uint32_t state, signal, flags, incomplete;
    uint64_t size; /* of the file, so far; whoever adds to it does so atomically */
    uint64_t region_count;
    uint64_t machine;                     /* e_machine */
    uint32_t child_started, child_copied; /* set by a forked child, to its process id and 1, while it copies the regions */
    uint64_t pid_namespace; /* in which `pid` is; 0: not known */
    uint64_t members;       /* how many processes without a file there are, with and without an entry */
    struct trodden_live_region regions[];
};

#define TRODDEN_MEMBERS_CLOSED ((uint64_t)1 << 63) /* in `members`: no more of them, the file is about to go */

/* The `size` of an entry that is never used for a region says that nobody has truncated the file: it is lost then, even
 * if the file is as long as before.  The entry is the last one of those that have space from the start. */
#define TRODDEN_LIVE_SEAL 0x5345414c45442121u
enum { TRODDEN_LIVE_TABLE_STEP = 16 << 10 }; /* bytes of the region table for which space is reserved at a time */
#define TRODDEN_LIVE_SEAL_INDEX                                                                                        \
    ((TRODDEN_LIVE_TABLE_STEP - sizeof(struct trodden_live_header)) / sizeof(struct trodden_live_region) - 1)

struct trodden_live_unit {
    uint8_t id[16];
    uint32_t slots;
    uint32_t first_function; /* the number of its first function in traces, plus 1; 0: it records none */
    uint64_t offset; /* of its counters in the module's shards, in bytes */
};

struct trodden_live_module {
    uint64_t bias;
    uint32_t index, unit_count, first_unit, path_length;
    struct trodden_live_unit units[]; /* followed by the path */
};

/* As in the raw file. */
struct trodden_frame {
    uint32_t thread, module;
    uint64_t address;    /* the return address or interrupted instruction, relative to the load bias */
    uint64_t slot_value; /* the function's path register, if that is known */
    uint32_t flags, reserved;
};

enum {
    TRODDEN_FRAME_SLOT_KNOWN = 1,
    TRODDEN_FRAME_INTERRUPTED = 2,
    TRODDEN_FRAME_ABANDONED = 4, /* left before the end */
};

struct trodden_live_frames {
    uint32_t thread, tid, count, incomplete;
    struct trodden_frame entries[];
};

enum { TRODDEN_STACK_SAMPLE = 512 };

/* A frame that a signal interrupted: its registers, and both ends of its stack frame. */
struct trodden_saved_registers {
    uint32_t thread, frame; /* the index of the frame, from the thread's innermost */
    uint64_t pc, cfa, known;
    uint64_t r[33];
    uint64_t low_address;
    uint8_t low_bytes[TRODDEN_STACK_SAMPLE];
    uint64_t high_address;
    uint8_t high_bytes[TRODDEN_STACK_SAMPLE];
};

#endif
