/* A unit that records a trace, and records as instrumented code writes them. */
#ifndef TRACE_PROBES_H
#define TRACE_PROBES_H

#include <trodden.h>

#ifndef TRACED_FUNCTIONS
#define TRACED_FUNCTIONS 8
#endif

__attribute__((weak, visibility("default"), tls_model("initial-exec"))) _Thread_local struct trodden_trace_cursor
    __trodden_trace = {trodden_no_trace, trodden_no_trace};
static struct trodden_trace_cursor *find_trace(void) { return &__trodden_trace; }
static uint64_t tokens[TRACED_FUNCTIONS] = {[0 ... TRACED_FUNCTIONS - 1] = TRODDEN_TRACE_UNKNOWN_TOKEN};

#define UNIT_TRACE find_trace, tokens, TRACED_FUNCTIONS
#include "unit.h"
UNIT('t', 1);

typedef uint32_t __attribute__((aligned(1), may_alias)) unaligned_u32;
typedef uint64_t __attribute__((aligned(1), may_alias)) unaligned_u64;

#define ADVANCE(bytes, function, location)                                      \
    do {                                                                        \
        *(uint8_t *volatile *)&__trodden_trace.next = at + (bytes);             \
        if (__builtin_expect(at + (bytes) >= __trodden_trace.end, 0))           \
            __trodden_trace_full(&unit, function, location);                    \
    } while (0)

/* One store for the whole record. */
#define RECORD_U32(value, bytes, function, location)                            \
    do {                                                                        \
        uint8_t *at = *(uint8_t *volatile *)&__trodden_trace.next;              \
        *(volatile unaligned_u32 *)at = (value);                                \
        ADVANCE(bytes, function, location);                                     \
    } while (0)

#define ENTER(function)                                                         \
    do {                                                                        \
        uint64_t token = *(volatile uint64_t *)&tokens[function];               \
        RECORD_U32((uint32_t)token, token >> 32, function, 0);                  \
    } while (0)

#define SYMBOL(number, function, location)                                      \
    do {                                                                        \
        uint8_t *at = *(uint8_t *volatile *)&__trodden_trace.next;              \
        *(volatile uint8_t *)at = (uint8_t)((number) + 1);                      \
        ADVANCE(1, function, location);                                         \
    } while (0)

/* The first byte last. */
#define TRIPS(number, function, location)                                       \
    do {                                                                        \
        uint8_t *at = *(uint8_t *volatile *)&__trodden_trace.next;              \
        *(volatile unaligned_u64 *)(at + 1) = (number);                         \
        *(volatile uint8_t *)at = 227;                                          \
        ADVANCE(9, function, location);                                         \
    } while (0)

#endif
