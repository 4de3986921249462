/* Call frame information (DWARF 5, 6.4; the .eh_frame_hdr of the Linux Standard Base): from an address to
 * the rules that find its caller. */
#define _GNU_SOURCE
#include "dwarf.h"

enum { ABSOLUTE = 0x00, PC_RELATIVE = 0x10, DATA_RELATIVE = 0x30, INDIRECT = 0x80, OMITTED = 0xff };
enum { TABLE_ENCODING = DATA_RELATIVE | 0x0b }; /* pairs of signed 32-bit distances from the header */

struct description {
    struct trodden_bytes common, own; /* the programs of CIE and FDE */
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_column;
    uintptr_t from, size;
    uint8_t encoding;
    bool augmented, signal_frame;
};

static uint64_t take_pointer(struct trodden_bytes *in, uint8_t encoding, const uint8_t *header) {
    uint64_t base = 0, value;
    switch (encoding & 0x70) {
    case ABSOLUTE: break;
    case PC_RELATIVE: base = (uintptr_t)in->at; break;
    case DATA_RELATIVE: base = (uintptr_t)header; break;
    default: in->bad = true;
    }
    switch (encoding & 0x0f) {
    case 0x00: case 0x04: case 0x0c: value = trodden_take(in, 8); break;
    case 0x01: value = trodden_uleb(in); break;
    case 0x02: value = trodden_take(in, 2); break;
    case 0x03: value = trodden_take(in, 4); break;
    case 0x09: value = (uint64_t)trodden_sleb(in); break;
    case 0x0a: value = (uint64_t)trodden_take_signed(in, 2); break;
    case 0x0b: value = (uint64_t)trodden_take_signed(in, 4); break;
    default: in->bad = true; return 0;
    }
    return value ? value + base : 0;
}

/* One entry, after its length; `in` is where it starts. */
static bool take_entry(const struct trodden_image *image, const uint8_t *at, struct trodden_bytes *entry) {
    if (!trodden_image_holds(image, (uintptr_t)at, 4))
        return false;
    struct trodden_bytes in = {at, at + 4, false};
    uint64_t length = trodden_take(&in, 4);
    if (length == 0xffffffff) {
        if (!trodden_image_holds(image, (uintptr_t)at, 12))
            return false;
        in = (struct trodden_bytes){at + 4, at + 12, false};
        length = trodden_take(&in, 8);
    }
    if (length < 4 || !trodden_image_holds(image, (uintptr_t)in.at, length))
        return false;
    *entry = (struct trodden_bytes){in.at, in.at + length, false};
    return true;
}

static bool read_augmentation(struct trodden_bytes *in, const uint8_t *text, struct description *d,
                              const uint8_t *header) {
    d->encoding = ABSOLUTE;
    d->augmented = text[0] == 'z';
    if (!d->augmented)
        return text[0] == 0;
    struct trodden_bytes data = trodden_part(in, trodden_uleb(in));
    for (text++; *text; text++) {
        if (*text == 'R')
            d->encoding = (uint8_t)trodden_take(&data, 1);
        else if (*text == 'L')
            trodden_take(&data, 1);
        else if (*text == 'P')
            take_pointer(&data, (uint8_t)trodden_take(&data, 1), header);
        else if (*text == 'S')
            d->signal_frame = true;
        else if (*text != 'B' && *text != 'G') /* aarch64: the other key, tagged stack */
            break; /* unknown, but its length is known */
    }
    return !data.bad;
}

static bool read_common(const struct trodden_image *image, const uint8_t *at, struct description *d) {
    struct trodden_bytes in;
    if (!take_entry(image, at, &in) || trodden_take(&in, 4) != 0)
        return false;
    unsigned version = (unsigned)trodden_take(&in, 1);
    const uint8_t *text = in.at;
    while (trodden_take(&in, 1))
        ;
    if (in.bad || (version != 1 && version != 3 && version != 4))
        return false;
    if (version == 4 && (trodden_take(&in, 1) != 8 || trodden_take(&in, 1) != 0))
        return false;
    d->code_align = trodden_uleb(&in);
    d->data_align = trodden_sleb(&in);
    d->return_column = version == 1 ? trodden_take(&in, 1) : trodden_uleb(&in);
    d->signal_frame = false;
    if (!read_augmentation(&in, text, d, image->eh_frame_hdr))
        return false;
    d->common = in;
    return !in.bad;
}

