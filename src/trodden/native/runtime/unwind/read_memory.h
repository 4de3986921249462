/* Memory that may be unmapped (read_memory.c): an invalid unwinding table must not crash the profiled program. */
#ifndef TRODDEN_UNWIND_READ_MEMORY_H
#define TRODDEN_UNWIND_READ_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* The page that was read last. */
struct trodden_page_copy {
    uintptr_t page; /* its address; 0: none */
    uint64_t words[512];
};

bool trodden_read_memory(struct trodden_page_copy *page_copy, uintptr_t address, unsigned size, uint64_t *value);

#endif
