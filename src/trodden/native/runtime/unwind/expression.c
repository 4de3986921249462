/* DWARF expressions as they occur in call frame information (DWARF 5, 2.5 and 6.4.2). */
#define _GNU_SOURCE
#include "unwind/byte_reader.h"
#include "unwind/expression.h"

#define MAX_DEPTH 64
#define MAX_STEPS 10000 /* expressions may loop; infinite loops stop here */

struct machine {
    struct trodden_byte_reader in;
    const uint8_t *begin;
    uint64_t stack[MAX_DEPTH];
    unsigned depth;
    bool failed;
};

static void push(struct machine *m, uint64_t value) {
    if (m->depth == MAX_DEPTH)
        m->failed = true;
    else
        m->stack[m->depth++] = value;
}

static uint64_t pop(struct machine *m) {
    if (m->depth == 0) {
        m->failed = true;
        return 0;
    }
    return m->stack[--m->depth];
}

static uint64_t pick(struct machine *m, uint64_t index) {
    if (index >= m->depth) {
        m->failed = true;
        return 0;
    }
    return m->stack[m->depth - 1 - index];
}

static void jump(struct machine *m, int64_t distance) {
    if (distance < m->begin - m->in.next || distance > m->in.end - m->in.next)
        m->failed = true;
    else
        m->in.next += distance;
}

static void push_register(struct machine *m, const struct trodden_regs *regs, uint64_t number, int64_t offset) {
    if (number >= TRODDEN_COLUMNS || !(regs->known >> number & 1))
        m->failed = true;
    else
        push(m, regs->r[number] + (uint64_t)offset);
}

static void load(struct machine *m, struct trodden_page_copy *page_copy, uint64_t size) {
    uint64_t value = 0;
    if (size > 8 || !trodden_read_memory(page_copy, pop(m), (unsigned)size, &value))
        m->failed = true;
    push(m, value);
}

static void binary_operation(struct machine *m, unsigned op) {
    uint64_t b = pop(m), a = pop(m), result = 0;
    int64_t sa = (int64_t)a, sb = (int64_t)b;
    switch (op) {
    case 0x1a: result = a & b; break;
    case 0x1b: /* div, signed */
        if (sb == 0)
            m->failed = true;
        else
            result = sb == -1 ? 0 - a : (uint64_t)(sa / sb);
        break;
    case 0x1c: result = a - b; break;
    case 0x1d: /* mod, unsigned */
        if (b == 0)
            m->failed = true;
        else
            result = a % b;
        break;
    case 0x1e: result = a * b; break;
    case 0x21: result = a | b; break;
    case 0x22: result = a + b; break;
    case 0x24: result = b < 64 ? a << b : 0; break;
    case 0x25: result = b < 64 ? a >> b : 0; break;
    case 0x26: result = (uint64_t)(sa >> (b < 64 ? b : 63)); break;
    case 0x27: result = a ^ b; break;
    case 0x29: result = sa == sb; break;
    case 0x2a: result = sa >= sb; break;
    case 0x2b: result = sa > sb; break;
    case 0x2c: result = sa <= sb; break;
    case 0x2d: result = sa < sb; break;
    case 0x2e: result = sa != sb; break;
    default: m->failed = true;
    }
    push(m, result);
}

static void rotate(struct machine *m) {
    uint64_t a = pop(m), b = pop(m), c = pop(m);
    push(m, a);
    push(m, c);
    push(m, b);
}

static void step(struct machine *m, const struct trodden_regs *regs, struct trodden_page_copy *page_copy) {
    unsigned op = (unsigned)trodden_read_unsigned(&m->in, 1);
    uint64_t a, b;
    if (op >= 0x30 && op <= 0x4f) { /* lit0..31 */
        push(m, op - 0x30);
        return;
    }
    if (op >= 0x50 && op <= 0x6f) { /* reg0..31 */
        push_register(m, regs, op - 0x50, 0);
        return;
    }
    if (op >= 0x70 && op <= 0x8f) { /* breg0..31 */
        push_register(m, regs, op - 0x70, trodden_read_sleb(&m->in));
        return;
    }
    switch (op) {
    case 0x03: push(m, trodden_read_unsigned(&m->in, 8)); break; /* addr */
    case 0x06: load(m, page_copy, 8); break;
    case 0x08: push(m, trodden_read_unsigned(&m->in, 1)); break;
    case 0x09: push(m, (uint64_t)trodden_read_signed(&m->in, 1)); break;
    case 0x0a: push(m, trodden_read_unsigned(&m->in, 2)); break;
    case 0x0b: push(m, (uint64_t)trodden_read_signed(&m->in, 2)); break;
    case 0x0c: push(m, trodden_read_unsigned(&m->in, 4)); break;
    case 0x0d: push(m, (uint64_t)trodden_read_signed(&m->in, 4)); break;
    case 0x0e:
    case 0x0f: push(m, trodden_read_unsigned(&m->in, 8)); break;
    case 0x10: push(m, trodden_read_uleb(&m->in)); break;
    case 0x11: push(m, (uint64_t)trodden_read_sleb(&m->in)); break;
    case 0x12: push(m, pick(m, 0)); break; /* dup */
    case 0x13: pop(m); break;
    case 0x14: push(m, pick(m, 1)); break; /* over */
    case 0x15: push(m, pick(m, trodden_read_unsigned(&m->in, 1))); break;
    case 0x16: /* swap */
        b = pop(m);
        a = pop(m);
        push(m, b);
        push(m, a);
        break;
    case 0x17: rotate(m); break;
    case 0x19: /* abs */
        a = pop(m);
        push(m, (int64_t)a < 0 ? 0 - a : a);
        break;
    case 0x1f: push(m, 0 - pop(m)); break;
    case 0x20: push(m, ~pop(m)); break;
    case 0x23: push(m, pop(m) + trodden_read_uleb(&m->in)); break;
    case 0x28: { /* bra */
        int64_t distance = trodden_read_signed(&m->in, 2);
        if (pop(m))
            jump(m, distance);
        break;
    }
    case 0x2f: jump(m, trodden_read_signed(&m->in, 2)); break;
    case 0x90: push_register(m, regs, trodden_read_uleb(&m->in), 0); break;
    case 0x92: /* bregx */
        a = trodden_read_uleb(&m->in);
        push_register(m, regs, a, trodden_read_sleb(&m->in));
        break;
    case 0x94: load(m, page_copy, trodden_read_unsigned(&m->in, 1)); break;
    case 0x96: break; /* nop */
    default: binary_operation(m, op); break;
    }
}

bool trodden_evaluate_expression(const uint8_t *block, const struct trodden_image *image,
                                 const struct trodden_regs *regs, struct trodden_page_copy *page_copy,
                                 const uint64_t *initial, uint64_t *result) {
    if (!trodden_image_contains(image, (uintptr_t)block, 1))
        return false;
    struct trodden_byte_reader length = {block, (const uint8_t *)image->high, false};
    uint64_t bytes = trodden_read_uleb(&length);
    if (!trodden_image_contains(image, (uintptr_t)length.next, bytes))
        return false;
    struct machine m;
    m.in = (struct trodden_byte_reader){length.next, length.next + bytes, false};
    m.begin = length.next;
    m.depth = 0;
    m.failed = false;
    if (initial)
        push(&m, *initial);
    for (unsigned steps = 0; m.in.next < m.in.end; steps++) {
        step(&m, regs, page_copy);
        if (m.failed || m.in.overrun || steps == MAX_STEPS)
            return false;
    }
    *result = pick(&m, 0);
    return !m.failed;
}
