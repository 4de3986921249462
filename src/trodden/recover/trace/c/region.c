/* Regions: the blocks between two places where the trace is looked at, found once for each symbol.

   The table of regions keeps what was found and how often it was executed.  When it becomes too large its
   counts are added to those of the arcs, and it is emptied: memory is bounded however many paths there are. */

#include "reader.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_BUCKETS = 1 << 12 };

struct procedure *find_procedure(struct program *program, uint32_t number) {
  if (number >= program->known) {
    /* A damaged number must not cost memory. */
    if (number >= 1u << 24 || !program->procedure_of(number))
      return NULL;
    uint32_t room = number + 1 + number / 2;
    struct procedure **grown = realloc(program->procedures, room * sizeof *grown);
    if (!grown)
      return NULL;
    memset(grown + program->known, 0, (room - program->known) * sizeof *grown);
    program->procedures = grown;
    program->known = room;
  }
  if (!program->procedures[number])
    program->procedures[number] = program->procedure_of(number);
  return program->procedures[number];
}

/* The arc with the largest value that is not larger than what is left of the number (BL96 §3.5). */
static uint32_t arc_of_number(const struct procedure *code, const struct vertex *vertex, uint32_t *rest) {
  uint32_t low = vertex->first_arc, high = low + vertex->arcs;
  while (high - low > 1) {
    uint32_t middle = low + (high - low) / 2;
    if (code->arcs[middle].key <= *rest)
      low = middle;
    else
      high = middle;
  }
  *rest -= code->arcs[low].key;
  return low;
}

static uint32_t arc_to_witness(const struct procedure *code, const struct vertex *vertex, uint32_t witness) {
  uint32_t low = vertex->first_pick, high = low + vertex->picks;
  if (!vertex->picks)
    return vertex->first_arc;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (code->picks[middle].witness < witness)
      low = middle + 1;
    else
      high = middle;
  }
  if (low == vertex->first_pick + vertex->picks || code->picks[low].witness != witness)
    return NONE;
  return vertex->first_arc + code->picks[low].arc;
}

/* Walk through a region; `region` is where its blocks and arcs are put, NULL to find out their numbers. */
static enum damage walk(const struct procedure *code, uint32_t start, uint32_t symbol, uint32_t *blocks,
                        uint32_t *arcs, uint32_t *trips, struct region *region) {
  uint32_t rest = symbol == NONE ? 0 : symbol, vertex = start, at = 0, left = 0, room = *blocks;
  *trips = 0;
  if (start > code->exit) {
    uint32_t passage = code->vertices[start].first_arc;
    if (symbol != code->arcs[passage].key)
      return NO_REGION;
    if (region)
      region->list[0] = passage;
    *blocks = 0;
    *arcs = 1;
    return NO_DAMAGE;
  }
  for (;;) {
    const struct vertex *here = &code->vertices[vertex];
    if (region)
      region->list[at] = vertex;
    at++;
    *trips += (here->flags & VERTEX_COUNTED) != 0;
    if (here->callee != NO_CALL)
      break;
    if (!here->arcs || at > code->exit)
      return NO_REGION;
    uint32_t taken = here->first_arc;
    if (symbol != NONE && code->encoding == ENCODING_WITNESSES)
      taken = arc_to_witness(code, here, symbol);
    else if (code->encoding == ENCODING_PATHS)
      taken = arc_of_number(code, here, &rest);
    if (taken == NONE)
      return NO_REGION;
    const struct arc *arc = &code->arcs[taken];
    if (region)
      region->list[room + left] = taken;
    left++;
    if (arc->flags & ARC_ENDS || arc->target == code->exit) {
      if (symbol != NONE && code->encoding == ENCODING_WITNESSES && arc->key != symbol)
        return NO_REGION;
      break;
    }
    vertex = arc->target;
  }
  if (symbol != NONE && code->encoding == ENCODING_WITNESSES && left < at)
    return NO_REGION;
  if (rest && code->encoding == ENCODING_PATHS)
    return NO_REGION;
  *blocks = at;
  *arcs = left;
  return NO_DAMAGE;
}

static uint32_t hash_of(uint32_t function, uint32_t start, uint32_t symbol) {
  uint64_t mixed = (function * 0x9e3779b97f4a7c15u) ^ (start * 0xc2b2ae3d27d4eb4fu) ^ (symbol * 0x165667b19e3779f9u);
  return (uint32_t)(mixed ^ mixed >> 29 ^ mixed >> 43);
}

static int rehash(struct program *program, uint32_t buckets) {
  struct region **table = calloc(buckets, sizeof *table);
  if (!table)
    return 0;
  for (uint32_t i = 0; i < program->buckets; i++) {
    struct region *next;
    for (struct region *region = program->regions[i]; region; region = next) {
      uint32_t place = hash_of(region->function, region->start, region->symbol) & (buckets - 1);
      next = region->next;
      region->next = table[place];
      table[place] = region;
    }
  }
  free(program->regions);
  program->regions = table;
  program->buckets = buckets;
  return 1;
}

