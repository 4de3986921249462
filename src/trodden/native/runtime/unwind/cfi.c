/* Call frame information (DWARF 5, 6.4; .eh_frame_hdr as in the Linux Standard Base): from a program counter to the
 * rules that recover the caller's registers. */
#define _GNU_SOURCE
#include "unwind/byte_reader.h"
#include "unwind/cfi.h"

enum { ABSOLUTE = 0x00, PC_RELATIVE = 0x10, DATA_RELATIVE = 0x30, INDIRECT = 0x80, OMITTED = 0xff };
enum { TABLE_ENCODING = DATA_RELATIVE | 0x0b }; /* pairs of signed 32-bit displacements from the header */

struct frame_description {
    struct trodden_byte_reader cie_program, fde_program; /* the instructions of the CIE and of the FDE */
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_column;
    uintptr_t function_start, function_size;
    uint8_t encoding;
    bool augmented, signal_frame;
};

static uint64_t read_pointer(struct trodden_byte_reader *in, uint8_t encoding, const uint8_t *header) {
    uint64_t base = 0, value;
    switch (encoding & 0x70) {
    case ABSOLUTE: break;
    case PC_RELATIVE: base = (uintptr_t)in->next; break;
    case DATA_RELATIVE: base = (uintptr_t)header; break;
    default: in->overrun = true;
    }
    switch (encoding & 0x0f) {
    case 0x00:
    case 0x04:
    case 0x0c: value = trodden_read_unsigned(in, 8); break;
    case 0x01: value = trodden_read_uleb(in); break;
    case 0x02: value = trodden_read_unsigned(in, 2); break;
    case 0x03: value = trodden_read_unsigned(in, 4); break;
    case 0x09: value = (uint64_t)trodden_read_sleb(in); break;
    case 0x0a: value = (uint64_t)trodden_read_signed(in, 2); break;
    case 0x0b: value = (uint64_t)trodden_read_signed(in, 4); break;
    default: in->overrun = true; return 0;
    }
    return value ? value + base : 0;
}

/* The CIE or FDE at `at`, without its length. */
static bool read_entry(const struct trodden_image *image, const uint8_t *at, struct trodden_byte_reader *entry) {
    if (!trodden_image_contains(image, (uintptr_t)at, 4))
        return false;
    struct trodden_byte_reader in = {at, at + 4, false};
    uint64_t length = trodden_read_unsigned(&in, 4);
    if (length == 0xffffffff) {
        if (!trodden_image_contains(image, (uintptr_t)at, 12))
            return false;
        in = (struct trodden_byte_reader){at + 4, at + 12, false};
        length = trodden_read_unsigned(&in, 8);
    }
    if (length < 4 || !trodden_image_contains(image, (uintptr_t)in.next, length))
        return false;
    *entry = (struct trodden_byte_reader){in.next, in.next + length, false};
    return true;
}

static bool read_augmentation(struct trodden_byte_reader *in, const uint8_t *text, struct frame_description *d,
                              const uint8_t *header) {
    d->encoding = ABSOLUTE;
    d->augmented = text[0] == 'z';
    if (!d->augmented)
        return text[0] == 0;
    struct trodden_byte_reader data = trodden_read_block(in, trodden_read_uleb(in));
    for (text++; *text; text++) {
        if (*text == 'R')
            d->encoding = (uint8_t)trodden_read_unsigned(&data, 1);
        else if (*text == 'L')
            trodden_read_unsigned(&data, 1);
        else if (*text == 'P')
            read_pointer(&data, (uint8_t)trodden_read_unsigned(&data, 1), header);
        else if (*text == 'S')
            d->signal_frame = true;
        else if (*text != 'B' && *text != 'G') /* aarch64: B key, tagged stack */
            break;                             /* unknown, but the augmentation data has a length */
    }
    return !data.overrun;
}

static bool read_cie(const struct trodden_image *image, const uint8_t *at, struct frame_description *d) {
    struct trodden_byte_reader in;
    if (!read_entry(image, at, &in) || trodden_read_unsigned(&in, 4) != 0)
        return false;
    unsigned version = (unsigned)trodden_read_unsigned(&in, 1);
    const uint8_t *text = in.next;
    while (trodden_read_unsigned(&in, 1))
        ;
    if (in.overrun || (version != 1 && version != 3 && version != 4))
        return false;
    if (version == 4 && (trodden_read_unsigned(&in, 1) != 8 || trodden_read_unsigned(&in, 1) != 0))
        return false;
    d->code_align = trodden_read_uleb(&in);
    d->data_align = trodden_read_sleb(&in);
    d->return_column = version == 1 ? trodden_read_unsigned(&in, 1) : trodden_read_uleb(&in);
    d->signal_frame = false;
    if (!read_augmentation(&in, text, d, image->eh_frame_hdr))
        return false;
    d->cie_program = in;
    return !in.overrun;
}

