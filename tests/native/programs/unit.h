/* A unit as the lowering makes it, written by hand: counters, accessor and registration.  Nothing refers to
 * it except for the section's bounds, so that a linker that drops unused sections has to be told to retain it. */
#ifndef UNIT_H
#define UNIT_H

#include <trodden.h>

#ifndef UNIT_FLAGS
#define UNIT_FLAGS TRODDEN_STATIC_TLS
#endif

#ifndef UNIT_CALLER
#define UNIT_CALLER 0
#endif

#ifndef UNIT_TRACE
#define UNIT_TRACE 0, 0, 0
#endif

#define ENTRY(letter, slots)                                                                                   \
    __attribute__((section("trodden_units"), used, retain)) static struct trodden_unit unit = {                \
        {letter, letter, letter, letter}, slots, UNIT_FLAGS, counters, UNIT_CALLER, 0, 0, 0, 0, UNIT_TRACE, 0}

#ifdef UNIT_ALONE
/* They are never read. */
#define UNIT(letter, slots)                                                                                    \
    static _Thread_local uint64_t counts[slots];                                                               \
    static void *counters(void) { return counts; }                                                             \
    ENTRY(letter, slots)
#elif UNIT_FLAGS
/* As the lowering does it: the assembler allocates the counters, so that they take no space in the file. */
#define UNIT(letter, slots)                                                                                    \
    extern _Thread_local uint64_t counts[slots] __attribute__((visibility("hidden"), tls_model("local-exec"))); \
    __attribute__((used, noinline)) static void lay_out(void) {                                                \
        __asm__ volatile(".pushsection .trodden_counts,\"awT\",@nobits\n\t.p2align 6\n\t"                      \
                         ".type counts,@object\n\t.size counts, %c0\ncounts:\n\t.zero %c0\n\t.popsection"    \
                         :                                                                                     \
                         : "i"((slots) * sizeof(uint64_t)));                                                   \
    }                                                                                                          \
    static void *counters(void) { return counts; }                                                             \
    ENTRY(letter, slots)
#else
/* As in a shared library. */
__attribute__((weak, visibility("default"), tls_model("initial-exec"))) _Thread_local void **__trodden_table =
    trodden_common;
#define counts ((uint64_t *)__trodden_table[unit.index])
#define UNIT(letter, slots)                                                                                    \
    static void *counters(void) { return &__trodden_table; }                                                   \
    ENTRY(letter, slots)
#endif

#define STEP(slot) (counts[slot]++)

#endif
