/* The tables of the program that a trace is of, and what has happened: shared with compiled.py.

   trodden/recover/trace/procedure.py says what they mean. */

#ifndef TRODDEN_TRACE_TABLES_H
#define TRODDEN_TRACE_TABLES_H

#include <stddef.h>
#include <stdint.h>

enum { NONE = 0xffffffffu };
enum { ENCODING_PATHS, ENCODING_WITNESSES, ENCODING_BITS };
enum { MANY_BITS = 24 };
enum { NO_CALL = -2, UNKNOWN_CALLEE = -1 };
enum { VERTEX_SILENT = 1, VERTEX_COUNTED = 2, VERTEX_RESUMES = 4, VERTEX_TAIL = 8 };
enum { ARC_ENDS = 1, ARC_ENDS_IF_MANY = 2 };

/* An arc that leaves a block.  A block with a call has its arcs too: `behind` and `landings` of them; the key of a
   landing is the landing pad. */
struct arc {
  uint32_t key;
  uint32_t target;
  uint32_t flags;
};

/* At a predicate: the arc, counted from the first of the block, that leads to a witness. */
struct pick {
  uint32_t witness;
  uint32_t arc;
};

/* What an arc means for a derived path profile: it adds, or the path ends and another one starts, which may join it
   over a back edge; or the function has come to its end. */
enum { PATH_ENDS = 1, PATH_JOINS = 2, PATH_LEAVES = 4 };
struct path_arc {
  uint64_t add;
  uint64_t restart;
  uint64_t flags;
};

struct vertex {
  uint32_t first_arc, arcs;
  uint32_t first_pick, picks;
  int32_t callee;
  uint32_t behind;         /* index of an arc, or NONE */
  uint32_t landing, landings; /* indices of arcs */
  uint32_t flags;
};

struct procedure {
  uint32_t exit, root, encoding, base;
  const struct vertex *vertices; /* behind EXIT, passages: see procedure.py */
  const struct arc *arcs;
  const struct pick *picks;
  const struct path_arc *paths; /* NULL, or one for each arc */
  const uint64_t *path_to;      /* NULL, or the number of some path so far, for each block */
  const uint8_t *wanted;        /* NULL: all blocks are given out */
  const uint8_t *sites;         /* NULL: all calls are call sites */
  uint64_t *taken;              /* NULL, or how often each arc was taken */
  uint64_t *trips;              /* NULL, or how often each block was executed again at once */
  uint64_t path_start;
  uint64_t entered;
};

enum event_kind {
  EVENT_BLOCK,
  EVENT_ENTER,
  EVENT_LEAVE,
  EVENT_UNWOUND,
  EVENT_LANDED,
  EVENT_RESUMED,
  EVENT_SIGNAL,
  EVENT_HANDLED,
  EVENT_SWITCH,
  EVENT_ACTIVE,
  EVENT_FORKED,
  EVENT_EXEC_FAILED,
  EVENT_TIME,
  EVENT_STOPPED,
  EVENT_LOST,
  EVENT_DAMAGED,
  EVENT_AGAIN,
  EVENT_SUSPENDED
};

enum { DAMAGE_BITS = 8 };
enum damage {
  NO_DAMAGE,
  NOT_A_RECORD,
  CUT_OFF,
  NO_FRAME,
  NO_FUNCTION,
  NO_REGION,
  TRIP_COUNTS,
  NEVER_RETURNS,
  FRAME_NOT_LEFT,
  NO_LANDING,
  NOT_RESUMED,
  ENDLESS,
  TOO_DEEP,
  OTHER_ENCODING,
  /* Not a contradiction: the record has to be read again with more room for events. */
  NO_ROOM,
  NO_MEMORY
};

struct event {
  uint32_t kind, depth, function, block;
  uint64_t value, position;
};

struct site {
  uint32_t function, block;
};

enum { MOST_SITES = 8 };

/* Asked of the program: the tables of a function (NULL if there is none), and the calls that return to an
   address (how many, at most MOST_SITES). */
typedef struct procedure *procedure_of(uint32_t number);
typedef uint32_t sites_at(uint32_t module, uint64_t address, struct site *found);

#endif