static void count_arcs(struct program *program, const struct region *region) {
  const struct procedure *code = program->procedures[region->function];
  if (code && code->taken)
    for (uint32_t i = 0; i < region->arcs; i++)
      code->taken[region->list[region->blocks + i]] += region->times;
}

/* Add the counts of all regions to those of their arcs. */
void take_counts(struct program *program) {
  for (uint32_t i = 0; i < program->buckets; i++)
    for (struct region *region = program->regions[i]; region; region = region->next) {
      count_arcs(program, region);
      region->times = 0;
    }
}

static void forget_regions(struct program *program) {
  for (uint32_t i = 0; i < program->buckets; i++) {
    struct region *next;
    for (struct region *region = program->regions[i]; region; region = next) {
      next = region->next;
      count_arcs(program, region);
      free(region);
    }
    program->regions[i] = NULL;
  }
  program->regions_kept = 0;
  program->memory = 0;
}

enum damage find_region(struct program *program, const struct procedure *code, uint32_t function,
                        uint32_t start, uint32_t symbol, struct region **found) {
  if (program->buckets)
    for (struct region *region = program->regions[hash_of(function, start, symbol) & (program->buckets - 1)];
         region; region = region->next)
      if (region->function == function && region->start == start && region->symbol == symbol) {
        *found = region;
        return NO_DAMAGE;
      }
  uint32_t blocks = 0, arcs = 0, trips = 0;
  enum damage damage = walk(code, start, symbol, &blocks, &arcs, &trips, NULL);
  if (damage)
    return damage;
  size_t size = sizeof(struct region) + ((size_t)blocks + arcs) * sizeof(uint32_t);
  if (program->memory + size > program->most_memory)
    forget_regions(program);
  if (program->regions_kept >= program->buckets &&
      !rehash(program, program->buckets ? program->buckets * 2 : FIRST_BUCKETS) && !program->buckets)
    return NO_MEMORY;
  struct region *made = malloc(size);
  if (!made)
    return NO_MEMORY;
  *made = (struct region){.function = function, .start = start, .symbol = symbol};
  walk(code, start, symbol, &blocks, &arcs, &trips, made);
  made->blocks = blocks;
  made->arcs = arcs;
  made->trips = trips;
  struct region **place = &program->regions[hash_of(function, start, symbol) & (program->buckets - 1)];
  made->next = *place;
  *place = made;
  program->memory += size + 16;
  program->regions_kept++;
  *found = made;
  return NO_DAMAGE;
}

static int grow_scratch(struct reader *reader) {
  uint32_t room = reader->scratch_room ? reader->scratch_room * 2 : 1024;
  if (room > 1u << 28)
    return 0;
  struct region *grown = realloc(reader->scratch, sizeof *grown + 2 * (size_t)room * sizeof(uint32_t));
  if (!grown)
    return 0;
  /* The second half has the arcs. */
  memmove(grown->list + room, grown->list + reader->scratch_room, reader->scratch_room * sizeof(uint32_t));
  reader->scratch = grown;
  reader->scratch_room = room;
  return 1;
}

/* The region that has written the `number` lowest of `bits`, in `reader->scratch`. */
enum damage region_of_bits(struct reader *reader, const struct procedure *code, uint32_t start, uint64_t bits,
                           uint32_t number) {
  uint32_t vertex = start, blocks = 0, arcs = 0, trips = 0, left = number, idle = 0;
  for (;;) {
    const struct vertex *here = &code->vertices[vertex];
    if (blocks >= reader->scratch_room && !grow_scratch(reader))
      return NO_MEMORY;
    reader->scratch->list[blocks++] = vertex;
    trips += (here->flags & VERTEX_COUNTED) != 0;
    if (here->callee != NO_CALL)
      break;
    if (!here->arcs)
      return NO_REGION;
    uint32_t width = here->arcs > 1 ? 32 - (uint32_t)__builtin_clz(here->arcs - 1) : 0;
    if (width > left)
      return NO_REGION;
    left -= width;
    uint32_t taken = (uint32_t)(bits >> left & ((1ull << width) - 1));
    if (taken >= here->arcs)
      return NO_REGION;
    taken += here->first_arc;
    reader->scratch->list[reader->scratch_room + arcs++] = taken;
    vertex = code->arcs[taken].target;
    uint32_t flags = code->arcs[taken].flags;
    if (vertex == code->exit || flags & ARC_ENDS || (flags & ARC_ENDS_IF_MANY && number - left >= MANY_BITS))
      break;
    idle = width ? 0 : idle + 1;
    if (idle > code->exit)
      return NO_REGION;
  }
  if (left)
    return NO_REGION;
  struct region *region = reader->scratch;
  memmove(region->list + blocks, region->list + reader->scratch_room, arcs * sizeof(uint32_t));
  region->start = start;
  region->blocks = blocks;
  region->arcs = arcs;
  region->trips = trips;
  region->times = 0;
  return NO_DAMAGE;
}
