/* Frames that make way for others, of other stacks or of signal handlers, and come back. */

#include "reader.h"

#include <stdlib.h>
#include <string.h>

static void forget(struct reader *reader, uint32_t index) {
  free(reader->suspended[index].frames);
  reader->stacks--;
  memmove(reader->suspended + index, reader->suspended + index + 1,
          (reader->stacks - index) * sizeof *reader->suspended);
}

/* What the memory of a stack was used for before is over. */
static int set_aside(struct reader *reader, struct suspended aside) {
  for (uint32_t i = 0; i < reader->stacks && aside.stack; i++)
    if (reader->suspended[i].stack == aside.stack) {
      forget(reader, i);
      break;
    }
  if (reader->stacks == MOST_SUSPENDED)
    forget(reader, 0);
  if (reader->stacks == reader->stacks_room) {
    uint32_t room = reader->stacks_room ? reader->stacks_room * 2 : 16;
    struct suspended *more = realloc(reader->suspended, room * sizeof *more);
    if (!more)
      return 0;
    reader->suspended = more;
    reader->stacks_room = room;
  }
  reader->suspended[reader->stacks++] = aside;
  return 1;
}

/* All frames make way for others; another switch may bring them back. */
enum damage suspend(struct reader *reader, uint64_t stack) {
  uint32_t base = reader->bases[reader->base], number = reader->depth - base;
  if (number) {
    struct frame *aside = malloc(number * sizeof *aside);
    if (!aside)
      return NO_MEMORY;
    memcpy(aside, reader->stack + base, number * sizeof *aside);
    if (!set_aside(reader, (struct suspended){stack, aside, number})) {
      free(aside);
      return NO_MEMORY;
    }
  }
  while (reader->depth > base) {
    struct frame *frame = &reader->stack[reader->depth - 1];
    drop_trips(reader, frame);
    give(reader, EVENT_SUSPENDED, frame->number, frame->at, frame->path);
    reader->depth--;
  }
  give(reader, EVENT_SWITCH, NONE, NONE, 0);
  return NO_DAMAGE;
}

/* How many frames, from the outermost one on, wait where those of a suspended stack did. */
static uint32_t in_common(const struct suspended *aside, const struct frame *frames, uint32_t number) {
  uint32_t i = 0;
  while (i < number && i < aside->number && aside->frames[i].number == frames[i].number &&
         aside->frames[i].at == frames[i].at)
    i++;
  return i;
}

/* The suspended stack that begins there; where that is not known, the last one with the same frames. */
static uint32_t find_suspended(const struct reader *reader, const struct frame *frames, uint32_t number,
                               uint64_t stack) {
  for (uint32_t i = reader->stacks; i-- > 0;) {
    const struct suspended *aside = &reader->suspended[i];
    if (stack ? aside->stack == stack
              : !aside->stack && aside->number == number && in_common(aside, frames, number) == number)
      return i;
  }
  return NONE;
}

/* If the frames are those of a suspended stack, their paths go on. */
void recognise(struct reader *reader, uint64_t stack) {
  uint32_t base = reader->bases[reader->base], number = reader->depth - base, depth = reader->depth;
  struct frame *frames = reader->stack + base;
  uint32_t found = number ? find_suspended(reader, frames, number, stack) : NONE;
  if (found != NONE) {
    const struct suspended *aside = &reader->suspended[found];
    uint32_t common = in_common(aside, frames, number);
    for (uint32_t j = 0; j < common; j++) {
      frames[j].path = aside->frames[j].path;
      frames[j].continued = aside->frames[j].continued;
    }
    forget(reader, found);
  }
  for (uint32_t j = 0; j < number; j++) {
    reader->depth = base + j + 1;
    give(reader, EVENT_ACTIVE, frames[j].number, frames[j].at, frames[j].path);
  }
  reader->depth = depth;
}

/* Handlers are over: what they have executed without writing is proven if control went on. */
enum damage settle_handlers(struct reader *reader, int went_on) {
  while (reader->handlers) {
    /* The one that was over first was called last. */
    uint32_t base = reader->handled[0];
    while (went_on && reader->depth > base) {
      const struct frame *frame = &reader->stack[reader->depth - 1];
      int went;
      if (frame->in_call && frame->code->vertices[frame->at].behind == NONE)
        break;
      enum damage damage = go_on(reader, &went);
      if (damage == NO_ROOM || damage == NO_MEMORY)
        return damage;
      if (damage || !went)
        break;
    }
    while (reader->depth > base) {
      if (!has_room(reader, ROOM_FOR_ONE))
        return NO_ROOM;
      enum damage damage = unwind(reader);
      if (damage)
        return damage;
    }
    if (!has_room(reader, ROOM_FOR_ONE))
      return NO_ROOM;
    give(reader, EVENT_HANDLED, NONE, NONE, 0);
    reader->handlers--;
    memmove(reader->handled, reader->handled + 1, reader->handlers * sizeof *reader->handled);
  }
  return NO_DAMAGE;
}
