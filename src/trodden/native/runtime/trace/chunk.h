/* A chunk of a thread's trace, as it lies in a segment of the live file and then in the spool file (docs/formats.md).
 *
 * A header, the frames that were active when it began, and records.  All little endian. */
#ifndef TRODDEN_TRACE_CHUNK_H
#define TRODDEN_TRACE_CHUNK_H

#include <stdint.h>

#define TRODDEN_TRACE_CHUNK_MAGIC "TRODTRC1"
#define TRODDEN_TRACE_SPOOL_MAGIC "TRODSPOL"
#define TRODDEN_TRACE_NO_FUNCTION 0xffffffffu

enum trodden_trace_flag {
    TRODDEN_TRACE_FRAMES_CUT = 1,
    TRODDEN_TRACE_LOST_BEFORE = 2,   /* records of its thread were lost before it */
    TRODDEN_TRACE_FIRST = 4,         /* the first of its thread */
    TRODDEN_TRACE_CHILD = 8,         /* the first of its level in a forked child */
    TRODDEN_TRACE_LAST = 16,         /* the last of its thread */
    TRODDEN_TRACE_HANDLER = 32,      /* the first of a signal handler */
    TRODDEN_TRACE_DEPENDENT = 64,    /* it has no frames, and can only be read after the one before */
    TRODDEN_TRACE_PARTIAL = 128,     /* it was still in use; one with more records may follow */
};

/* Why a trace has stopped. */
enum trodden_trace_reason {
    TRODDEN_TRACE_RUNNING,
    TRODDEN_TRACE_LIMIT,      /* it has as many bytes as it may have */
    TRODDEN_TRACE_NO_SPACE,   /* the disk is full */
    TRODDEN_TRACE_TOO_LARGE,  /* the spool file is as large as a file may be */
    TRODDEN_TRACE_NOT_DRAINED, /* nobody reads it any more */
    TRODDEN_TRACE_REMOVED,    /* the spool file was deleted */
    TRODDEN_TRACE_FAILED,     /* it could not be created or written */
    TRODDEN_TRACE_NO_MEMORY,
};

struct trodden_trace_chunk {
    char magic[8];
    uint32_t thread, level;
    uint64_t sequence;
    uint64_t began, ended; /* `ended` 0: it is still in use */
    uint32_t length;       /* of its records; 0 while it is in use */
    uint32_t frames;
    uint32_t function, location;
    uint64_t parent, offset; /* of a handler: the interrupted chunk, and where in its records */
    uint64_t pc;
    uint32_t flags, signal;
    uint32_t inherited; /* the first bytes of its records are those of the process that has forked this one */
    uint32_t reserved;
};
_Static_assert(sizeof(struct trodden_trace_chunk) == 96, "collect/trace/chunks.py has this layout");

struct trodden_trace_frame {
    uint32_t module, reserved;
    uint64_t address; /* to which the call that it waits for returns, relative to the load bias */
};

/* The start of the spool file. */
struct trodden_trace_spool {
    char magic[8];
    uint32_t version, header_bytes;
    uint64_t pid, start_time; /* as in the raw file */
};

#endif
