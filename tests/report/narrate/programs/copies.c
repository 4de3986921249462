/* Branches of which an optimised program has several copies, and tests that share their line with other code. */
#include <stdio.h>
#include <stdlib.h>

static void check(int x)
{
    if (x < 0)
        puts("negative");
}

__attribute__((noinline)) void three(const int *v)
{
    for (int i = 0; i < 3; i++)
        if (v[i] > 100)
            puts("large");
}

__attribute__((noinline)) void nested(int a, int flag, int b)
{
    if (a >= 0 == flag)
        if (b > 3)
            puts("both");
}

__attribute__((noinline)) int one_line(int w, int k)
{
    if (k-- <= 0) goto out;
    if (!k) return 2;
    for (int i = 0; i < k; i++)
        w += i % 2 ? 3 : w;
out:
    return w > 50 ? 50 : w;
}

#define FOREACH(i, n) for (int i = 0; i < (n); i++)

__attribute__((noinline)) int in_macro(int k)
{
    FOREACH(i, 3) if (i == k) k += 2;
    return k;
}

int main(int argc, char **argv)
{
    int v[3] = {atoi(argv[1]), atoi(argv[2]), argc};
    check(v[0]);
    check(v[1]);
    three(v);
    for (int i = 0; i < 4; i++)
        nested(i - 2, i & 1, 1);
    return one_line(v[2], 0) + one_line(1, 1) + one_line(70, 3) + in_macro(argc) < 0;
}