static bool read_description(const struct trodden_image *image, const uint8_t *at, struct description *d) {
    struct trodden_bytes in;
    if (!take_entry(image, at, &in))
        return false;
    const uint8_t *field = in.at;
    uint64_t back = trodden_take(&in, 4);
    if (back == 0 || !read_common(image, field - back, d))
        return false;
    d->from = take_pointer(&in, d->encoding, image->eh_frame_hdr);
    d->size = take_pointer(&in, d->encoding & 0x0f, image->eh_frame_hdr);
    if (d->encoding & INDIRECT)
        return false;
    if (d->augmented)
        trodden_part(&in, trodden_uleb(&in));
    d->own = in;
    return !in.bad;
}

/* By halves through the sorted table of .eh_frame_hdr. */
static const uint8_t *find_description(const struct trodden_image *image, uintptr_t pc) {
    const uint8_t *header = image->eh_frame_hdr;
    if (!header || !trodden_image_holds(image, (uintptr_t)header, 32) || header[0] != 1 ||
        header[2] == OMITTED || header[3] != TABLE_ENCODING)
        return NULL;
    struct trodden_bytes in = {header + 4, header + 32, false};
    take_pointer(&in, header[1], header);
    uint64_t count = take_pointer(&in, header[2], header);
    if (in.bad || count == 0 || count > UINT32_MAX || !trodden_image_holds(image, (uintptr_t)in.at, count * 8))
        return NULL;
    uint64_t low = 0, high = count; /* the last entry that starts at or below pc is in [low, high) */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        struct trodden_bytes entry = {in.at + middle * 8, in.at + middle * 8 + 8, false};
        if ((uintptr_t)header + (uintptr_t)trodden_take_signed(&entry, 4) <= pc)
            low = middle;
        else
            high = middle;
    }
    struct trodden_bytes entry = {in.at + low * 8, in.at + low * 8 + 8, false};
    trodden_take(&entry, 4);
    return header + trodden_take_signed(&entry, 4);
}

static void set_rule(struct trodden_row *row, uint64_t column, enum trodden_rule_kind kind, int64_t value) {
    if (column < TRODDEN_COLUMNS) /* others are never asked for */
        row->columns[column] = (struct trodden_rule){kind, value};
}

static void restore_rule(struct trodden_frame_facts *facts, uint64_t column) {
    if (column < TRODDEN_COLUMNS)
        facts->row.columns[column] = facts->initial.columns[column];
}

/* An expression is kept as the address of its length. */
static int64_t take_expression(struct trodden_bytes *in) {
    const uint8_t *at = in->at;
    trodden_part(in, trodden_uleb(in));
    return (int64_t)(intptr_t)at;
}

