/* The calls that return to an address, as the program knows them. */

#include "reader.h"

const struct known_site *calls_to(struct reader *reader, uint32_t module, uint64_t address) {
  struct program *program = reader->program;
  uint64_t mixed = (address ^ (uint64_t)module << 48) * 0x9e3779b97f4a7c15u;
  struct known_site *known = &program->sites[mixed >> 52];
  if (!known->number || known->address != address || known->module != module) {
    uint32_t number = program->sites_at(module, address, known->sites);
    known->address = address;
    known->module = module;
    known->number = 1 + (number > MOST_SITES ? MOST_SITES : number);
  }
  return known;
}

/* A frame that is in the call that returns to an address; none if that is not a call of a known function. */
enum damage active_frame(struct reader *reader, uint32_t module, uint64_t address) {
  const struct known_site *known = calls_to(reader, module, address);
  uint32_t own = 0, chosen = 0;
  for (uint32_t i = 0; i + 1 < known->number; i++)
    if (known->sites[i].block != NONE) {
      own++;
      chosen = i;
    }
  if (own != 1)
    return NO_DAMAGE;
  struct site site = known->sites[chosen];
  const struct procedure *code = find_procedure(reader->program, site.function);
  if (!code || site.block >= code->exit || code->vertices[site.block].callee == NO_CALL)
    return NO_DAMAGE;
  enum damage damage = push(reader, site.function);
  if (damage)
    return damage;
  struct frame *frame = &reader->stack[reader->depth - 1];
  frame->at = site.block;
  frame->in_call = 1;
  frame->path = code->path_to ? code->path_to[site.block] : 0;
  return NO_DAMAGE;
}
