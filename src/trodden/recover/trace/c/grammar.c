/* Sequitur with runs: trodden/profile/trace/grammar.py says what it does, and does the same. */

#include "reader.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_NODES = 1 << 12, NO_NODE = 0 };
#define RULE (1ull << 63)
#define GUARD (1ull << 62)
#define SYMBOL_OF(what, function, block) ((uint64_t)(what) << 60 | (uint64_t)(function) << 32 | (block))
enum { BEGIN, END, EXECUTED };

/* `times` is 0 in a node that was removed, `chain` the next one in its bucket of digrams. */
struct node {
  uint64_t symbol, times;
  uint32_t before, after, chain;
};

struct rule {
  uint32_t guard, uses;
};

struct grammar {
  struct node *nodes;
  uint32_t room, used, size, most; /* size: without guards and what was removed */
  uint32_t spare, removed;         /* lists of removed nodes: those that are free, those of the present step */
  struct rule *rules;
  uint32_t rules_room, rules_used, spare_rule; /* the guard of a rule that is not used is the next one of these */
  uint32_t *buckets, number_of_buckets;
  uint32_t *unchecked, unchecked_used, unchecked_room;
  uint64_t run, run_times;
  int out_of_memory;
};

static int is_guard(const struct grammar *g, uint32_t node) { return g->nodes[node].symbol & GUARD ? 1 : 0; }

static struct rule *rule_of(const struct grammar *g, uint64_t symbol) { return &g->rules[symbol & ~RULE]; }

static void link_nodes(struct grammar *g, uint32_t left, uint32_t right) {
  g->nodes[left].after = right;
  g->nodes[right].before = left;
}

static uint32_t bucket_of(const struct grammar *g, uint32_t node) {
  const struct node *one = &g->nodes[node], *other = &g->nodes[one->after];
  uint64_t mixed = one->symbol * 0x9e3779b97f4a7c15u ^ other->symbol * 0xc2b2ae3d27d4eb4fu ^
                   (one->times << 32 | (other->times & 0xffffffffu)) * 0x165667b19e3779f9u;
  return (uint32_t)(mixed ^ mixed >> 29 ^ mixed >> 43) & (g->number_of_buckets - 1);
}

static int same_digram(const struct grammar *g, uint32_t node, uint32_t with) {
  const struct node *a = &g->nodes[node], *b = &g->nodes[with];
  const struct node *a2 = &g->nodes[a->after], *b2 = &g->nodes[b->after];
  return a->symbol == b->symbol && a->times == b->times && a2->symbol == b2->symbol && a2->times == b2->times;
}

static void know(struct grammar *g, uint32_t node) {
  uint32_t *bucket = &g->buckets[bucket_of(g, node)];
  g->nodes[node].chain = *bucket;
  *bucket = node;
}

static uint32_t find_known(const struct grammar *g, uint32_t node) {
  uint32_t known = g->buckets[bucket_of(g, node)];
  while (known != NO_NODE && !same_digram(g, node, known))
    known = g->nodes[known].chain;
  return known;
}

/* The digram that starts at a node is taken apart. */
static void forget(struct grammar *g, uint32_t node) {
  if (is_guard(g, node) || is_guard(g, g->nodes[node].after))
    return;
  for (uint32_t *at = &g->buckets[bucket_of(g, node)]; *at != NO_NODE; at = &g->nodes[*at].chain)
    if (*at == node) {
      *at = g->nodes[node].chain;
      return;
    }
}

static int grow_buckets(struct grammar *g) {
  uint32_t *old = g->buckets, former = g->number_of_buckets;
  g->buckets = calloc(2 * (size_t)former, sizeof *g->buckets);
  if (!g->buckets) {
    g->buckets = old;
    return 0;
  }
  g->number_of_buckets = 2 * former;
  for (uint32_t i = 0; i < former; i++)
    for (uint32_t node = old[i], next; node != NO_NODE; node = next) {
      next = g->nodes[node].chain;
      know(g, node);
    }
  free(old);
  return 1;
}

static uint32_t new_node(struct grammar *g, uint64_t symbol, uint64_t times) {
  uint32_t node = g->spare;
  if (node != NO_NODE) {
    g->spare = g->nodes[node].after;
  } else {
    if (g->used == g->room) {
      struct node *grown = realloc(g->nodes, 2 * (size_t)g->room * sizeof *grown);
      if (!grown) {
        g->out_of_memory = 1;
        return NO_NODE;
      }
      g->nodes = grown;
      g->room *= 2;
    }
    node = g->used++;
  }
  g->nodes[node] = (struct node){.symbol = symbol, .times = times, .before = node, .after = node};
  return node;
}

