/* Conditions of many shapes.  Built with TRUTH it prints how often each held and did not, by line. */
#include <stdio.h>
#include <stdlib.h>

#ifdef TRUTH
static unsigned long held[1000][2];
static int truth(int line, int value) {
    held[line][value]++;
    return value;
}
#define C(x) truth(__LINE__, !!(x))
#else
#define C(x) (x)
#endif

volatile int sink;
static void put(int x) { sink += x; }

static int inlined(int x) {
    if (C(x % 3 == 0))
        return x + 1;
    return x;
}

static void only_if(int x, int y) {
    if (C(y > 2))
        put(x);
}

static int scan(const int *a, int n, int want) {
    int lo = 0, hi = n - 1;
    while (1) {
        while (1) {
            if (C(lo > hi)) break;
            if (C(a[lo] == want)) { put(lo); lo++; continue; }
            if (C(a[lo] > want)) break;
            lo++;
        }
        while (1) {
            if (C(lo > hi)) break;
            if (C(a[hi] < want)) break;
            hi--;
        }
        if (C(lo > hi)) break;
        lo++;
        hi--;
    }
    return lo;
}

static int classify(int op, int x, int n) {
    int sum = 0, late = 0;
    if (C(x < 0))
        return -1;
    if (C(op == 9)) goto out;
    for (int i = 0; C(i < n); i++) {
        if (C(x > 3 && i > 2)) {
            put(1);
        } else if (C(x == 1 || i == 1)) {
            put(2);
            continue;
        } else {
            sum++;
        }
        if (C(x & 1))
            if (C(i & 1))
                put(3);
        if (C(x > 2))
            only_if(i, x);
        if (C(i == 5 || x == 5))
            late = 1;
        if (C(x == 6 || i == 6))
            sum += x == 6 ? inlined(i) : 0;
        if (C(!(x && i)))
            late++;
        sum += inlined(i);
        while (C(sum > 40)) sum -= 7;
    }
    do {
        sum /= 2;
        if (C(!sum)) break;
        put(sum);
    } while (C(sum > 10));
out:
    if (C(late)) sum++;
    return sum ? sum : n;
}

int main(void) {
    int a[24];
    for (int i = 0; C(i < 24); i++)
        a[i] = (i * 37) % 23;
    for (int round = 0; C(round < 120); round++) {
        put(classify(round % 10, round % 8 - 1, round % 13));
        put(scan(a, 24, round % 23));
    }
#ifdef TRUTH
    for (int line = 0; line < 1000; line++)
        if (held[line][0] || held[line][1])
            printf("%d %lu %lu\n", line, held[line][1], held[line][0]);
#endif
    return 0;
}
