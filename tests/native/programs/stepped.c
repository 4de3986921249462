/* What test_debug_locations.py steps through: every T(n) is a line of its own with a counter of its own. */
#include <setjmp.h>
#include <stdlib.h>

volatile unsigned own_counts[64];
static volatile int sink;
#define T(n) own_counts[n]++
#define NOINLINE __attribute__((noinline))

static NOINLINE int choose(int what, int more) {
    T(0);
    switch (what) {
    case 0:
        T(1);
        return more;
    case 1:
        T(2);
        more += 3;
    case 2:
        T(3);
        more ^= 5;
        break;
    case 3:
        T(4);
        break;
    case 5:
        T(5);
        return more + 1;
    case 6:
        T(6);
        more--;
        break;
    default:
        T(7);
    }
    T(8);
    return more * 2;
}

static NOINLINE int iterations(const int *numbers, int length) {
    int sum = 0;
    for (int i = 0; i < length; i++)
        sum += numbers[i] * i;
    T(9);
    int at = 0;
    while (at < length && numbers[at] != 7)
        at += 2;
    T(10);
    for (int i = length; i > 0; i -= 3)
        sink = i;
    return sum + at;
}

static NOINLINE int nested(int rows, int columns) {
    int found = 0;
    for (int row = 0; row < rows; row++) {
        T(11);
        for (int column = 0; column < columns; column++) {
            T(12);
            if ((row ^ column) & 1) {
                T(13);
                if (column == 3)
                    break;
                found += choose(column, row);
            } else if (row == 2) {
                T(14);
                continue;
            }
            T(15);
            found += row > column;
        }
        if (found > 60) {
            T(16);
            return found;
        }
    }
    T(17);
    return -found;
}

static NOINLINE int call_path(unsigned bits) {
    int sum = 0;
    if (bits & 1) {
        T(18);
        sum += 1;
    }
    if (bits & 2) {
        T(19);
        sum += 2;
    } else {
        T(20);
        sum -= 1;
    }
    if (bits & 4 && sum > 0) {
        T(21);
        sum *= 3;
    }
    if (bits & 8 || sum == 2) {
        T(22);
        sum += choose(sum & 7, sum);
    }
    if (bits & 16) {
        T(23);
        sum ^= 9;
    }
    T(24);
    return sum;
}

static NOINLINE int deep(int n) {
    T(25);
    if (n <= 1) {
        T(26);
        return 1;
    }
    int left = deep(n - 1);
    T(27);
    return n % 3 == 0 ? left + deep(n - 2) : left;
}

static NOINLINE int threaded(const unsigned char *code) {
    static void *const ways[] = {&&add, &&twice, &&again, &&end};
    int value = 1, rounds = 0;
    goto *ways[*code++];
add:
    T(28);
    value += 3;
    goto *ways[*code++];
twice:
    T(29);
    value *= 2;
    goto *ways[*code++];
again:
    T(30);
    if (++rounds < 3)
        code -= 2;
    goto *ways[*code++];
end:
    T(31);
    return value;
}

static NOINLINE int last(int n) {
    T(32);
    if (n & 1) {
        T(33);
        return call_path((unsigned)n);
    }
    T(34);
    return iterations((const int[]){n, n, n}, 3);
}

static NOINLINE int returned(int times) {
    jmp_buf place;
    volatile int seen = 0;
    T(35);
    if (setjmp(place)) {
        T(36);
        seen++;
    }
    T(37);
    if (seen < times) {
        T(38);
        sink = seen;
        if (times == 9)
            longjmp(place, 1);
    }
    T(39);
    return seen;
}

int everything(void);

int everything(void) {
    static const int numbers[] = {3, 1, 4, 1, 7, 9, 2, 6};
    static const unsigned char code[] = {0, 1, 2, 0, 3};
    int sum = 0;
    for (int what = 0; what < 8; what++)
        sum += choose(what, sum);
    T(40);
    for (int length = 0; length <= 8; length += 4)
        sum += iterations(numbers, length);
    sum += nested(3, 5) + nested(5, 3);
    T(41);
    for (unsigned bits = 0; bits < 32; bits += 3)
        sum += call_path(bits);
    sum += deep(4) + threaded(code) + last(2) + last(3) + returned(2);
    T(42);
    return sum;
}