static bool read_fde(const struct trodden_image *image, const uint8_t *at, struct frame_description *d) {
    struct trodden_byte_reader in;
    if (!read_entry(image, at, &in))
        return false;
    const uint8_t *field = in.next;
    uint64_t cie_distance = trodden_read_unsigned(&in, 4);
    if (cie_distance == 0 || !read_cie(image, field - cie_distance, d))
        return false;
    d->function_start = read_pointer(&in, d->encoding, image->eh_frame_hdr);
    d->function_size = read_pointer(&in, d->encoding & 0x0f, image->eh_frame_hdr);
    if (d->encoding & INDIRECT)
        return false;
    if (d->augmented)
        trodden_read_block(&in, trodden_read_uleb(&in));
    d->fde_program = in;
    return !in.overrun;
}

/* Binary search in the sorted table of .eh_frame_hdr. */
static const uint8_t *find_fde(const struct trodden_image *image, uintptr_t pc) {
    const uint8_t *header = image->eh_frame_hdr;
    if (!header || !trodden_image_contains(image, (uintptr_t)header, 32) || header[0] != 1 || header[2] == OMITTED ||
        header[3] != TABLE_ENCODING)
        return NULL;
    struct trodden_byte_reader in = {header + 4, header + 32, false};
    read_pointer(&in, header[1], header);
    uint64_t count = read_pointer(&in, header[2], header);
    if (in.overrun || count == 0 || count > UINT32_MAX ||
        !trodden_image_contains(image, (uintptr_t)in.next, count * 8))
        return NULL;
    uint64_t low = 0, high = count; /* the last entry that starts at or below pc is in [low, high) */
    while (high - low > 1) {
        uint64_t middle = low + (high - low) / 2;
        struct trodden_byte_reader entry = {in.next + middle * 8, in.next + middle * 8 + 8, false};
        if ((uintptr_t)header + (uintptr_t)trodden_read_signed(&entry, 4) <= pc)
            low = middle;
        else
            high = middle;
    }
    struct trodden_byte_reader entry = {in.next + low * 8, in.next + low * 8 + 8, false};
    trodden_read_unsigned(&entry, 4);
    return header + trodden_read_signed(&entry, 4);
}

static void set_rule(struct trodden_cfi_row *row, uint64_t column, enum trodden_cfi_rule_kind kind, int64_t value) {
    if (column < TRODDEN_COLUMNS) /* no other is ever read */
        row->columns[column] = (struct trodden_cfi_rule){kind, value};
}

static void restore_rule(struct trodden_frame_info *info, uint64_t column) {
    if (column < TRODDEN_COLUMNS)
        info->row.columns[column] = info->initial.columns[column];
}

/* An expression is represented by the address of its length. */
static int64_t read_expression(struct trodden_byte_reader *in) {
    const uint8_t *at = in->next;
    trodden_read_block(in, trodden_read_uleb(in));
    return (int64_t)(intptr_t)at;
}

