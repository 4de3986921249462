/* What compiled.py calls. */

#include "layout.h"
#include "reader.h"

#include <stdlib.h>

EXPORTED struct program *trodden_trace_program(procedure_of *procedures, sites_at *sites,
                                               uint64_t most_memory) {
  struct program *program = calloc(1, sizeof *program);
  if (program) {
    program->procedure_of = procedures;
    program->sites_at = sites;
    program->most_memory = most_memory;
  }
  return program;
}

EXPORTED void trodden_trace_free_program(struct program *program) {
  for (uint32_t i = 0; i < program->buckets; i++)
    for (struct region *region = program->regions[i], *next; region; region = next) {
      next = region->next;
      free(region);
    }
  free(program->regions);
  free(program->procedures);
  free(program->paths);
  free(program->pairs);
  free(program);
}

EXPORTED void trodden_trace_counts(struct program *program) {
  take_counts(program);
}

EXPORTED const struct path_count *trodden_trace_paths(struct program *program, uint64_t *room) {
  *room = program->paths_room;
  return program->paths;
}

/* From now on pairs of paths are counted too: up to `most` different ones. */
EXPORTED void trodden_trace_longer(struct program *program, uint64_t most) {
  program->most_pairs = most;
}

EXPORTED const struct pair_count *trodden_trace_pairs(struct program *program, uint64_t *room) {
  *room = program->pairs_room;
  return program->pairs;
}

EXPORTED struct reader *trodden_trace_reader(struct program *program) {
  struct reader *reader = calloc(1, sizeof *reader);
  if (reader)
    reader->program = program;
  return reader;
}

EXPORTED void trodden_trace_free_reader(struct reader *reader) {
  for (uint32_t i = 0; i < reader->stacks; i++)
    free(reader->suspended[i].frames);
  free(reader->suspended);
  free(reader->stack);
  free(reader->trips);
  free(reader->scratch);
  free(reader);
}

/* Where events are put, and of which kinds (a bit for each). */
EXPORTED void trodden_trace_events(struct reader *reader, struct event *events, uint32_t room, uint32_t kinds) {
  reader->events = events;
  reader->events_room = room;
  reader->events_used = 0;
  reader->kinds = kinds;
}

EXPORTED uint32_t trodden_trace_used(const struct reader *reader) {
  return reader->events_used;
}

EXPORTED uint32_t trodden_trace_needed(const struct reader *reader) {
  return reader->events_needed;
}

EXPORTED uint64_t trodden_trace_position(struct reader *reader, const uint64_t *set) {
  if (set)
    reader->position = *set;
  return reader->position;
}

EXPORTED uint32_t trodden_trace_lost(const struct reader *reader) {
  return reader->lost;
}

EXPORTED uint32_t trodden_trace_depth(const struct reader *reader) {
  return reader->depth;
}

/* A frame by its depth: the function, the block, whether it is in a call, and its path so far. */
EXPORTED void trodden_trace_frame(const struct reader *reader, uint32_t depth, uint64_t *found) {
  const struct frame *frame = &reader->stack[depth];
  found[0] = frame->number;
  found[1] = frame->at;
  found[2] = frame->in_call;
  found[3] = frame->path;
}

static void damaged(struct reader *reader, enum damage damage, size_t position) {
  if (!reader->lost)
    give(reader, EVENT_DAMAGED, NONE, NONE, (uint64_t)position << DAMAGE_BITS | damage);
  reader->lost = 1;
}

/* Read the records from `*position` on, up to `end` or the first 0.  1: all were read; 0: there is no more
   room for events, 2: there is no memory. */
EXPORTED int trodden_trace_feed(struct reader *reader, const uint8_t *data, uint64_t *position, uint64_t end) {
  uint64_t at = *position;
  while (at < end && data[at]) {
    size_t size = record_size(data + at, end - at);
    if (!size || size > end - at) {
      if (!has_room(reader, ROOM_FOR_ONE)) {
        *position = at;
        return 0;
      }
      damaged(reader, size ? CUT_OFF : NOT_A_RECORD, at);
      at = end;
      break;
    }
    enum damage damage = has_room(reader, ROOM_FOR_ONE) ? read_record(reader, data + at, size) : NO_ROOM;
    if (damage == NO_ROOM || damage == NO_MEMORY) {
      *position = at;
      return damage == NO_ROOM ? 0 : 2;
    }
    if (damage)
      damaged(reader, damage, at);
    reader->steps = reader->jumped = 0;
    reader->has_left = data[at] == LEFT;
    at += size;
  }
  *position = at;
  return 1;
}

