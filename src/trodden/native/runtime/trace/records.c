/* How long records are, and the tokens of functions.
 *
 * Instrumented code that a signal has interrupted may have stored records that its cursor does not know of yet: where
 * they end is only found by going through them. */
#include <string.h>

#include "trace/records.h"

size_t trodden_trace_record_bytes(const uint8_t *at, size_t most) {
    size_t bytes;
    uint32_t frames;
    if (!most || !*at)
        return 0;
    if (*at <= TRODDEN_TRACE_LAST_SYMBOL)
        return 1;
    switch (*at) {
    case TRODDEN_TRACE_WIDE:
    case TRODDEN_TRACE_ENTER:
    case TRODDEN_TRACE_RESUME:
    case TRODDEN_TRACE_LAND: bytes = 4; break;
    case TRODDEN_TRACE_TRIPS: bytes = 2; break;
    case TRODDEN_TRACE_TRIPS_LONG: bytes = 9; break;
    case TRODDEN_TRACE_LEFT: bytes = TRODDEN_TRACE_LEFT_BYTES; break;
    case TRODDEN_TRACE_EVENT: bytes = TRODDEN_TRACE_EVENT_BYTES; break;
    case TRODDEN_TRACE_SYNC:
        if (most < TRODDEN_TRACE_SYNC_BYTES)
            return 0;
        memcpy(&frames, at + 1, sizeof frames);
        bytes = TRODDEN_TRACE_SYNC_BYTES + (size_t)12 * (frames & ~TRODDEN_TRACE_CUT_OFF);
        break;
    default:
        if (*at >= TRODDEN_TRACE_ENTER_SHORT)
            bytes = 2;
        else
            bytes = *at > TRODDEN_TRACE_BITS && *at <= TRODDEN_TRACE_BITS + 8 ? 1u + *at - TRODDEN_TRACE_BITS : 0;
    }
    return bytes <= most ? bytes : 0;
}

uint8_t *trodden_trace_end_of(uint8_t *from, const uint8_t *limit) {
    size_t bytes;
    while (from < limit && (bytes = trodden_trace_record_bytes(from, (size_t)(limit - from))))
        from += bytes;
    return from;
}

enum { SHORT_ENTRIES = 255 * (256 - TRODDEN_TRACE_ENTER_SHORT) };

uint64_t trodden_trace_token(uint32_t number) {
    if (number < SHORT_ENTRIES)
        return (uint64_t)2 << 32 | (TRODDEN_TRACE_ENTER_SHORT + number / 255) | (number % 255 + 1) << 8;
    return (uint64_t)4 << 32 | TRODDEN_TRACE_ENTER | (number % 255 + 1) << 8 | (number / 255 % 255 + 1) << 16 |
           (number / 255 / 255 + 1) << 24;
}

uint32_t trodden_trace_number(uint64_t whole) {
    uint32_t token = (uint32_t)whole;
    if ((token & 255) >= TRODDEN_TRACE_ENTER_SHORT)
        return 255 * ((token & 255) - TRODDEN_TRACE_ENTER_SHORT) + (token >> 8 & 255) - 1;
    return (token >> 8 & 255) - 1 + 255 * ((token >> 16 & 255) - 1) + 255 * 255 * ((token >> 24) - 1);
}