/* Executes the instructions until the location exceeds pc. */
static bool run_program(struct trodden_byte_reader in, const struct frame_description *d, uintptr_t pc,
                        const uint8_t *header, struct trodden_frame_info *info) {
    struct trodden_cfi_row *row = &info->row;
    uintptr_t location = d->function_start;
    unsigned depth = 0;
    uint64_t column;
    while (in.next < in.end && !in.overrun && location <= pc) {
        unsigned op = (unsigned)trodden_read_unsigned(&in, 1), low = op & 0x3f;
        switch (op >> 6) {
        case 1: location += low * d->code_align; continue;
        case 2: set_rule(row, low, RULE_OFFSET, (int64_t)trodden_read_uleb(&in) * d->data_align); continue;
        case 3: restore_rule(info, low); continue;
        default: break;
        }
        switch (op) {
        case 0x00: break;
        case 0x01: location = read_pointer(&in, d->encoding, header); break;
        case 0x02: location += trodden_read_unsigned(&in, 1) * d->code_align; break;
        case 0x03: location += trodden_read_unsigned(&in, 2) * d->code_align; break;
        case 0x04: location += trodden_read_unsigned(&in, 4) * d->code_align; break;
        case 0x1d: location += trodden_read_unsigned(&in, 8) * d->code_align; break;
        case 0x05: /* offset_extended */
            column = trodden_read_uleb(&in);
            set_rule(row, column, RULE_OFFSET, (int64_t)trodden_read_uleb(&in) * d->data_align);
            break;
        case 0x06: restore_rule(info, trodden_read_uleb(&in)); break;
        case 0x07: set_rule(row, trodden_read_uleb(&in), RULE_UNDEFINED, 0); break;
        case 0x08: set_rule(row, trodden_read_uleb(&in), RULE_SAME_VALUE, 0); break;
        case 0x09: /* register */
            column = trodden_read_uleb(&in);
            set_rule(row, column, RULE_REGISTER, (int64_t)trodden_read_uleb(&in));
            break;
        case 0x0a: /* remember_state */
            if (depth == TRODDEN_CFI_STATE_DEPTH)
                return false;
            info->state_stack[depth++] = *row;
            break;
        case 0x0b: /* restore_state */
            if (depth == 0)
                return false;
            *row = info->state_stack[--depth];
            break;
        case 0x0c: /* def_cfa */
            row->cfa_expression = NULL;
            row->cfa_column = trodden_read_uleb(&in);
            row->cfa_offset = (int64_t)trodden_read_uleb(&in);
            break;
        case 0x0d: /* def_cfa_register */
            row->cfa_expression = NULL;
            row->cfa_column = trodden_read_uleb(&in);
            break;
        case 0x0e: row->cfa_offset = (int64_t)trodden_read_uleb(&in); break;
        case 0x0f: row->cfa_expression = (const uint8_t *)(intptr_t)read_expression(&in); break;
        case 0x10: /* expression */
            column = trodden_read_uleb(&in);
            set_rule(row, column, RULE_EXPRESSION, read_expression(&in));
            break;
        case 0x11: /* offset_extended_sf */
            column = trodden_read_uleb(&in);
            set_rule(row, column, RULE_OFFSET, trodden_read_sleb(&in) * d->data_align);
            break;
        case 0x12: /* def_cfa_sf */
            row->cfa_expression = NULL;
            row->cfa_column = trodden_read_uleb(&in);
            row->cfa_offset = trodden_read_sleb(&in) * d->data_align;
            break;
        case 0x13: row->cfa_offset = trodden_read_sleb(&in) * d->data_align; break;
        case 0x14: /* val_offset */
            column = trodden_read_uleb(&in);
            set_rule(row, column, RULE_VAL_OFFSET, (int64_t)trodden_read_uleb(&in) * d->data_align);
            break;
        case 0x15: /* val_offset_sf */
            column = trodden_read_uleb(&in);
            set_rule(row, column, RULE_VAL_OFFSET, trodden_read_sleb(&in) * d->data_align);
            break;
        case 0x16: /* val_expression */
            column = trodden_read_uleb(&in);
            set_rule(row, column, RULE_VAL_EXPRESSION, read_expression(&in));
            break;
        case 0x2c:
        case 0x2d: break; /* aarch64: signed return addresses, whose signatures are always stripped */
        case 0x2e: trodden_read_uleb(&in); break; /* GNU_args_size: matters to landing pads only */
        case 0x2f:                                /* GNU_negative_offset_extended */
            column = trodden_read_uleb(&in);
            set_rule(row, column, RULE_OFFSET, -((int64_t)trodden_read_uleb(&in) * d->data_align));
            break;
        default: return false;
        }
    }
    return !in.overrun;
}

bool trodden_find_cfi_row(const struct trodden_image *image, uintptr_t pc, struct trodden_frame_info *info) {
    struct frame_description d;
    const uint8_t *at = find_fde(image, pc);
    if (!at || !read_fde(image, at, &d) || pc < d.function_start || pc - d.function_start >= d.function_size)
        return false;
    for (unsigned i = 0; i < TRODDEN_COLUMNS; i++)
        info->row.columns[i] = (struct trodden_cfi_rule){RULE_SAME_VALUE, 0};
    info->row.cfa_expression = NULL;
    info->row.cfa_column = TRODDEN_SP;
    info->row.cfa_offset = 0;
    info->signal_frame = d.signal_frame;
    info->return_column = d.return_column;
    info->function_start = d.function_start;
    info->function_size = d.function_size;
    info->initial = info->row;
    if (!run_program(d.cie_program, &d, UINTPTR_MAX, image->eh_frame_hdr, info))
        return false;
    info->initial = info->row;
    return run_program(d.fde_program, &d, pc, image->eh_frame_hdr, info);
}
