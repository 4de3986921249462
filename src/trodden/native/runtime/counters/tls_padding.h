/* The padding behind an executable's counters in static TLS (tls_padding.c). */
#ifndef TRODDEN_COUNTERS_TLS_PADDING_H
#define TRODDEN_COUNTERS_TLS_PADDING_H

#include <stdint.h>

/* A whole number of pages on every machine. */
#ifdef __x86_64__
#define TRODDEN_PADDING 4096
#else
#define TRODDEN_PADDING 65536
#endif

/* Its address in the calling thread.  Only executables define it. */
__attribute__((weak)) uintptr_t trodden_own_padding(void);

#endif
