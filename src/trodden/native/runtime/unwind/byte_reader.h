/* A bounds-checked reader of unwinding tables and DWARF expressions. */
#ifndef TRODDEN_UNWIND_BYTE_READER_H
#define TRODDEN_UNWIND_BYTE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A read past the end yields zero and sets `overrun`, so that callers check once, after the last read. */
struct trodden_byte_reader {
    const uint8_t *next, *end;
    bool overrun;
};

static inline uint64_t trodden_read_unsigned(struct trodden_byte_reader *in, unsigned size) {
    uint64_t value = 0;
    if (in->overrun || (size_t)(in->end - in->next) < size) {
        in->overrun = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++)
        value |= (uint64_t)in->next[i] << (8 * i);
    in->next += size;
    return value;
}

static inline int64_t trodden_read_signed(struct trodden_byte_reader *in, unsigned size) {
    unsigned shift = 64 - 8 * size;
    return (int64_t)(trodden_read_unsigned(in, size) << shift) >> shift;
}

static inline uint64_t trodden_read_uleb(struct trodden_byte_reader *in) {
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = trodden_read_unsigned(in, 1);
        if (shift < 64)
            value |= (byte & 0x7F) << shift;
        shift += 7;
    } while (byte & 0x80);
    return value;
}

static inline int64_t trodden_read_sleb(struct trodden_byte_reader *in) {
    uint64_t value = 0, byte;
    unsigned shift = 0;
    do {
        byte = trodden_read_unsigned(in, 1);
        if (shift < 64)
            value |= (byte & 0x7F) << shift;
        shift += 7;
    } while (byte & 0x80);
    if (shift < 64 && (byte & 0x40))
        value |= ~(uint64_t)0 << shift;
    return (int64_t)value;
}

static inline struct trodden_byte_reader trodden_read_block(struct trodden_byte_reader *in, uint64_t length) {
    struct trodden_byte_reader part = {in->next, in->next, in->overrun};
    if (in->overrun || length > (uint64_t)(in->end - in->next)) {
        in->overrun = part.overrun = true;
        return part;
    }
    in->next += length;
    part.end = in->next;
    return part;
}

#endif