/* Runs until the location passes pc. */
static bool run(struct trodden_bytes in, const struct description *d, uintptr_t pc, const uint8_t *header,
                struct trodden_frame_facts *facts) {
    struct trodden_row *row = &facts->row;
    uintptr_t location = d->from;
    unsigned depth = 0;
    uint64_t column;
    while (in.at < in.end && !in.bad && location <= pc) {
        unsigned op = (unsigned)trodden_take(&in, 1), low = op & 0x3f;
        switch (op >> 6) {
        case 1: location += low * d->code_align; continue;
        case 2: set_rule(row, low, AT_OFFSET, (int64_t)trodden_uleb(&in) * d->data_align); continue;
        case 3: restore_rule(facts, low); continue;
        default: break;
        }
        switch (op) {
        case 0x00: break;
        case 0x01: location = take_pointer(&in, d->encoding, header); break;
        case 0x02: location += trodden_take(&in, 1) * d->code_align; break;
        case 0x03: location += trodden_take(&in, 2) * d->code_align; break;
        case 0x04: location += trodden_take(&in, 4) * d->code_align; break;
        case 0x1d: location += trodden_take(&in, 8) * d->code_align; break;
        case 0x05: /* offset_extended */
            column = trodden_uleb(&in);
            set_rule(row, column, AT_OFFSET, (int64_t)trodden_uleb(&in) * d->data_align);
            break;
        case 0x06: restore_rule(facts, trodden_uleb(&in)); break;
        case 0x07: set_rule(row, trodden_uleb(&in), UNDEFINED, 0); break;
        case 0x08: set_rule(row, trodden_uleb(&in), SAME, 0); break;
        case 0x09: /* register */
            column = trodden_uleb(&in);
            set_rule(row, column, IN_REGISTER, (int64_t)trodden_uleb(&in));
            break;
        case 0x0a: /* remember_state */
            if (depth == TRODDEN_REMEMBERED)
                return false;
            facts->remembered[depth++] = *row;
            break;
        case 0x0b: /* restore_state */
            if (depth == 0)
                return false;
            *row = facts->remembered[--depth];
            break;
        case 0x0c: /* def_cfa */
            row->cfa_expression = NULL;
            row->cfa_column = trodden_uleb(&in);
            row->cfa_offset = (int64_t)trodden_uleb(&in);
            break;
        case 0x0d: /* def_cfa_register */
            row->cfa_expression = NULL;
            row->cfa_column = trodden_uleb(&in);
            break;
        case 0x0e: row->cfa_offset = (int64_t)trodden_uleb(&in); break;
        case 0x0f: row->cfa_expression = (const uint8_t *)(intptr_t)take_expression(&in); break;
        case 0x10: /* expression */
            column = trodden_uleb(&in);
            set_rule(row, column, AT_EXPRESSION, take_expression(&in));
            break;
        case 0x11: /* offset_extended_sf */
            column = trodden_uleb(&in);
            set_rule(row, column, AT_OFFSET, trodden_sleb(&in) * d->data_align);
            break;
        case 0x12: /* def_cfa_sf */
            row->cfa_expression = NULL;
            row->cfa_column = trodden_uleb(&in);
            row->cfa_offset = trodden_sleb(&in) * d->data_align;
            break;
        case 0x13: row->cfa_offset = trodden_sleb(&in) * d->data_align; break;
        case 0x14: /* val_offset */
            column = trodden_uleb(&in);
            set_rule(row, column, IS_OFFSET, (int64_t)trodden_uleb(&in) * d->data_align);
            break;
        case 0x15: /* val_offset_sf */
            column = trodden_uleb(&in);
            set_rule(row, column, IS_OFFSET, trodden_sleb(&in) * d->data_align);
            break;
        case 0x16: /* val_expression */
            column = trodden_uleb(&in);
            set_rule(row, column, IS_EXPRESSION, take_expression(&in));
            break;
        case 0x2c: case 0x2d: break; /* aarch64: signed return addresses, which are always stripped */
        case 0x2e: trodden_uleb(&in); break; /* GNU_args_size: matters to exceptions only */
        case 0x2f: /* GNU_negative_offset_extended */
            column = trodden_uleb(&in);
            set_rule(row, column, AT_OFFSET, -((int64_t)trodden_uleb(&in) * d->data_align));
            break;
        default: return false;
        }
    }
    return !in.bad;
}

bool trodden_find_row(const struct trodden_image *image, uintptr_t pc, struct trodden_frame_facts *facts) {
    struct description d;
    const uint8_t *at = find_description(image, pc);
    if (!at || !read_description(image, at, &d) || pc < d.from || pc - d.from >= d.size)
        return false;
    for (unsigned i = 0; i < TRODDEN_COLUMNS; i++)
        facts->row.columns[i] = (struct trodden_rule){SAME, 0};
    facts->row.cfa_expression = NULL;
    facts->row.cfa_column = TRODDEN_SP;
    facts->row.cfa_offset = 0;
    facts->signal_frame = d.signal_frame;
    facts->return_column = d.return_column;
    facts->from = d.from;
    facts->size = d.size;
    facts->initial = facts->row;
    if (!run(d.common, &d, UINTPTR_MAX, image->eh_frame_hdr, facts))
        return false;
    facts->initial = facts->row;
    return run(d.own, &d, pc, image->eh_frame_hdr, facts);
}