static void check_later(struct grammar *g, uint32_t node) {
  if (g->unchecked_used == g->unchecked_room) {
    uint32_t room = g->unchecked_room ? 2 * g->unchecked_room : 256;
    uint32_t *grown = realloc(g->unchecked, room * sizeof *grown);
    if (!grown) {
      g->out_of_memory = 1;
      return;
    }
    g->unchecked = grown;
    g->unchecked_room = room;
  }
  g->unchecked[g->unchecked_used++] = node;
}

static uint32_t insert(struct grammar *g, uint32_t place, uint64_t symbol, uint64_t times) {
  uint32_t node = new_node(g, symbol, times);
  if (node == NO_NODE)
    return node;
  if (symbol & RULE)
    rule_of(g, symbol)->uses++;
  g->size++;
  link_nodes(g, node, g->nodes[place].after);
  link_nodes(g, place, node);
  return node;
}

/* It may be used for something else when nothing refers to it any more: after the present step. */
static void discard(struct grammar *g, uint32_t node) {
  g->nodes[node].times = 0;
  g->nodes[node].chain = g->removed;
  g->removed = node;
}

static void remove_node(struct grammar *g, uint32_t node) {
  const struct node *gone = &g->nodes[node];
  if (gone->symbol & RULE)
    rule_of(g, gone->symbol)->uses--;
  g->size--;
  link_nodes(g, gone->before, gone->after);
  discard(g, node);
}

static void reuse_removed(struct grammar *g) {
  for (uint32_t node = g->removed, next; node != NO_NODE; node = next) {
    next = g->nodes[node].chain;
    g->nodes[node].after = g->spare;
    g->spare = node;
  }
  g->removed = NO_NODE;
}

static void join(struct grammar *g, uint32_t node) {
  uint32_t after = g->nodes[node].after;
  if (!is_guard(g, node) && !is_guard(g, after) && g->nodes[node].symbol == g->nodes[after].symbol) {
    forget(g, g->nodes[node].before);
    forget(g, node);
    forget(g, after);
    g->nodes[node].times += g->nodes[after].times;
    remove_node(g, after);
    check_later(g, g->nodes[node].before);
  }
  check_later(g, node);
}

static void replace(struct grammar *g, uint32_t node, uint64_t rule) {
  uint32_t place = g->nodes[node].before, after = g->nodes[node].after;
  forget(g, place);
  forget(g, node);
  forget(g, after);
  remove_node(g, after);
  remove_node(g, node);
  uint32_t use = insert(g, place, rule, 1);
  if (use == NO_NODE)
    return;
  join(g, use);
  join(g, place);
}

/* A rule that is used once is replaced by its body. */
static void expand(struct grammar *g, uint32_t node) {
  uint32_t number = (uint32_t)(g->nodes[node].symbol & ~RULE), guard = g->rules[number].guard;
  uint32_t left = g->nodes[node].before, right = g->nodes[node].after;
  uint32_t first = g->nodes[guard].after, last = g->nodes[guard].before;
  forget(g, left);
  forget(g, node);
  remove_node(g, node);
  link_nodes(g, left, first);
  link_nodes(g, last, right);
  discard(g, guard);
  g->rules[number].guard = g->spare_rule;
  g->spare_rule = number;
  join(g, last);
  join(g, left);
}

static void expand_if_single(struct grammar *g, uint32_t node) {
  const struct node *at_end = &g->nodes[node];
  if (at_end->times == 1 && at_end->symbol & RULE && rule_of(g, at_end->symbol)->uses == 1)
    expand(g, node);
}

/* Its number; 0 if there is no memory: that is the number of the whole. */
static uint32_t new_rule(struct grammar *g) {
  uint32_t number = g->spare_rule;
  if (number) {
    g->spare_rule = g->rules[number].guard;
  } else {
    if (g->rules_used == g->rules_room) {
      uint32_t room = g->rules_room ? 2 * g->rules_room : 256;
      struct rule *grown = realloc(g->rules, room * sizeof *grown);
      if (!grown) {
        g->out_of_memory = 1;
        return 0;
      }
      g->rules = grown;
      g->rules_room = room;
    }
    number = g->rules_used++;
  }
  uint32_t guard = new_node(g, GUARD | number, 1);
  g->rules[number] = (struct rule){.guard = guard};
  return guard == NO_NODE ? 0 : number;
}

static void match(struct grammar *g, uint32_t node, uint32_t known) {
  uint32_t guard = g->nodes[known].before;
  uint64_t rule = RULE | (g->nodes[guard].symbol & ~GUARD);
  uint32_t behind = g->nodes[g->nodes[known].after].after;
  if (!is_guard(g, guard) || rule == RULE || !is_guard(g, behind)) {
    uint32_t number = new_rule(g);
    if (!number)
      return;
    rule = RULE | number;
    guard = g->rules[number].guard;
    uint32_t second = g->nodes[node].after;
    uint32_t first = insert(g, guard, g->nodes[node].symbol, g->nodes[node].times);
    if (first == NO_NODE || insert(g, first, g->nodes[second].symbol, g->nodes[second].times) == NO_NODE)
      return;
    forget(g, known);
    know(g, first);
    replace(g, known, rule);
  }
  if (g->out_of_memory)
    return;
  replace(g, node, rule);
  uint32_t first = g->nodes[guard].after, last = g->nodes[guard].before;
  expand_if_single(g, first);
  expand_if_single(g, last);
}

