/* The live file: what a process has counted, where no end of it can take it away.
 *
 * Everything that a result is made of lies in shared mappings of one file: counters, notes, call paths, what
 * jumps have left.  When the process is killed, the file stays.  It has a table of the regions in it, with the
 * addresses at which the process had them, so that pointers inside them can be followed by whoever reads it.
 * (collect/rawfile/live.py reads it; a process that ends by itself puts a smaller result in its place, see write.c.) */
#ifndef TRODDEN_LIVE_H
#define TRODDEN_LIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum trodden_region_kind {
    TRODDEN_REGION_FREE,    /* given back */
    TRODDEN_REGION_MODULE,     /* struct trodden_live_module */
    TRODDEN_REGION_SHARD,   /* of one module, for one thread after the other */
    TRODDEN_REGION_NONLOCAL_EXITS,      /* struct trodden_jump_table */
    TRODDEN_REGION_SPARSE_TABLE,      /* struct trodden_note_table, and behind it an array */
    TRODDEN_REGION_SPARSE_ARRAY, /* struct trodden_note_array */
    TRODDEN_REGION_CALL_TREE,  /* struct trodden_call_tree, and behind it a table and a chunk */
    TRODDEN_REGION_CALL_NODES, /* struct trodden_call_chunk */
    TRODDEN_REGION_CALL_TABLE, /* nothing that is read */
    TRODDEN_REGION_FORK_FRAMES,      /* struct trodden_live_frames: calls that were active when the process was forked */
    TRODDEN_REGION_END_FRAMES,        /* the same when it ended, of one thread */
    TRODDEN_REGION_SAVED_REGISTERS,    /* struct trodden_context: a frame of these that was interrupted */
    TRODDEN_REGION_RING,       /* struct trodden_ring: the last paths of a thread */
    TRODDEN_REGION_ABANDONED_FRAMES,       /* struct trodden_left_part: functions that were interrupted and then left */
};

struct trodden_live_region {
    uint64_t offset; /* in the file; TRODDEN_NOWHERE: there was no room there */
    uint64_t size, address;
    uint32_t kind, module;
};

#define TRODDEN_NO_OFFSET UINT64_MAX

enum trodden_live_state {
    TRODDEN_STATE_RUNNING,
    TRODDEN_STATE_EXEC, /* about to become another program */
    TRODDEN_STATE_SIGNAL, /* by the signal in `signal` */
    TRODDEN_STATE_EXITED, /* by itself, but nothing else could be put in the place of this file */
};

enum { TRODDEN_LIVE_INCOMPLETE = 1 }; /* some regions are not in the file */

struct trodden_live_header {
    char magic[8];
    uint32_t version, header_bytes;
    uint64_t pid, parent, start_time, start_ticks; /* `ticks`: when the kernel made the process, on its own clock */
    uint32_t state, signal, flags, incomplete;
    uint64_t size; /* of the file */
    uint64_t region_count; /* regions */
    uint64_t machine; /* as ELF counts them */
    uint32_t child_started, child_copied; /* a child that was forked has begun to copy all this; it has done so */
    uint64_t reserved[2];
    struct trodden_live_region regions[];
};

struct trodden_live_unit {
    uint8_t id[16];
    uint32_t slots, reserved;
    uint64_t offset; /* of its counters in the module's regions, in bytes */
};

struct trodden_live_module {
    uint64_t bias;
    uint32_t index, unit_count, first_unit, path_length;
    struct trodden_live_unit units[]; /* and behind them the path */
};

/* As in the raw file. */
struct trodden_frame {
    uint32_t thread, module;
    uint64_t address; /* that it returns to, or was interrupted at */
    uint64_t slot_value;    /* what the function's cell holds, if that is known */
    uint32_t flags, reserved;
};

enum { TRODDEN_FRAME_SLOT_KNOWN = 1, TRODDEN_FRAME_INTERRUPTED = 2, TRODDEN_FRAME_ABANDONED = 4 }; /* the last: before the end */

struct trodden_live_frames {
    uint32_t thread, tid, count, incomplete;
    struct trodden_frame entries[];
};

enum { TRODDEN_STACK_SAMPLE = 512 };

/* A frame that a signal interrupted: its registers, and both ends of its stack. */
struct trodden_saved_registers {
    uint32_t thread, frame; /* the frame's number, from the thread's innermost on */
    uint64_t pc, cfa, known;
    uint64_t r[33];
    uint64_t low_address;
    uint8_t low_bytes[TRODDEN_STACK_SAMPLE];
    uint64_t high_address;
    uint8_t high_bytes[TRODDEN_STACK_SAMPLE];
};

#endif
