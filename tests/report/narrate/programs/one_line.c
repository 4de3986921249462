#include <assert.h>
#include <stdio.h>
#define CHECK(value, low, high)                     \
    do {                                            \
        if ((value) < (low) || (value) > (high))    \
            bad++;                                  \
        if (!(value))                               \
            zero++;                                 \
    } while (0)
#define EACH(i, n) for (int i = 0; i < (n); i++)
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define FAIL_UNLESS(condition) if (!(condition)) bad++
static int bad, zero, n, most;
static int g(int x) { return x; }
int main(void)
{
    EACH(i, 20) {
        int v = i - 5;
        CHECK(v, 0, 9);
        most = LARGER(most, v ^ 5);
        if (i < 3) n++; else if (i == 7) n--;
        n += i > 10 ? g(1) : i > 5 ? g(2) : g(3);
        while (n > 40) n -= 7; if (!g(i % 4)) zero++;
        FAIL_UNLESS(i < 12 && i != 4);
        assert(i >= 0 && n < 1000);
    }
    printf("%d %d %d %d\n", bad, zero, n, most);
    return 0;
}
