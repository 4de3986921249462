/* The sizes and the numbers of records. */

#include "layout.h"
#include "reader.h"

/* The size of a record: 0 if there is none that starts like this, more than `left` if it is cut off. */
size_t record_size(const uint8_t *record, size_t left) {
  uint8_t first = record[0];
  if (first < FIRST_WIDE)
    return 1;
  switch (first) {
  case WIDE:
  case ENTER:
  case RESUME:
  case LAND:
    return 4;
  case TRIPS:
    return 2;
  case TRIPS_LONG:
    return 9;
  case LEFT:
    return 13;
  case EVENT:
    return 10;
  case SYNC:
    return left < SYNC_HEAD ? SYNC_HEAD : SYNC_HEAD + 12 * (size_t)(u32_at(record + 1) & ~CUT_FRAMES);
  default:
    if (first >= ENTER_SHORT)
      return 2;
    return first > BITS && first <= LAST_BITS ? 1 + (size_t)(first - BITS) : 0;
  }
}

enum damage digits(const uint8_t *bytes, uint32_t *number) {
  if (!bytes[0] || !bytes[1] || !bytes[2])
    return NOT_A_RECORD;
  *number = bytes[0] - 1u + 255 * (bytes[1] - 1u + 255 * (bytes[2] - 1u));
  return NO_DAMAGE;
}
