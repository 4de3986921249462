/* The trace of a thread: its segments, its levels, and where its cursor goes (streams.c, chunks.c).
 *
 * Level 0 is the thread's own code, level n a signal handler n deep.  Each has a chunk of its own in a segment of its
 * own, since the code that a handler has interrupted may be about to store a record. */
#ifndef TRODDEN_TRACE_STREAMS_H
#define TRODDEN_TRACE_STREAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/chunk.h"
#include "trace/records.h"
#include "trace/trace.h"

enum {
    TRODDEN_TRACE_LEVELS = 32,
    TRODDEN_TRACE_USUAL_FRAMES = 512, /* of a chunk that follows another: readers know the frames from before */
    TRODDEN_TRACE_MAX_FRAMES = 8192,
    TRODDEN_TRACE_SEGMENT = 256 << 10,
    TRODDEN_TRACE_RING_SEGMENT = 64 << 10,
    TRODDEN_TRACE_SINK = 16 << 10,
    /* Behind the end of the cursor: what instrumented code may store there, then an event, then what it had begun to
     * store when it was interrupted, and a zero. */
    TRODDEN_TRACE_TAIL = 3 * TRODDEN_TRACE_MARGIN,
};

struct trodden_trace_segment {
    struct trodden_trace_chunk *chunk; /* NULL: it has not been allocated yet */
    bool in_use;
};

struct trodden_trace_level {
    struct trodden_trace_segment *segment; /* of its chunk; NULL: it has recorded nothing yet */
    uint8_t *end;                          /* of its cursor */
    struct trodden_trace_cursor interrupted; /* its cursor, while a handler of the next level runs */
    uint64_t pc, sp;                         /* the instruction that this handler has interrupted */
    uint64_t low, high;                      /* the stack pointers of its frames lie between these */
    uint32_t signal;
    bool begun;                              /* it has had a chunk */
    uint8_t scratch[2 * TRODDEN_TRACE_MARGIN]; /* where its first record is stored, before it has one */
};

struct trodden_trace_stream {
    struct trodden_trace_stream *next; /* in the list of all, of exited threads too */
    struct trodden_trace_cursor *cursor; /* NULL: its thread has exited */
    uint32_t thread, level;
    uint64_t sequence; /* of the next chunk */
    bool begun;        /* its thread has had a chunk */
    bool lost;         /* records have been lost since the last chunk began */
    bool finished;     /* nothing more is recorded */
    uint32_t frame_count;
    uint64_t stack; /* where the stack of these frames begins; 0: not known */
    struct trodden_walk *walk;
    uint32_t segment_count;
    struct trodden_trace_segment *segments;
    struct trodden_trace_level levels[TRODDEN_TRACE_LEVELS];
    struct trodden_trace_frame frames[TRODDEN_TRACE_MAX_FRAMES];
    uint8_t sink[TRODDEN_TRACE_SINK]; /* what is recorded after the trace has stopped */
};

/* Where a chunk that begins goes on. */
struct trodden_trace_start {
    uint32_t function, location;
    uint32_t frames; /* of stream->frames */
    uint32_t flags;
};

static inline uint8_t *trodden_trace_records(const struct trodden_trace_chunk *chunk) {
    return (uint8_t *)(chunk + 1) + chunk->frames * sizeof(struct trodden_trace_frame);
}

/* ---- streams.c ---- */
struct trodden_trace_stream *trodden_trace_own(void); /* of the calling thread, or NULL */
void trodden_trace_to_sink(struct trodden_trace_stream *stream);
/* The cursor goes to where the level has nothing recorded yet. */
void trodden_trace_to_scratch(struct trodden_trace_stream *stream);

/* ---- chunks.c; all signals are blocked, or the thread is stopped ---- */
size_t trodden_trace_segment_bytes(void);
/* What has really been recorded at that level, if the thread was interrupted there. */
uint8_t *trodden_trace_true_end(const struct trodden_trace_level *level, uint8_t *next);
/* Ends the chunk of that level, if it has one, with what is before `next`. */
void trodden_trace_end_chunk(struct trodden_trace_stream *stream, struct trodden_trace_level *level, uint8_t *next,
                             uint32_t flags);
