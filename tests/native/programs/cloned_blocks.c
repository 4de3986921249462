/* Functions of many shapes whose blocks are cloned; it prints what they return. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct pair {
    int64_t first;
    double second;
};
struct node {
    struct node *next;
    int key;
    struct pair both;
};

static unsigned seed = 12345;
static unsigned any(void) { return seed = seed * 1103515245u + 12345u, seed >> 16; }

__attribute__((noinline)) int collatz(unsigned n) {
    int steps = 0;
    while (n != 1) {
        n = n % 2 ? 3 * n + 1 : n / 2;
        steps++;
        if (steps > 1000)
            return -1;
    }
    return steps;
}

__attribute__((noinline)) int machine(const char *text) {
    int state = 0, words = 0, digits = 0, depth = 0;
    for (; *text; text++) {
        switch (*text) {
        case ' ':
        case '\n':
            words += state == 1;
            state = 0;
            break;
        case '0':
        case '1':
        case '2':
        case '7':
            digits++;
            /* fall through */
        case '-':
            state = state == 1 ? 1 : 2;
            break;
        case '(':
            depth++;
            continue;
        case ')':
            if (--depth < 0)
                return -words;
            break;
        default:
            state = 1;
        }
    }
    return words * 100 + digits * 10 + depth;
}

__attribute__((noinline)) double polynomial(const double *of, int count, double x) {
    double sum = 0, power = 1;
    for (int i = 0; i < count; i++) {
        if (of[i] < 0 && x > 1)
            power = -power;
        sum += of[i] * power;
        power *= x;
        if (sum > 1e6)
            break;
    }
    return sum;
}

__attribute__((noinline)) struct pair best(const struct node *list) {
    struct pair found = {-1, 0.5};
    for (; list; list = list->next) {
        if (list->key % 3 == 0)
            continue;
        if (list->both.first > found.first || list->key == 7)
            found = list->both;
        else
            found.second += list->key;
    }
    return found;
}

__attribute__((noinline)) void add(float *to, const float *from, int count, float by) {
    for (int i = 0; i < count; i++)
        to[i] = from[i] > 0 ? to[i] + from[i] * by : to[i] - 1;
}

__attribute__((noinline)) int sum_bytes(const uint8_t *from, int count) {
    int sum = 0;
    for (int i = 0; i < count; i++)
        sum += from[i] ^ 5;
    return sum;
}

__attribute__((noinline)) int entangled(int a, int b) {
    int turns = 0;
    if (a > b)
        goto right;
left:
    a += 3;
    turns++;
    if (turns > 40)
        return a * 1000 + b;
    if (a % 5 == 0)
        goto left;
right:
    b += 2;
    turns += 2;
    if (b % 7 == 3)
        goto right;
    if (a + b < 90)
        goto left;
    return a - b + turns;
}

__attribute__((noinline)) int64_t product(const int *of, int count, int *wrong) {
    int result = 1;
    *wrong = 0;
    for (int i = 0; i < count; i++) {
        int next;
        if (__builtin_mul_overflow(result, of[i], &next)) {
            ++*wrong;
            result = i + 1;
        } else {
            result = next;
        }
    }
    return result;
}

__attribute__((noinline)) int nested(int n, int (*matrix)[8]) {
    int hits = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 8; j++) {
            if (matrix[i][j] == 13)
                goto out;
            for (int k = j; k < 8; k += 2) {
                if (matrix[i][k] > matrix[i][j] && k != i)
                    hits += k;
                else if (matrix[i][k] < 0)
                    break;
            }
        }
out:
    return hits;
}

__attribute__((noinline)) int claim(_Atomic int *cell, int limit) {
    int seen = atomic_load(cell), tries = 0;
    while (seen < limit) {
        tries++;
        if (atomic_compare_exchange_weak(cell, &seen, seen + 3))
            seen = seen % 4 ? atomic_fetch_add(cell, 1) : seen + 3;
    }
    return tries * 1000 + seen;
}

__attribute__((noinline)) const char *word(unsigned n, char *into) {
    static const char *const small[] = {"none", "one", "two", "three"};
    char *end = into;
    if (n < 4)
        return small[n];
    do {
        if (n % 10 == 5)
            *end++ = '"';
        *end++ = "0123456789"[n % 10];
    } while (n /= 10);
    *end = 0;
    for (char *start = into; start < --end; start++) {
        char other = *start;
        *start = *end, *end = other;
    }
    return into;
}

__attribute__((noinline)) int deep(int n, int (*of)(unsigned)) {
    if (n <= 0)
        return of ? of(27) : 1;
    return (n & 1 ? deep(n - 1, of) : deep(n / 2, n % 8 ? of : 0)) + n % 3;
}

int main(void) {
    char text[64];
    double of[6] = {1, -2, 0.5, 3, -1, 0.25};
    struct node nodes[12];
    float to[37], from[37];
    uint8_t bytes[100];
    int numbers[20], matrix[8][8], wrong;
    _Atomic int cell = 0;
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 12; i++)
            nodes[i] = (struct node){i ? &nodes[i - 1] : 0, any() % 10, {any() % 50, any() % 7}};
        for (int i = 0; i < 37; i++)
            to[i] = any() % 100, from[i] = (float)(any() % 100) - 50;
        for (int i = 0; i < 100; i++)
            bytes[i] = any();
        for (int i = 0; i < 20; i++)
            numbers[i] = any() % 30 + 1;
        for (int i = 0; i < 64; i++)
            matrix[i / 8][i % 8] = (int)(any() % 60) - 5;
        struct pair found = best(nodes + 11);
        add(to, from, 37, 0.5f);
        float total = 0;
        for (int i = 0; i < 37; i++)
            total = total * 0.9f + to[i];
        printf("%d %d %d\n", collatz(any() % 999 + 1), machine("a (12) - x7 0 (b\n) ) c"), machine("one two (3 -1 \n"));
        printf("%.6f %.6f\n", polynomial(of, 6, round * 0.7), polynomial(of, 3 + round % 3, 1000));
        printf("%lld %.3f %.4f %d\n", (long long)found.first, found.second, total, sum_bytes(bytes, 90 + round));
        printf("%d %d ", entangled(any() % 20, any() % 20), nested(8, matrix));
        printf("%lld ", (long long)product(numbers, 20, &wrong));
        printf("%d %d %s %s %d\n", wrong, claim(&cell, 40 * (round + 1)), word(any() * 5, text), word(round, text + 32), deep(100 + any() % 99, collatz));
    }
    return 0;
}
