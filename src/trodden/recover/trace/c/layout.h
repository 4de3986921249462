/* How records are laid out: see trodden/plan/trace/records.py. */

#ifndef TRODDEN_TRACE_LAYOUT_H
#define TRODDEN_TRACE_LAYOUT_H

#include "tables.h"

#include <string.h>

enum {
  FIRST_WIDE = 225,
  WIDE = 225,
  TRIPS,
  TRIPS_LONG,
  ENTER,
  RESUME,
  LEFT,
  SYNC,
  BITS,
  LAST_BITS = BITS + 8,
  EVENT,
  LAND,
  ENTER_SHORT, /* the first of those with a single digit */
};
#define CUT_FRAMES 0x80000000u
#define LARGEST_SHORT 254 /* the byte of a short trip count */

static inline uint32_t u32_at(const uint8_t *bytes) {
  uint32_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

static inline uint64_t u64_at(const uint8_t *bytes) {
  uint64_t value;
  memcpy(&value, bytes, sizeof value);
  return value;
}

/* Three digits, the least significant first. */
enum damage digits(const uint8_t *bytes, uint32_t *number);

#endif
