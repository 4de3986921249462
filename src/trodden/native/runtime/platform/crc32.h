/* The checksum of raw files (crc32.c). */
#ifndef TRODDEN_PLATFORM_CRC32_H
#define TRODDEN_PLATFORM_CRC32_H

#include <stddef.h>
#include <stdint.h>

uint32_t trodden_crc32(uint32_t crc, const void *bytes, size_t count);

#endif
