/* A buffer in front of a file (raw_writer.c). */
#ifndef TRODDEN_PROCESS_RAW_WRITER_H
#define TRODDEN_PROCESS_RAW_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include "process/output_file.h"

enum { TRODDEN_RAW_BUFFER_BYTES = 65536, TRODDEN_COUNTERS_PER_PASS = 512 };

/* All memory that writing a raw file takes beside the stack, which may be nearly exhausted. */
struct trodden_raw_writer {
    char message[2 * TRODDEN_PATH_BYTES];
    uint64_t buffer[TRODDEN_RAW_BUFFER_BYTES / 8];
    uint64_t sums[TRODDEN_COUNTERS_PER_PASS]; /* counters summed at a time */
    size_t used;
    uint64_t size; /* of everything so far, also of what could not be written */
    uint32_t crc;
    int file, error;
};

/* `bytes`: for which space is reserved in advance; there is an error if there is none.  0: it is not. */
void trodden_raw_begin(struct trodden_raw_writer *writer, int file, uint64_t bytes);
void trodden_raw_put(struct trodden_raw_writer *writer, const void *bytes, size_t count);
void trodden_raw_flush(struct trodden_raw_writer *writer);

#endif
