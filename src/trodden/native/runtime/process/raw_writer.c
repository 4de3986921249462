/* A buffer in front of a file, with a checksum of what goes through it.  After an error nothing more is written, but
 * everything is still measured. */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/crc32.h"
#include "platform/system.h"
#include "process/raw_writer.h"

void trodden_raw_begin(struct trodden_raw_writer *writer, int file, uint64_t bytes) {
    writer->used = 0;
    writer->size = 0;
    writer->crc = 0;
    writer->error = 0;
    writer->file = file;
    if (bytes && syscall(SYS_fallocate, file, 0, 0, bytes) != 0 && errno == ENOSPC)
        writer->error = ENOSPC;
}

void trodden_raw_flush(struct trodden_raw_writer *writer) {
    const char *at = (const char *)writer->buffer;
    while (writer->used && !writer->error) {
        long written = trodden_sys_write(writer->file, at, writer->used);
        if (written < 0 && errno != EINTR)
            writer->error = errno;
        if (written > 0) {
            at += written;
            writer->used -= (size_t)written;
        }
    }
    writer->used = 0;
}

void trodden_raw_put(struct trodden_raw_writer *writer, const void *bytes, size_t count) {
    const char *at = bytes;
    writer->crc = trodden_crc32(writer->crc, bytes, count);
    writer->size += count;
    while (count) {
        size_t chunk =
            TRODDEN_RAW_BUFFER_BYTES - writer->used < count ? TRODDEN_RAW_BUFFER_BYTES - writer->used : count;
        memcpy((char *)writer->buffer + writer->used, at, chunk);
        writer->used += chunk;
        at += chunk;
        count -= chunk;
        if (writer->used == TRODDEN_RAW_BUFFER_BYTES)
            trodden_raw_flush(writer);
    }
}
