/* What frames do: execute a region, go on behind a call, be entered and left. */

#include "reader.h"

#include <stdlib.h>

void give(struct reader *reader, uint32_t kind, uint32_t function, uint32_t block, uint64_t value) {
  if (reader->kinds >> kind & 1)
    reader->events[reader->events_used++] = (struct event){
        kind, reader->depth ? reader->depth - 1 : 0, function, block, value, reader->position};
}

int has_room(struct reader *reader, uint64_t events) {
  if (reader->events_room - reader->events_used >= events)
    return 1;
  reader->events_needed = events > 1u << 30 ? 1u << 30 : (uint32_t)events;
  return 0;
}

void drop_trips(struct reader *reader, struct frame *frame) {
  reader->trips_used -= frame->trips;
  frame->trips = 0;
}

enum damage push(struct reader *reader, uint32_t number) {
  struct procedure *code = find_procedure(reader->program, number);
  if (!code)
    return NO_FUNCTION;
  if (reader->depth >= MOST_FRAMES)
    return TOO_DEEP;
  if (reader->depth == reader->room) {
    uint32_t room = reader->room ? reader->room * 2 : 64;
    struct frame *grown = realloc(reader->stack, room * sizeof *grown);
    if (!grown)
      return NO_MEMORY;
    reader->stack = grown;
    reader->room = room;
  }
  reader->stack[reader->depth++] =
      (struct frame){.code = code, .number = number, .at = code->root, .path = code->path_start};
  return NO_DAMAGE;
}

/* The frame below the innermost one; NULL if the same stack has none. */
static struct frame *below(struct reader *reader) {
  return reader->depth - 1 > reader->bases[reader->base] ? &reader->stack[reader->depth - 2] : NULL;
}

enum damage enter(struct reader *reader, uint32_t number) {
  enum damage damage = push(reader, number);
  if (damage)
    return damage;
  struct frame *frame = &reader->stack[reader->depth - 1];
  frame->code->entered++;
  give(reader, EVENT_ENTER, number, NONE, 0);
  return entered_by(reader->program, frame, below(reader));
}

static void leave(struct reader *reader) {
  struct frame *frame = &reader->stack[reader->depth - 1], *caller = below(reader);
  if (caller)
    leaves_to(frame, caller);
  drop_trips(reader, frame);
  give(reader, EVENT_LEAVE, frame->number, NONE, 0);
  reader->depth--;
}

enum damage unwind(struct reader *reader) {
  struct frame *frame = &reader->stack[reader->depth - 1];
  enum damage damage = cut_short(reader->program, frame);
  drop_trips(reader, frame);
  give(reader, EVENT_UNWOUND, frame->number, frame->at, frame->path);
  reader->depth--;
  return damage;
}

/* The frame takes an arc, which is not in a region: behind a call, or to a landing pad. */
enum damage go(struct reader *reader, struct frame *frame, uint32_t arc) {
  const struct procedure *code = frame->code;
  const struct vertex *vertex = &code->vertices[frame->at];
  if (frame->in_call && arc == vertex->behind && !(vertex->flags & VERTEX_RESUMES))
    call_returns(frame);
  frame->continued.has &= ~(uint32_t)HAS_LEFT;
  if (code->taken)
    code->taken[arc]++;
  if (code->paths) {
    enum damage damage = follow_paths(reader->program, frame, &arc, 1);
    if (damage)
      return damage;
  }
  drop_trips(reader, frame);
  frame->at = code->arcs[arc].target;
  frame->in_call = 0;
  if (frame->at == code->exit)
    leave(reader);
  return NO_DAMAGE;
}

