/* A unit as the lowering would make it, by hand: counters, accessor and registration.  Nothing refers to
 * it but the section's bounds, so a linker that drops unused sections has to be told to retain it. */
#ifndef UNIT_H
#define UNIT_H

#include <trodden.h>

#ifndef UNIT_FLAGS
#define UNIT_FLAGS TRODDEN_STATIC_TLS
#endif

#ifndef UNIT_CALLER
#define UNIT_CALLER 0
#endif

#define UNIT(letter, slots)                                                                            \
    static __thread uint64_t counts[slots];                                                            \
    static uint64_t *counters(void) { return counts; }                                                 \
    __attribute__((section("trodden_units"), used, retain)) static struct trodden_unit unit = {                \
        {letter, letter, letter, letter}, slots, UNIT_FLAGS, counters, UNIT_CALLER}

#define STEP(slot) (counts[slot]++)

#endif
