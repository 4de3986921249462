/* A computed goto to the block that also follows a call in tail position: the block must stay empty, so that
 * paths end on an edge that cannot be split. */
static volatile int sum;

__attribute__((noinline)) static int add(int x) { return sum += x; }

__attribute__((noinline)) static int turn(int x, int y) {
    static const void *const table[] = {&&leave, &&go_on};
    int r = 0;
    if (x & 1)
        r += add(0);
    if (x & 2)
        r += add(1);
    if (x & 4)
        r += add(2);
    if (x & 8)
        r += add(3);
    goto *table[y & 1];
go_on:
    if (y & 4)
        return add(2);
leave:
    return r;
}

int main(void) {
    int q = 0;
    for (int i = 0; i < 500; i++)
        q += turn(i * 37, i);
    return q & 7;
}
