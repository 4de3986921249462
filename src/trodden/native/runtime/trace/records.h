/* The records of a trace (records.c): the bytes that a thread writes, one record behind the other.
 *
 * The first byte of a record is not zero, and a zero is the end of what has been written.  docs/formats.md describes
 * all of them; here are those that the runtime itself writes, and how long each is. */
#ifndef TRODDEN_TRACE_RECORDS_H
#define TRODDEN_TRACE_RECORDS_H

#include <stddef.h>
#include <stdint.h>

enum trodden_trace_tag {
    TRODDEN_TRACE_LAST_SYMBOL = 224,
    TRODDEN_TRACE_WIDE = 225,
    TRODDEN_TRACE_TRIPS = 226,
    TRODDEN_TRACE_TRIPS_LONG = 227,
    TRODDEN_TRACE_ENTER = 228,
    TRODDEN_TRACE_RESUME = 229,
    TRODDEN_TRACE_LEFT = 230,
    TRODDEN_TRACE_SYNC = 231,
    TRODDEN_TRACE_BITS = 232, /* less than the first of them: one for each number of bytes, 1 to 8 */
    TRODDEN_TRACE_EVENT = 241,
    TRODDEN_TRACE_LAND = 242,
    TRODDEN_TRACE_ENTER_SHORT = 243, /* the first of those with a single digit */
};

enum trodden_trace_event {
    TRODDEN_TRACE_FORKED = 1,      /* value: the child's process id */
    TRODDEN_TRACE_EXEC_FAILED = 2,
    TRODDEN_TRACE_STOPPED = 4,     /* value: enum trodden_trace_reason */
    TRODDEN_TRACE_LOST = 5,        /* records have been lost here */
};

/* A frame of a SYNC record takes 12 bytes; before the frames are their number and two stacks. */
enum { TRODDEN_TRACE_LEFT_BYTES = 13, TRODDEN_TRACE_EVENT_BYTES = 10, TRODDEN_TRACE_SYNC_BYTES = 21 };

/* A SYNC record does not have all frames. */
#define TRODDEN_TRACE_CUT_OFF 0x80000000u

/* The length of the record at `at`, of which there are at most so many bytes; 0: there is no complete record. */
size_t trodden_trace_record_bytes(const uint8_t *at, size_t most);
/* Where the records that start at `from` end. */
uint8_t *trodden_trace_end_of(uint8_t *from, const uint8_t *limit);

/* The token of a function: the ENTER record of its number, and from bit 32 on how long it is; and back.  Numbers are less
 * than the limit. */
#define TRODDEN_TRACE_MAX_FUNCTIONS (255u * 255u * 255u - 1)
uint64_t trodden_trace_token(uint32_t number);
uint32_t trodden_trace_number(uint64_t token);

#endif
