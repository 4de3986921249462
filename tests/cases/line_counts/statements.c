#include <stdlib.h>
static int id(int x) { return x; }
static int sum3(int a, int b, int c) { return a + b + c; }
#define TWICE(x) do { id(x); id(x); } while (0)
#define CHECK(x) do { if (!(x)) n++; } while (0)
#define MAX(a, b) ((a) > (b) ? (a) : (b))
static void nothing(int x)
{
    if (x)
        return;
    id(x);
}
static int early(int x)
{
    if (x > 3)
        return 1;
    else if (x > 2)
        return 2;
    return 3;
}
static int emptyelse(int x)
{
    if (x > 3) {
    } else if (x > 2) {
        id(x);
    } else {
        id(1);
    }
    return x;
}
int main(int argc, char **argv)
{
    int n = 0, i = 0, k = 3;
    for (i = 0; i < 6; i++) {
        nothing(i);
        n += early(i);
        emptyelse(i);
        n = sum3(n,
                 i > 2 ? id(1) : id(2),
                 id(3));
        n += id(i)
            + (i & 1 ? 4 : 5)
            + id(2);
        if (id(i) &&
            id(n) &&
            (i > 1 ||
             i > 2))
            n++;
        else
            n--;
        TWICE(i);
        CHECK(i);
        CHECK(i > 3 &&
              n);
        n = MAX(i,
                n);
        n += MAX(i, 2);
        while (k-- > 0 &&
               n)
            id(k);
        do
            id(1);
        while (k-- > 0);
        do { id(1); k++; } while (k < 3);
        while (
            k > 1
        ) {
            k--;
        }
        int t = i > 2 ? 1
              : i > 1 ? 2
              : 3;
        n += t;
        int arr[] = {
            id(1),
            i ? id(2) : id(3),
            id(4),
        };
        n += arr[0];
        switch (i) {
        case 0: id(0); break; case 1: break;
        case 2:
        case 3:
            id(3);
            break;
        case 4: id(4);
        default: id(5);
        }
        if (i == 2) { id(1); continue; }
        if (i == 3) goto next;
        id(7);
    next:
        id(8);
        { id(9); }
        if (i) { id(1); } else { id(2); }
        if (i) { id(1);
        } else { id(2); }
        for (int j = 0, m = 0; j < 2; j++, m--) { id(j); }
        for (int j = 0; j < 2; j++)
            for (int q = 0; q < 2; q++)
                id(q);
        for (;;) { if (k++ > 3) break; }
        while (1) {
            if (k-- < 2)
                break;
        }
        if (i)
            ;
        else
            id(2);
        n = i ? id(1) : 0, id(3);
        (void)(i && id(2));
        i > 3 ? (void)id(1)
              : (void)id(2);
    }
    if (n) {
        if (i)
            n = 1;
        else
            n = 2;
    }
    while (n < 5) n++;
    while (n < 9)
        n++;
    return 0;
}
