/* Counting pairs of paths over back edges, calls and returns: see longer.py, which does the same. */

#include "reader.h"

#include <stdlib.h>

static uint64_t mix(const struct pair_count *pair) {
  uint64_t mixed = (pair->first + 1) * 0x9e3779b97f4a7c15u ^ (pair->second + 1) * 0xc2b2ae3d27d4eb4fu;
  mixed ^= (pair->kind ^ (uint64_t)pair->function << 8 ^ (uint64_t)pair->callee << 32) * 0x165667b19e3779f9u;
  mixed ^= (pair->site ^ (uint64_t)pair->end << 32) * 0x27d4eb2f165667c5u;
  return mixed ^ mixed >> 31;
}

static int same(const struct pair_count *one, const struct pair_count *other) {
  return one->first == other->first && one->second == other->second && one->kind == other->kind &&
         one->function == other->function && one->callee == other->callee && one->site == other->site &&
         one->end == other->end;
}

static struct pair_count *place_of(struct pair_count *table, uint64_t room, const struct pair_count *pair) {
  uint64_t place = mix(pair) & (room - 1);
  while (table[place].used && !same(&table[place], pair))
    place = (place + 1) & (room - 1);
  return &table[place];
}

static enum damage count_pair(struct program *program, struct pair_count pair) {
  if (program->pairs_used * 2 >= program->pairs_room) {
    uint64_t room = program->pairs_room ? program->pairs_room * 2 : 1 << 12;
    struct pair_count *table = calloc(room, sizeof *table);
    if (!table)
      return NO_MEMORY;
    for (uint64_t i = 0; i < program->pairs_room; i++)
      if (program->pairs[i].used)
        *place_of(table, room, &program->pairs[i]) = program->pairs[i];
    free(program->pairs);
    program->pairs = table;
    program->pairs_room = room;
  }
  struct pair_count *entry = place_of(program->pairs, program->pairs_room, &pair);
  if (!entry->used && program->pairs_used >= program->most_pairs && pair.kind < PAIR_UNKNOWN)
    return count_pair(program, (struct pair_count){.kind = pair.kind | PAIR_BEYOND,
                                                   .function = pair.function,
                                                   .callee = NONE,
                                                   .site = NONE,
                                                   .end = NONE});
  if (!entry->used) {
    *entry = pair;
    entry->used = 1;
    program->pairs_used += pair.kind < PAIR_UNKNOWN;
  }
  entry->times++;
  return NO_DAMAGE;
}

/* The first part of a pair began before the trace did. */
static enum damage count_unknown(struct program *program, uint32_t kind, uint32_t function) {
  return count_pair(program, (struct pair_count){.kind = kind | PAIR_UNKNOWN,
                                                 .function = function,
                                                 .callee = NONE,
                                                 .site = NONE,
                                                 .end = NONE});
}

static enum damage count_return(struct program *program, struct frame *frame, uint64_t path, uint32_t end) {
  struct continued *own = &frame->continued;
  if (!(own->has & HAS_RETURNED))
    return NO_DAMAGE;
  own->has &= ~(uint32_t)HAS_RETURNED;
  return count_pair(program, (struct pair_count){.kind = PAIR_RETURN,
                                                 .function = frame->number,
                                                 .callee = own->callee,
                                                 .site = own->callee_site,
                                                 .first = own->returned,
                                                 .second = path - own->mark,
                                                 .end = end});
}

static enum damage count_pairs(struct program *program, struct frame *frame, uint64_t path, uint32_t end) {
  struct continued *own = &frame->continued;
  enum damage damage = NO_DAMAGE;
  if (own->has & HAS_BEFORE)
    damage = count_pair(program, (struct pair_count){.kind = PAIR_LOOP,
                                                     .function = frame->number,
                                                     .callee = NONE,
                                                     .site = NONE,
                                                     .first = own->before,
                                                     .second = path,
                                                     .end = end});
  if (!damage && own->has & HAS_CALLER)
    damage = count_pair(program, (struct pair_count){.kind = PAIR_CALL,
                                                     .function = own->caller,
                                                     .callee = frame->number,
                                                     .site = own->caller_site,
                                                     .first = own->prefix,
                                                     .second = path,
                                                     .end = end});
  own->has &= ~(uint32_t)(HAS_BEFORE | HAS_CALLER);
  return damage ? damage : count_return(program, frame, path, end);
}

static int at_site(const struct frame *frame) {
  return frame->in_call && (!frame->code->sites || frame->code->sites[frame->at]);
}

/* A frame was entered, by a call site of the one below it or by code without probes. */
enum damage entered_by(struct program *program, struct frame *frame, struct frame *caller) {
  struct continued *own = &frame->continued;
  own->has = KNOWN;
  if (!program->most_pairs || !caller || !at_site(caller))
    return NO_DAMAGE;
  caller->continued.has &= ~(uint32_t)HAS_LEFT;
  if (caller->continued.entered++)
    return NO_DAMAGE;
  own->has |= DIRECT;
  if (!(caller->continued.has & KNOWN))
    return count_unknown(program, PAIR_CALL, caller->number);
  own->has |= HAS_CALLER;
  own->caller = caller->number;
  own->caller_site = caller->at;
  own->prefix = caller->path;
  return NO_DAMAGE;
}

/* The path of a frame has ended on an arc. */
enum damage path_ended(struct program *program, struct frame *frame, const struct path_arc *arc) {
  if (!program->most_pairs)
    return NO_DAMAGE;
  struct continued *own = &frame->continued;
  enum damage damage = count_pairs(program, frame, frame->path, NONE);
  if (own->has & KNOWN) {
    own->has |= (arc->flags & PATH_JOINS ? HAS_BEFORE : 0) | (arc->flags & PATH_LEAVES ? HAS_LAST : 0);
    own->before = own->last = frame->path;
  } else {
    if (!damage && arc->flags & PATH_JOINS)
      damage = count_unknown(program, PAIR_LOOP, frame->number);
    if (!damage && arc->flags & PATH_LEAVES && own->has & DIRECT)
      damage = count_unknown(program, PAIR_RETURN, frame->number);
  }
  own->has |= KNOWN;
  return damage;
}

enum damage reached_call(struct program *program, struct frame *frame) {
  frame->continued.entered = 0;
  frame->continued.has &= ~(uint32_t)HAS_LEFT;
  return program->most_pairs && at_site(frame) ? count_return(program, frame, frame->path, frame->at) : NO_DAMAGE;
}

/* The call of a frame returns, and once only, before the frame goes on. */
void call_returns(struct frame *frame) {
  struct continued *own = &frame->continued;
  if (!(own->has & HAS_LEFT))
    return;
  own->has = (own->has & ~(uint32_t)HAS_LEFT) | HAS_RETURNED;
  own->callee = own->left;
  own->callee_site = frame->at;
  own->returned = own->left_path;
  own->mark = frame->path;
}

/* A frame returns to the one below it. */
void leaves_to(const struct frame *frame, struct frame *caller) {
  const struct continued *own = &frame->continued;
  if (!(own->has & DIRECT) || !(own->has & HAS_LAST) || caller->continued.entered != 1)
    return;
  caller->continued.has |= HAS_LEFT;
  caller->continued.left = frame->number;
  caller->continued.left_path = own->last;
}

/* The path of a frame goes no further. */
enum damage cut_short(struct program *program, struct frame *frame) {
  if (!program->most_pairs)
    return NO_DAMAGE;
  enum damage damage = count_pairs(program, frame, frame->path, frame->at);
  frame->continued.has = (frame->continued.has & DIRECT) | KNOWN;
  return damage;
}
