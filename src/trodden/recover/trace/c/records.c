/* What each record means for the stack of frames. */

#include "layout.h"
#include "reader.h"

#include <stdlib.h>
#include <string.h>

static struct frame *top(struct reader *reader) {
  return reader->depth > reader->bases[reader->base] ? &reader->stack[reader->depth - 1] : NULL;
}

static enum damage next_step(struct reader *reader, enum damage otherwise) {
  int went;
  enum damage damage = go_on(reader, &went);
  return damage ? damage : went ? NO_DAMAGE : otherwise;
}

/* The frame that has written a symbol: all that is silent before it has been executed. */
static enum damage writing(struct reader *reader, struct frame **found) {
  for (;;) {
    struct frame *frame = top(reader);
    if (!frame)
      return NO_FRAME;
    if (!frame->in_call && !(frame->code->vertices[frame->at].flags & VERTEX_SILENT)) {
      *found = frame;
      return NO_DAMAGE;
    }
    enum damage damage = next_step(reader, TRIP_COUNTS);
    if (damage)
      return damage;
  }
}

static enum damage read_symbol(struct reader *reader, uint32_t symbol) {
  struct frame *frame;
  struct region *region;
  enum damage damage = writing(reader, &frame);
  if (damage)
    return damage;
  if (frame->code->encoding == ENCODING_BITS)
    return OTHER_ENCODING;
  damage = find_region(reader->program, frame->code, frame->number, frame->at, symbol, &region);
  if (!damage)
    damage = execute(reader, region);
  if (!damage)
    region->times++;
  return damage;
}

static enum damage read_bits(struct reader *reader, uint64_t value) {
  struct frame *frame;
  enum damage damage = writing(reader, &frame);
  if (damage)
    return damage;
  const struct procedure *code = frame->code;
  if (code->encoding != ENCODING_BITS)
    return OTHER_ENCODING;
  damage = region_of_bits(reader, code, frame->at, value, 63 - (uint32_t)__builtin_clzll(value));
  if (!damage)
    damage = execute(reader, reader->scratch);
  if (!damage && code->taken)
    for (uint32_t i = 0; i < reader->scratch->arcs; i++)
      code->taken[reader->scratch->list[reader->scratch->blocks + i]]++;
  return damage;
}

static enum damage read_trips(struct reader *reader, uint64_t number) {
  struct frame *frame;
  for (;;) {
    frame = top(reader);
    if (!frame)
      return NO_FRAME;
    if (!frame->in_call) {
      enum damage damage = NO_DAMAGE;
      int silent = frame->code->vertices[frame->at].flags & VERTEX_SILENT;
      if (!silent || (!settled(reader, frame, &damage) && !damage)) {
        struct region *region;
        if (!silent)
          break;
        damage = find_region(reader->program, frame->code, frame->number, frame->at, NONE, &region);
        if (!damage && frame->trips < region->trips)
          break;
      }
      if (damage)
        return damage;
    }
    enum damage damage = next_step(reader, TRIP_COUNTS);
    if (damage)
      return damage;
  }
  if (frame->trips >= MOST_TRIPS)
    return TRIP_COUNTS;
  if (reader->trips_used == reader->trips_room) {
    uint32_t room = reader->trips_room ? reader->trips_room * 2 : 64;
    uint64_t *grown = realloc(reader->trips, room * sizeof *grown);
    if (!grown)
      return NO_MEMORY;
    reader->trips = grown;
    reader->trips_room = room;
  }
  reader->trips[reader->trips_used++] = number;
  frame->trips++;
  return NO_DAMAGE;
}

static enum damage read_enter(struct reader *reader, uint32_t number) {
  if (!find_procedure(reader->program, number))
    return NO_FUNCTION;
  for (struct frame *frame; (frame = top(reader));) {
    int went;
    if (frame->in_call && frame->code->vertices[frame->at].callee == UNKNOWN_CALLEE)
      break;
    enum damage damage = go_on(reader, &went);
    if (damage)
      return damage;
    if (!went)
      break;
  }
  if (!has_room(reader, ROOM_FOR_ONE))
    return NO_ROOM;
  return enter(reader, number);
}

/* Behind a call that has returned before: no path ends before it once more. */
static enum damage go_again(struct reader *reader, struct frame *frame, uint32_t arc) {
  struct procedure *code = frame->code;
  give(reader, EVENT_AGAIN, frame->number, frame->at, frame->path);
  const struct path_arc *paths = code->paths;
  if (paths)
    frame->path = paths[arc].restart;
  code->paths = NULL;
  enum damage damage = go(reader, frame, arc);
  code->paths = paths;
  return damage;
}

static enum damage read_resume(struct reader *reader, uint32_t block) {
  for (;;) {
    struct frame *frame = top(reader);
    enum damage damage = NO_DAMAGE;
    if (!frame)
      return NO_FRAME;
    const struct procedure *code = frame->code;
    if (block < code->exit && code->vertices[block].flags & VERTEX_RESUMES &&
        (frame->in_call || (!settled(reader, frame, &damage) && !damage))) {
      if (!has_room(reader, ROOM_FOR_ONE))
        return NO_ROOM;
      uint32_t number = frame->number;
      uint32_t behind = code->vertices[block].behind;
      if (frame->in_call && frame->at == block)
        damage = go(reader, frame, behind);
      else
        damage = go_again(reader, frame, behind);
      if (!damage)
        give(reader, EVENT_RESUMED, number, block, 0);
      return damage;
    }
    if (!damage)
      damage = next_step(reader, NOT_RESUMED);
    if (damage)
      return damage;
  }
}

