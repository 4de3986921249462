/* What test_machine_instructions.py steps through: an interpreter, whose loop has one large switch, and code that a
 * compiler makes branches, tables, trees and shared ends of. */
volatile unsigned own_counts[64];
static volatile long sink;
#define NOINLINE __attribute__((noinline))

/* Dense cases: a jump table.  Several cases share their code. */
static NOINLINE long interpret(const unsigned char *code, long value) {
    for (;;)
        switch (*code++) {
        case 0: return value;
        case 1: value += 3; break;
        case 2: value ^= value >> 7; break;
        case 3: value *= 5; break;
        case 4: value -= 11; break;
        case 5: sink = value; break;
        case 6: value = value % 1000 + 1; break;
        case 7: if (value & 1) code++; break;
        case 8: value = -value; break;
        case 9: value <<= 1; break;
        case 10: case 11: case 12: value += sink; break;
        case 13: value |= 64; break;
        case 14: value &= 0xffff; break;
        case 15: value += *code++; break;
        case 16: value -= *code++; break;
        case 17: value ^= *code++; break;
        case 18: if (value < 0) return -1; break;
        case 19: for (int i = 0; i < (value & 7); i++) sink += i; break;
        default: sink = code[-1];
        }
}

/* Sparse cases: a tree of comparisons. */
static NOINLINE int weigh(int letter) {
    switch (letter) {
    case 'a': return 3;
    case 'k': return sink ? 4 : 9;
    case 300: sink = 300; return 8;
    case 777: return 12;
    case 1500: sink++; return 2;
    case 4000: return 71;
    case 9999: sink--; return 13;
    case 20000: return 1;
    default: return letter / 3;
    }
}

/* Ends that are shared, a call in the middle, a loop of one block, a division of 64 bits. */
static NOINLINE long sum(const long *numbers, int length) {
    long total = 0;
    if (length <= 0)
        return -1;
    for (int i = 0; i < length; i++)
        total += numbers[i] * i;
    if (total > 1000)
        return total / length;
    sink = weigh((int)total);
    return total;
}

int everything(void) {
    static const unsigned char code[] = {1, 2, 3, 4, 5, 15, 9, 7, 8, 6, 9, 10, 14, 13, 99, 11, 16, 3, 18, 19, 1, 2, 3, 12, 17, 5, 8, 8, 0};
    static const int letters[] = {'a', 'k', 300, 5, 777, 1500, 20000, 4000, 9999, 12345, 'k'};
    static const long numbers[] = {5, 1, 8, 2, 200, 9, 31};
    long value = 12;
    for (int i = 0; i < 20; i++)
        value = interpret(code, value + i);
    for (unsigned i = 0; i < sizeof letters / sizeof *letters; i++)
        value += weigh(letters[i]);
    for (int i = 0; i < 7; i++)
        value += sum(numbers, i);
    sink = value;
    return 0;
}
