/* CRC-32 as in zlib and PNG: reflected polynomial 0xEDB88320, with initial and final complement. */
#include "platform/crc32.h"

uint32_t trodden_crc32(uint32_t crc, const void *bytes, size_t count) {
    static uint32_t table[256]; /* always filled with the same values, while the lock is held */
    if (!table[1])
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t value = i;
            for (int bit = 0; bit < 8; bit++)
                value = value >> 1 ^ (value & 1 ? 0xEDB88320u : 0);
            table[i] = value;
        }
    const uint8_t *at = bytes;
    crc = ~crc;
    while (count--)
        crc = crc >> 8 ^ table[(crc ^ *at++) & 0xFF];
    return ~crc;
}
