/* Conditions of several tests.  Each part that a report may name is marked by P: the test strips these marks,
 * or replaces them by counters. */
#include <stdio.h>
#include <stdlib.h>

volatile int sink;
static int cells[16] = {3, 0, 5, 1, 0, 7, 2, 0, 9, 4, 0, 1, 6, 0, 8, 2};
__attribute__((noinline)) static void put(int x) { sink += x; }
__attribute__((noinline)) static int odd(int x) { return x & 1; }
__attribute__((noinline)) static int third(int x) { return x % 3; }
static int small(int x) { return x < 4; }
static int usable(int x, const int *p) {
    if (x < 3)
        return 0;
    return *p > 1;
}
#define LIMIT 6
#define IN_RANGE(x) ((x) > 1 && (x) < LIMIT)
#define same(x, y) ((x) == (y))

__attribute__((noinline)) static int conjunctions(int x, int y) {
    int s = 0;
    if (P(P(x > 2) && P(odd(y))))
        put(1);
    if (P(P(x != y) && P(P(odd(x)) && P(third(y)))))
        s += 2;
    else
        put(3);
    if (P(P(x < LIMIT)
            && P(P(cells[y & 15])
            && P(third(x) == 1))))
        put(4);
    if (P(P(odd(x)) && P(P(IN_RANGE(y)) && P(y)))) put(5);
    if (P(P(y > 1) && P(usable(x, &cells[y & 15]))))
        put(6);
    if (P(P(small(x)) && P(odd(x + y))))
        return s;
    if (P(P(same(x, y)) && P(third(x)))) {
        if (P(y & 2))
            put(7);
    }
    return s + 1;
}

__attribute__((noinline)) static int disjunctions(int x, int y) {
    int s = 0;
    if (P(P(x == 1) || P(odd(y))))
        put(1);
    if (P(P(x == 2) || P(P(x == 4) || P(x == 6))))
        put(2);
    else if (P(P(!odd(x)) || P(third(y) > 1)))
        s++;
    if (P(P(P(x > 3) || P(odd(y))) && P(P(third(x)) || P(cells[y & 15] == 0))))
        put(3);
    if (P(P(P(x > 1) && P(odd(y))) || P(third(x + y))))
        goto out;
    if (!P(P(odd(x)) && P(y > 4)))
        s += 2;
    if (!P(P(x == y) || P(!third(y))))
        put(s);
    if (P(P(odd(x)) ? P(third(y)) : P(cells[x & 15] > 2)))
        put(4);
out:
    return s;
}

__attribute__((noinline)) static int loops(int x, int y) {
    int s = 0, n = x;
    while (P(P(n > 0) && P(third(n + y))))
        n--;
    for (int i = 0; P(P(i < y) && P(P(odd(i)) || P(i < 3))); i++) {
        if (P(P(i > 4) || P(odd(s))))
            continue;
        s += i;
    }
    do {
        s++;
        if (P(P(s > 40) && P(odd(x))))
            break;
        put(s);
    } while (P(P(s % 4) && P(P(odd(s)) || P(x > 2))));
    while (P(P(n < 5) && P(odd(y)))) n += 2;
    for (int i = 0; P(P(cells[i & 15]) || P(i < 2)); i++)
        sink++;
    return s;
}

__attribute__((noinline)) static int choices(int x, int y) {
    int s = P(x > 3) ? third(y) : odd(x);
    s += P(P(odd(x)) && P(y > 2)) ? third(x) : 7;
    s += P(third(x + y) == 1)
        ? odd(s)
        : third(s);
    s += P(!odd(y)) ? s : third(y);
    return s;
}

int main(void) {
    for (int i = 0; i < 900; i++) {
        int x = i % 9, y = i * 7 % 11;
        put(conjunctions(x, y) + disjunctions(x, y) + loops(x, y) + choices(x, y));
    }
    return 0;
}