static void check(struct grammar *g, uint32_t node) {
  if (!g->nodes[node].times || is_guard(g, node) || is_guard(g, g->nodes[node].after))
    return;
  uint32_t known = find_known(g, node);
  if (known == NO_NODE)
    know(g, node);
  else if (known != node)
    match(g, node, known);
}

static void end_run(struct grammar *g) {
  if (!g->run_times)
    return;
  if (g->size >= g->number_of_buckets && !grow_buckets(g)) {
    g->out_of_memory = 1;
    return;
  }
  uint32_t last = g->nodes[g->rules[0].guard].before;
  if (insert(g, last, g->run, g->run_times) == NO_NODE)
    return;
  g->run_times = 0;
  check_later(g, last);
  while (g->unchecked_used && !g->out_of_memory)
    check(g, g->unchecked[--g->unchecked_used]);
  reuse_removed(g);
}

EXPORTED void trodden_trace_grammar_free(struct grammar *g) {
  if (g) {
    free(g->nodes);
    free(g->rules);
    free(g->buckets);
    free(g->unchecked);
  }
  free(g);
}

/* A grammar of `most` symbols at the most. */
EXPORTED struct grammar *trodden_trace_grammar_new(uint32_t most) {
  struct grammar *g = calloc(1, sizeof *g);
  if (!g)
    return NULL;
  g->most = most;
  g->room = g->number_of_buckets = FIRST_NODES;
  g->used = 1; /* NO_NODE */
  g->nodes = malloc(g->room * sizeof *g->nodes);
  g->buckets = calloc(g->number_of_buckets, sizeof *g->buckets);
  if (g->nodes && g->buckets)
    new_rule(g);
  if (g->rules_used && !g->out_of_memory)
    return g;
  trodden_trace_grammar_free(g);
  return NULL;
}

/* Read the next symbol, so many times; 0 if the grammar is full, or there is no memory. */
EXPORTED int trodden_trace_grammar_append(struct grammar *g, uint64_t symbol, uint64_t times) {
  if (g->out_of_memory)
    return 0;
  if (g->run_times && g->run == symbol) {
    g->run_times += times;
    return 1;
  }
  if (g->size >= g->most)
    return 0;
  end_run(g);
  g->run = symbol;
  g->run_times = times;
  return !g->out_of_memory;
}

static int symbol_of(const struct event *event, uint64_t *symbol, uint64_t *times) {
  *times = 1;
  switch (event->kind) {
  case EVENT_BLOCK:
    *symbol = SYMBOL_OF(EXECUTED, event->function, event->block);
    *times = 1 + event->value;
    return 1;
  case EVENT_ENTER:
  case EVENT_ACTIVE: *symbol = SYMBOL_OF(BEGIN, event->function, 0); return 1;
  case EVENT_LEAVE:
  case EVENT_UNWOUND:
  case EVENT_SUSPENDED: *symbol = SYMBOL_OF(END, event->function, 0); return 1;
  default: return 0;
  }
}

/* Read the events from block `low` up to block `high`.  The result is how many of them were read: behind these is
   one for which there is no room, or one that says where the trace is damaged. */
EXPORTED uint32_t trodden_trace_grammar_events(struct grammar *g, const struct event *events, uint32_t number,
                                         uint64_t low, uint64_t high) {
  uint64_t symbol, times;
  for (uint32_t i = 0; i < number; i++) {
    if (events[i].kind == EVENT_DAMAGED)
      return i;
    if (events[i].position >= low && events[i].position < high && symbol_of(&events[i], &symbol, &times) &&
        !trodden_trace_grammar_append(g, symbol, times))
      return i;
  }
  return number;
}

EXPORTED uint32_t trodden_trace_grammar_size(struct grammar *g) {
  end_run(g);
  return g->size;
}

/* The symbols of all rules, each with the number of its rule, itself, and how often it follows itself. */
EXPORTED void trodden_trace_grammar_parts(const struct grammar *g, uint64_t *parts) {
  for (uint32_t rule = 0; rule < g->rules_used; rule++) {
    uint32_t guard = g->rules[rule].guard;
    if (rule && !g->rules[rule].uses)
      continue;
    for (uint32_t node = g->nodes[guard].after; node != guard; node = g->nodes[node].after) {
      *parts++ = rule;
      *parts++ = g->nodes[node].symbol;
      *parts++ = g->nodes[node].times;
    }
  }
}