static uint32_t landing_at(const struct frame *frame, uint32_t block) {
  const struct vertex *vertex = &frame->code->vertices[frame->at];
  for (uint32_t i = 0; i < vertex->landings; i++)
    if (frame->code->arcs[vertex->landing + i].key == block)
      return vertex->landing + i;
  return NONE;
}

static enum damage read_land(struct reader *reader, uint32_t block) {
  for (;;) {
    struct frame *frame = top(reader);
    if (!frame)
      return NO_FRAME;
    uint32_t arc = frame->in_call ? landing_at(frame, block) : NONE;
    if (arc != NONE) {
      if (!has_room(reader, ROOM_FOR_ONE))
        return NO_ROOM;
      uint32_t number = frame->number;
      enum damage damage = go(reader, frame, arc);
      if (!damage)
        give(reader, EVENT_LANDED, number, block, 0);
      return damage;
    }
    enum damage damage = next_step(reader, NO_LANDING);
    if (damage)
      return damage;
  }
}

static enum damage read_left(struct reader *reader, uint32_t module, uint64_t address) {
  const struct known_site *known = calls_to(reader, module, address);
  uint32_t number = known->number - 1, own = 0;
  for (uint32_t i = 0; i < number; i++)
    own += known->sites[i].block != NONE;
  if (!own)
    return NO_DAMAGE;
  for (;;) {
    struct frame *frame = top(reader);
    enum damage damage = NO_DAMAGE;
    if (!frame)
      return NO_FRAME;
    for (uint32_t i = 0; i < number; i++) {
      if (known->sites[i].function != frame->number)
        continue;
      if (frame->in_call ? frame->at == known->sites[i].block : !settled(reader, frame, &damage) && !damage) {
        if (!has_room(reader, ROOM_FOR_ONE))
          return NO_ROOM;
        unwind(reader);
        return NO_DAMAGE;
      }
      if (damage)
        return damage;
    }
    damage = next_step(reader, FRAME_NOT_LEFT);
    if (damage)
      return damage;
  }
}

/* A call switches to another stack: what leads there without writing anything is proven. */
static enum damage arrive_in_call(struct reader *reader) {
  for (struct frame *frame; (frame = top(reader)) && !frame->in_call;) {
    int went;
    enum damage damage = go_on(reader, &went);
    if (damage || !went)
      return damage;
  }
  return NO_DAMAGE;
}

static enum damage read_sync(struct reader *reader, const uint8_t *record) {
  uint32_t number = u32_at(record + 1) & ~CUT_FRAMES;
  if (!has_room(reader, (uint64_t)number + reader->depth + ROOM_FOR_ONE))
    return NO_ROOM;
  enum damage damage = suspend(reader, u64_at(record + 5));
  if (damage)
    return damage;
  for (uint32_t i = number; i-- > 0;) {
    const uint8_t *frame = record + SYNC_HEAD + 12 * (size_t)i;
    damage = active_frame(reader, u32_at(frame), u64_at(frame + 4));
    if (damage)
      return damage;
  }
  recognise(reader, u64_at(record + 13));
  reader->lost = 0;
  return NO_DAMAGE;
}

static enum damage read_event(struct reader *reader, uint8_t kind, uint64_t value) {
  static const uint8_t kinds[] = {0, EVENT_FORKED, EVENT_EXEC_FAILED, EVENT_TIME, EVENT_STOPPED, EVENT_LOST};
  if (!kind || kind >= sizeof kinds)
    return NOT_A_RECORD;
  if (!has_room(reader, ROOM_FOR_ONE))
    return NO_ROOM;
  give(reader, kinds[kind], NONE, NONE, value);
  return NO_DAMAGE;
}

enum damage read_record(struct reader *reader, const uint8_t *record, size_t size) {
  uint8_t first = record[0];
  uint32_t number = 0;
  if (reader->lost && first != SYNC && first != EVENT)
    return NO_DAMAGE;
  reader->jumped |= first == SYNC && (reader->handlers || reader->has_left);
  if (first == SYNC && !reader->jumped && !reader->lost) {
    enum damage damage = arrive_in_call(reader);
    if (damage)
      return damage;
  }
  if (reader->handlers) {
    enum damage damage = settle_handlers(reader, first != SYNC);
    if (damage)
      return damage;
  }
  if (first < FIRST_WIDE)
    return read_symbol(reader, first - 1u);
  if (first >= ENTER_SHORT)
    return record[1] ? read_enter(reader, 255u * (first - ENTER_SHORT) + record[1] - 1u) : NOT_A_RECORD;
  if (first == WIDE || first == ENTER || first == RESUME || first == LAND) {
    enum damage damage = digits(record + 1, &number);
    if (damage)
      return damage;
  }
  switch (first) {
  case WIDE:
    return read_symbol(reader, number);
  case TRIPS:
    return record[1] && record[1] <= LARGEST_SHORT ? read_trips(reader, record[1] - 1u) : NOT_A_RECORD;
  case TRIPS_LONG:
    return read_trips(reader, u64_at(record + 1));
  case ENTER:
    return read_enter(reader, number);
  case RESUME:
    return read_resume(reader, number);
  case LAND:
    return read_land(reader, number);
  case LEFT:
    return read_left(reader, u32_at(record + 1), u64_at(record + 5));
  case SYNC:
    return read_sync(reader, record);
  case EVENT:
    return read_event(reader, record[1], u64_at(record + 2));
  default: {
    uint64_t bits = 0;
    memcpy(&bits, record + 1, size - 1);
    return bits ? read_bits(reader, bits) : NOT_A_RECORD;
  }
  }
}
