/* Counting paths from one back edge or cut to the next (BL96), which regions are parts of: a frame keeps the
   path number so far, as the path register of an instrumented program does. */

#include "reader.h"

#include <stdlib.h>

static uint64_t mix(uint32_t function, uint64_t path) {
  uint64_t mixed = (path + 1) * 0x9e3779b97f4a7c15u ^ function * 0xc2b2ae3d27d4eb4fu;
  return mixed ^ mixed >> 31;
}

static struct path_count *place_of(struct path_count *table, uint64_t room, uint32_t function, uint64_t path) {
  uint64_t place = mix(function, path) & (room - 1);
  while (table[place].used && (table[place].function != function || table[place].path != path))
    place = (place + 1) & (room - 1);
  return &table[place];
}

static enum damage count_path(struct program *program, uint32_t function, uint64_t path) {
  if (program->paths_used * 2 >= program->paths_room) {
    uint64_t room = program->paths_room ? program->paths_room * 2 : 1 << 12;
    struct path_count *table = calloc(room, sizeof *table);
    if (!table)
      return NO_MEMORY;
    for (uint64_t i = 0; i < program->paths_room; i++)
      if (program->paths[i].used)
        *place_of(table, room, program->paths[i].function, program->paths[i].path) = program->paths[i];
    free(program->paths);
    program->paths = table;
    program->paths_room = room;
  }
  struct path_count *entry = place_of(program->paths, program->paths_room, function, path);
  if (!entry->used) {
    entry->used = 1;
    entry->function = function;
    entry->path = path;
    program->paths_used++;
  }
  entry->times++;
  return NO_DAMAGE;
}

enum damage follow_paths(struct program *program, struct frame *frame, const uint32_t *arcs, uint32_t number) {
  for (uint32_t i = 0; i < number; i++) {
    const struct path_arc *arc = &frame->code->paths[arcs[i]];
    frame->path += arc->add;
    if (arc->flags & PATH_ENDS) {
      enum damage damage = count_path(program, frame->number, frame->path);
      if (!damage)
        damage = path_ended(program, frame, arc);
      if (damage)
        return damage;
      frame->path = arc->restart;
    }
  }
  return NO_DAMAGE;
}