/* Forget the stack and go on with `number` frames, innermost first, each a module and an address; then in
   `function`, if that is not NONE, at `location`.  The results are those of feed; 3: there is no such place. */
EXPORTED int trodden_trace_start(struct reader *reader, const uint64_t *frames, uint32_t number,
                                 uint32_t function, uint32_t location) {
  if (!has_room(reader, (uint64_t)number + reader->depth + 2 * ROOM_FOR_ONE))
    return 0;
  reader->base = reader->handlers = reader->lost = reader->has_left = 0;
  reader->bases[0] = 0;
  if (suspend(reader, 0))
    return 2;
  for (uint32_t i = number; i-- > 0;)
    if (active_frame(reader, (uint32_t)frames[2 * i], frames[2 * i + 1]))
      return 2;
  recognise(reader, 0);
  if (function == NONE)
    return 1;
  const struct procedure *code = find_procedure(reader->program, function);
  uint32_t vertex = location / 2, in_call = location % 2;
  if (!code || vertex > code->exit || (vertex == code->exit && !in_call))
    return 3;
  if (vertex == code->exit)
    return 1;
  if (in_call && code->vertices[vertex].callee == NO_CALL)
    return 3;
  if (push(reader, function))
    return 2;
  struct frame *frame = &reader->stack[reader->depth - 1];
  frame->at = vertex;
  frame->in_call = in_call;
  frame->path = code->path_to ? code->path_to[vertex] : 0;
  give(reader, EVENT_ACTIVE, function, vertex, frame->path);
  if (in_call && code->vertices[vertex].callee >= 0)
    return enter(reader, code->base + (uint32_t)code->vertices[vertex].callee) ? 2 : 1;
  return 1;
}

/* A signal handler is called. */
EXPORTED int trodden_trace_enter_handler(struct reader *reader, uint32_t signal) {
  enum damage damage = settle_handlers(reader, 1);
  if (damage == NO_MEMORY || reader->base + 1 == MOST_BASES)
    return 2;
  reader->steps = 0;
  if (damage || !has_room(reader, ROOM_FOR_ONE))
    return 0;
  give(reader, EVENT_SIGNAL, NONE, NONE, signal);
  reader->bases[++reader->base] = reader->depth;
  reader->has_left = 0;
  return 1;
}

/* The records of a handler are at their end. */
EXPORTED void trodden_trace_leave_handler(struct reader *reader) {
  reader->has_left = 0;
  if (reader->base)
    reader->handled[reader->handlers++] = reader->bases[reader->base--];
}

EXPORTED uint32_t trodden_trace_base(const struct reader *reader) {
  return reader->bases[reader->base];
}

/* Nothing follows: the paths of all frames are cut short.  0: there is no memory. */
EXPORTED int trodden_trace_end(struct reader *reader) {
  for (uint32_t i = 0; i < reader->depth; i++)
    if (cut_short(reader->program, &reader->stack[i]))
      return 0;
  for (uint32_t i = 0; i < reader->stacks; i++)
    for (uint32_t j = 0; j < reader->suspended[i].number; j++)
      if (cut_short(reader->program, &reader->suspended[i].frames[j]))
        return 0;
  return 1;
}

/* What the innermost frame does next: 1 if it is certain, 3 if not; otherwise as feed. */
EXPORTED int trodden_trace_go_on(struct reader *reader) {
  int went;
  reader->steps = 0;
  enum damage damage = go_on(reader, &went);
  if (damage == NO_ROOM)
    return 0;
  return damage == NO_MEMORY ? 2 : damage || !went ? 3 : 1;
}

/* The innermost frame has come so far in its region, by these arcs.  There is room for the events. */
EXPORTED void trodden_trace_extend(struct reader *reader, const uint32_t *blocks, const uint32_t *arcs,
                                   uint32_t number) {
  struct frame *frame = &reader->stack[reader->depth - 1];
  for (uint32_t i = 0; i + 1 < number && frame->code->taken; i++)
    frame->code->taken[arcs[i]]++;
  if (frame->code->paths && number)
    follow_paths(reader->program, frame, arcs, number - 1);
  if (number)
    frame->at = blocks[number - 1];
  const uint64_t *trips = reader->trips + reader->trips_used - frame->trips;
  uint32_t left = frame->trips;
  for (uint32_t i = 0; i < number; i++) {
    uint64_t again = 0;
    if (left && frame->code->vertices[blocks[i]].flags & VERTEX_COUNTED) {
      again = *trips++;
      left--;
    }
    give(reader, EVENT_BLOCK, frame->number, blocks[i], again);
    reader->position += 1 + again;
  }
}
