/* The reader of the records of one thread: see reader.py, which does the same. */

#ifndef TRODDEN_TRACE_READER_H
#define TRODDEN_TRACE_READER_H

#include "tables.h"

enum {
  MOST_TRIPS = 1 << 16,
  MOST_STEPS = 1 << 20,
  MOST_FRAMES = 1 << 22,
  MOST_BASES = 64,
  MOST_SUSPENDED = 1 << 14,
  SYNC_HEAD = 21,
  ROOM_FOR_ONE = 4,
  SITES_KEPT = 1 << 12
};

struct region {
  uint32_t function, start, symbol;
  uint32_t blocks, arcs, trips;
  uint64_t times;
  struct region *next;
  uint32_t list[]; /* the blocks, then the arcs by their index */
};

/* What the present path of a frame continues; `has` says which of it there is: see longer.py. */
enum { HAS_BEFORE = 1, HAS_CALLER = 2, HAS_RETURNED = 4, HAS_LEFT = 8, HAS_LAST = 16, KNOWN = 32, DIRECT = 64 };
struct continued {
  uint32_t has, entered;
  uint32_t caller, caller_site;     /* function and block of the call that has entered the frame */
  uint32_t callee, callee_site;     /* function that has returned, and the block of the call */
  uint32_t left;                    /* function that has returned to the active call */
  uint64_t before, prefix, returned, mark, left_path, last;
};

struct frame {
  struct procedure *code;
  uint32_t number, at;
  uint32_t in_call;
  uint32_t trips; /* how many on top of those of the frames below */
  uint64_t path;
  struct continued continued;
};

struct known_site {
  uint64_t address;
  uint32_t module, number;
  struct site sites[MOST_SITES];
};

struct path_count {
  uint64_t path, times;
  uint32_t function, used;
};

enum pair_kind { PAIR_LOOP, PAIR_CALL, PAIR_RETURN, PAIR_UNKNOWN = 4, PAIR_BEYOND = 8 };
struct pair_count {
  uint64_t first, second, times;
  uint32_t kind, function, callee, site, end, used;
};

/* What all threads of a process share. */
struct program {
  procedure_of *procedure_of;
  sites_at *sites_at;
  struct procedure **procedures;
  uint32_t known;
  struct region **regions;
  uint32_t buckets;
  uint32_t regions_kept;
  uint64_t memory, most_memory;
  struct path_count *paths;
  uint64_t paths_room, paths_used;
  struct pair_count *pairs;
  uint64_t pairs_room, pairs_used, most_pairs; /* 0: none are counted */
  struct known_site sites[SITES_KEPT];
};

struct suspended {
  uint64_t stack; /* where it begins; 0: not known */
  struct frame *frames;
  uint32_t number;
};

struct reader {
  struct program *program;
  struct frame *stack;
  uint32_t depth, room;
  uint64_t *trips;
  uint32_t trips_used, trips_room;
  uint32_t bases[MOST_BASES], base;       /* bases[0 .. base] */
  uint32_t handled[MOST_BASES], handlers; /* handlers that are over, innermost first */
  uint32_t lost;
  uint32_t kinds; /* a bit for each kind of event that is given out */
  uint64_t position;
  struct event *events;
  uint32_t events_used, events_room, events_needed;
  struct region *scratch;
  uint32_t scratch_room;
  struct suspended *suspended; /* the last one is the one that was left last */
  uint32_t stacks, stacks_room;
  uint32_t jumped;   /* out of a handler, by the record that is read now */
  uint32_t has_left; /* a frame, by the record before */
  uint64_t steps;  /* since the record that is read now was first looked at */
};

/* region.c */
struct procedure *find_procedure(struct program *program, uint32_t number);
enum damage find_region(struct program *program, const struct procedure *code, uint32_t function,
                        uint32_t start, uint32_t symbol, struct region **found);
enum damage region_of_bits(struct reader *reader, const struct procedure *code, uint32_t start, uint64_t bits,
                           uint32_t number);
void take_counts(struct program *program);

/* paths.c */
enum damage follow_paths(struct program *program, struct frame *frame, const uint32_t *arcs, uint32_t number);

/* longer.c */
enum damage entered_by(struct program *program, struct frame *frame, struct frame *caller);
enum damage path_ended(struct program *program, struct frame *frame, const struct path_arc *arc);
enum damage reached_call(struct program *program, struct frame *frame);
void call_returns(struct frame *frame);
void leaves_to(const struct frame *frame, struct frame *caller);
enum damage cut_short(struct program *program, struct frame *frame);

/* steps.c */
enum damage execute(struct reader *reader, const struct region *region);
enum damage go_on(struct reader *reader, int *went);
enum damage go(struct reader *reader, struct frame *frame, uint32_t arc);
enum damage push(struct reader *reader, uint32_t number);
enum damage enter(struct reader *reader, uint32_t number);
enum damage unwind(struct reader *reader);
int settled(struct reader *reader, const struct frame *frame, enum damage *damage);
void give(struct reader *reader, uint32_t kind, uint32_t function, uint32_t block, uint64_t value);
int has_room(struct reader *reader, uint64_t events);
void drop_trips(struct reader *reader, struct frame *frame);

/* records.c */
enum damage read_record(struct reader *reader, const uint8_t *record, size_t size);

/* layout.c */
size_t record_size(const uint8_t *record, size_t left);

/* switches.c */
enum damage suspend(struct reader *reader, uint64_t stack);
void recognise(struct reader *reader, uint64_t stack);
enum damage settle_handlers(struct reader *reader, int went_on);

/* sites.c */
const struct known_site *calls_to(struct reader *reader, uint32_t module, uint64_t address);
enum damage active_frame(struct reader *reader, uint32_t module, uint64_t address);

#define EXPORTED __attribute__((visibility("default")))

#endif