static void give_blocks(struct reader *reader, const struct frame *frame, const struct region *region,
                        const uint64_t *trips) {
  const struct procedure *code = frame->code;
  uint32_t depth = reader->depth - 1, wanted = reader->kinds & 1u << EVENT_BLOCK;
  if (!wanted && !region->trips) {
    reader->position += region->blocks;
    return;
  }
  struct event *event = reader->events + reader->events_used;
  uint64_t position = reader->position;
  for (uint32_t i = 0; i < region->blocks; i++) {
    uint32_t block = region->list[i];
    uint64_t again = 0;
    if (region->trips && code->vertices[block].flags & VERTEX_COUNTED) {
      again = *trips++;
      if (code->trips)
        code->trips[block] += again;
    }
    if (wanted && (!code->wanted || code->wanted[block]))
      *event++ = (struct event){EVENT_BLOCK, depth, frame->number, block, again, position};
    position += 1 + again;
  }
  reader->events_used = (uint32_t)(event - reader->events);
  reader->position = position;
}

/* The innermost frame has executed a region.  Nothing is changed if there is no room for its events. */
enum damage execute(struct reader *reader, const struct region *region) {
  struct frame *frame = &reader->stack[reader->depth - 1];
  const struct procedure *code = frame->code;
  if (frame->trips != region->trips)
    return TRIP_COUNTS;
  if (!has_room(reader, (uint64_t)region->blocks + ROOM_FOR_ONE))
    return NO_ROOM;
  give_blocks(reader, frame, region, reader->trips + reader->trips_used - frame->trips);
  drop_trips(reader, frame);
  const uint32_t *arcs = region->list + region->blocks;
  if (code->paths) {
    enum damage damage = follow_paths(reader->program, frame, arcs, region->arcs);
    if (damage)
      return damage;
  }
  if (region->arcs >= region->blocks) {
    frame->at = code->arcs[arcs[region->arcs - 1]].target;
    frame->in_call = 0;
    if (frame->at == code->exit)
      leave(reader);
    return NO_DAMAGE;
  }
  uint32_t block = region->list[region->blocks - 1];
  const struct vertex *vertex = &code->vertices[block];
  frame->at = block;
  frame->in_call = 1;
  enum damage damage = reached_call(reader->program, frame);
  if (damage)
    return damage;
  if (vertex->flags & VERTEX_TAIL) {
    if (vertex->behind != NONE && code->arcs[vertex->behind].target == code->exit)
      return go(reader, frame, vertex->behind);
    leave(reader);
    return NO_DAMAGE;
  }
  return vertex->callee >= 0 ? enter(reader, code->base + (uint32_t)vertex->callee) : NO_DAMAGE;
}

/* Whether the region that the frame is in is silent, and all that it writes was read. */
int settled(struct reader *reader, const struct frame *frame, enum damage *damage) {
  struct region *region;
  if (!(frame->code->vertices[frame->at].flags & VERTEX_SILENT))
    return 0;
  *damage = find_region(reader->program, frame->code, frame->number, frame->at, NONE, &region);
  return !*damage && frame->trips == region->trips;
}

/* Execute the next that the innermost frame does without writing anything; it `went` if it does not have to. */
enum damage go_on(struct reader *reader, int *went) {
  struct frame *frame = &reader->stack[reader->depth - 1];
  *went = 1;
  if (++reader->steps > MOST_STEPS)
    return ENDLESS;
  if (!has_room(reader, ROOM_FOR_ONE))
    return NO_ROOM;
  if (frame->in_call) {
    const struct vertex *vertex = &frame->code->vertices[frame->at];
    uint32_t behind = vertex->behind;
    if (vertex->flags & VERTEX_RESUMES) {
      *went = 0;
      return NO_DAMAGE;
    }
    return behind == NONE ? NEVER_RETURNS : go(reader, frame, behind);
  }
  if (!(frame->code->vertices[frame->at].flags & VERTEX_SILENT)) {
    *went = 0;
    return NO_DAMAGE;
  }
  struct region *region;
  enum damage damage =
      find_region(reader->program, frame->code, frame->number, frame->at, NONE, &region);
  if (damage)
    return damage;
  if (frame->trips != region->trips) {
    *went = 0;
    return NO_DAMAGE;
  }
  damage = execute(reader, region);
  if (!damage)
    region->times++;
  return damage;
}
