#include <setjmp.h>

#include <stdlib.h>
static jmp_buf env;
static volatile int after_count;
static int middle(int i)
{
    if (i % 5 > 1)
        longjmp(env, 1);
    return i;
}
static void after(void)
{
    after_count++;
}
static int run(int i)
{
    int total = 0;
    total += middle(i);
    after();
    total++;
    return total;
}
int main(void)
{
    volatile int n = 0, k = 0;
    for (k = 0; k < 50; k++) {
        if (setjmp(env) == 0) {
            n += run(k);
            n++;
        } else
            n += 2;
    }
    n += after_count;
    if (n > 3)
        exit(0);
    return 0;
}
