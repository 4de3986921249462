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

enum trodden_kind {
    TRODDEN_NOTHING,    /* given back */
    TRODDEN_MODULE,     /* struct trodden_live_module */
    TRODDEN_COUNTERS,   /* of one module, for one thread after the other */
    TRODDEN_JUMPS,      /* struct trodden_jump_table */
    TRODDEN_NOTES,      /* struct trodden_note_table, and behind it an array */
    TRODDEN_NOTE_ARRAY, /* struct trodden_note_array */
    TRODDEN_CALL_TREE,  /* struct trodden_call_tree, and behind it a table and a chunk */
    TRODDEN_CALL_CHUNK, /* struct trodden_call_chunk */
    TRODDEN_CALL_TABLE, /* nothing that is read */
    TRODDEN_START,      /* struct trodden_live_frames: calls that were active when the process was forked */
    TRODDEN_END,        /* the same when it ended, of one thread */
    TRODDEN_CONTEXT,    /* struct trodden_context: a frame of these that was interrupted */
    TRODDEN_RING,       /* struct trodden_ring: the last paths of a thread */
    TRODDEN_LEFT,       /* struct trodden_left_part: functions that were interrupted and then left */
};

struct trodden_region {
    uint64_t offset; /* in the file; TRODDEN_NOWHERE: there was no room there */
    uint64_t size, address;
    uint32_t kind, module;
};

#define TRODDEN_NOWHERE UINT64_MAX

enum trodden_state {
    TRODDEN_RUNS,
    TRODDEN_EXEC, /* about to become another program */
    TRODDEN_DIES, /* by the signal in `signal` */
    TRODDEN_ENDS, /* by itself, but nothing else could be put in the place of this file */
};

enum { TRODDEN_PARTLY = 1 }; /* some regions are not in the file */

struct trodden_live {
    char magic[8];
    uint32_t version, header_bytes;
    uint64_t pid, parent, start, ticks; /* `ticks`: when the kernel made the process, on its own clock */
    uint32_t state, signal, flags, cut;
    uint64_t size; /* of the file */
    uint64_t used; /* regions */
    uint64_t machine; /* as ELF counts them */
    uint32_t child, copied; /* a child that was forked has begun to copy all this; it has done so */
    uint64_t reserved[2];
    struct trodden_region at[];
};

struct trodden_live_unit {
    uint8_t id[16];
    uint32_t slots, reserved;
    uint64_t offset; /* of its counters in the module's regions, in bytes */
};

struct trodden_live_module {
    uint64_t bias;
    uint32_t index, unit_count, first_unit, path_length;
    struct trodden_live_unit at[]; /* and behind them the path */
};

/* As in the raw file. */
struct trodden_frame {
    uint32_t thread, module;
    uint64_t address; /* that it returns to, or was interrupted at */
    uint64_t cell;    /* what the function's cell holds, if that is known */
    uint32_t flags, reserved;
};

enum { TRODDEN_KNOWN = 1, TRODDEN_INTERRUPTED = 2, TRODDEN_GONE_FROM = 4 }; /* the last: before the end */

struct trodden_live_frames {
    uint32_t thread, tid, count, cut;
    struct trodden_frame at[];
};

enum { TRODDEN_STACK_PART = 512 };

/* A frame that a signal interrupted: its registers, and both ends of its stack. */
struct trodden_context {
    uint32_t thread, frame; /* the frame's number, from the thread's innermost on */
    uint64_t pc, cfa, known;
    uint64_t r[33];
    uint64_t low;
    uint8_t low_part[TRODDEN_STACK_PART];
    uint64_t high;
    uint8_t high_part[TRODDEN_STACK_PART];
};

#endif
