/* A page behind the counters in an executable's static TLS.
 *
 * Only executables have it.  It is linked last, so that the linker places it behind the counters of all units, and
 * its alignment becomes that of their section: the pages of the section before it contain counters and nothing else,
 * and the pages of a shard can be mapped over them (shard_tls.c). */
#include "counters/tls_padding.h"
#include "platform/attributes.h"
#include "trodden.h"

/* GNU ld supports only one thread-local section without contents in the file (.tbss). */
#ifdef TRODDEN_PROGBITS_PADDING
#define SECTION_TYPE "progbits"
#else
#define SECTION_TYPE "nobits"
#endif

#define STRINGIFY(number) #number
#define STRINGIFY_VALUE(number) STRINGIFY(number)

__asm__(".pushsection .trodden_counts,\"awT\",@" SECTION_TYPE "\n\t.balign " STRINGIFY_VALUE(
    TRODDEN_PADDING) "\n\t"
                     ".type trodden_padding,@object\n\t.size trodden_padding, " STRINGIFY_VALUE(
                         TRODDEN_PADDING) "\n"
                                          "trodden_padding:\n\t.zero " STRINGIFY_VALUE(
                                              TRODDEN_PADDING) "\n\t.popsection");

extern _Thread_local uint8_t trodden_padding[TRODDEN_PADDING] __attribute__((tls_model("local-exec")));

uintptr_t trodden_own_padding(void) { return (uintptr_t)trodden_padding; }

/* An executable defines the variable for the libraries that it may load, which then need no space in static TLS. */
EXPORTED _Thread_local void **__trodden_table __attribute__((tls_model("initial-exec"), weak)) = trodden_common;