/* Zeroes the segment of a chunk, whose records end at `next`. */
void trodden_trace_clear(struct trodden_trace_chunk *chunk, const uint8_t *next);
/* Spools the chunk of a level without ending it. */
void trodden_trace_copy_chunk(struct trodden_trace_level *level, const uint8_t *next);
/* The next chunk of the stream's level begins; what was stored in its scratch becomes its first record. */
void trodden_trace_turn(struct trodden_trace_stream *stream, const struct trodden_trace_start *start);
static inline bool trodden_trace_has_room(const struct trodden_trace_stream *stream, size_t bytes) {
    const struct trodden_trace_level *level = &stream->levels[stream->level];
    return level->segment && stream->cursor->next + bytes <= level->end;
}
/* Room for so many bytes at the cursor; NULL: nothing is recorded. */
uint8_t *trodden_trace_reserve(struct trodden_trace_stream *stream, size_t bytes);
/* The first byte of a record is stored last. */
void trodden_trace_commit(struct trodden_trace_stream *stream, uint8_t tag, size_t bytes);
void trodden_trace_event(struct trodden_trace_stream *stream, uint8_t kind, uint64_t value);
void trodden_trace_stop(enum trodden_trace_reason reason);

/* ---- endings.c ---- */
/* Ends all chunks of a thread, which exits or is stopped. */
void trodden_trace_close(struct trodden_trace_stream *stream);

/* ---- spool.c ---- */
void trodden_trace_spool_open(void); /* creates the file; the caller holds the lock */
/* Appends a chunk; false: that failed, and the trace has stopped. */
bool trodden_trace_spool(const void *bytes, size_t count);
void trodden_trace_spool_after_fork(void);
/* Waits while too much is in the file that nobody has read yet. */
void trodden_trace_wait_for_drainer(void);

/* ---- frames.c; the caller holds the lock, with images ---- */
/* Puts the active frames into stream->frames, innermost first, except for the first `skip` of them.  Those of a handler
 * are its own only.  `innermost`: also the frame with these registers, which waits for a call to return.  Returns
 * TRODDEN_TRACE_FRAMES_CUT if some are missing, since there are more than `most` or the walk is lost, or 0; and
 * stream->stack is where their stack begins. */
uint32_t trodden_trace_find_frames(struct trodden_trace_stream *stream, const struct trodden_regs *regs, bool innermost,
                                   uint32_t skip, uint32_t most);
uint32_t trodden_trace_most_frames(void); /* as many as take up half of a segment */
/* The frames that the thread goes on with, as a record.  `left`: where the stack begins that it has left, 0 if that is
 * not known. */
#define TRODDEN_TRACE_SAME_STACK UINT64_MAX
void trodden_trace_sync(struct trodden_trace_stream *stream, const struct trodden_regs *regs, bool innermost,
                        uint32_t skip, uint64_t left);
struct trodden_walk *trodden_trace_walk(struct trodden_trace_stream *stream); /* NULL: out of memory */

/* ---- handlers.c; all signals are blocked ---- */
/* The thread leaves its handlers for that level: by a jump, or (`exactly`) to the interrupted instruction. */
void trodden_trace_land(struct trodden_trace_stream *stream, uint32_t level, bool exactly);
/* Is the frame with that stack pointer one of that level's handler? */
static inline bool trodden_trace_contains(const struct trodden_trace_level *level, uint64_t sp) {
    return level->low <= sp && sp <= level->high;
}

/* The cursor goes behind everything that has been stored there. */
void trodden_trace_to_true_end(struct trodden_trace_stream *stream);

/* ---- leaving.c ---- */
void trodden_trace_left(struct trodden_trace_stream *stream, uintptr_t pc);

#endif
