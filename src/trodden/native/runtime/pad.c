/* A page behind the counters of a program's static TLS.
 *
 * Only executables have it.  It is linked last, so the linker lays it behind the counters of all units, and its
 * alignment becomes that of their section: the pages of the section before it hold counters and nothing else, and
 * others can be laid over them (counters.c). */
#include "internal.h"

/* GNU's linker knows only one thread-local section that takes no room in the file. */
#ifdef TRODDEN_FILLED
#define KIND "progbits"
#else
#define KIND "nobits"
#endif

#define TEXT(number) #number
#define DEFINED(number) TEXT(number)

__asm__(".pushsection .trodden_counts,\"awT\",@" KIND "\n\t.balign " DEFINED(TRODDEN_PAD) "\n\t"
        ".type trodden_pad,@object\n\t.size trodden_pad, " DEFINED(TRODDEN_PAD) "\n"
        "trodden_pad:\n\t.zero " DEFINED(TRODDEN_PAD) "\n\t.popsection");

extern _Thread_local uint8_t trodden_pad[TRODDEN_PAD] __attribute__((tls_model("local-exec")));

uintptr_t trodden_own_pad(void) { return (uintptr_t)trodden_pad; }

/* The program has the variable for the libraries that it may load: they need no room in static TLS then. */
EXPORTED _Thread_local void **__trodden_table __attribute__((tls_model("initial-exec"), weak)) = trodden_common;
