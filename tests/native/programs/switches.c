#include <setjmp.h>
enum op { ADD, DUP, SWAP, HALT };
static long stack[8] = {1, 2};
static int step(enum op o, int *sp)
{
    switch (o) {
    case ADD:
        stack[*sp - 2] += stack[*sp - 1];
        --*sp;
        break;
    case DUP:
        stack[*sp] = stack[*sp - 1];
        ++*sp;
        /* fall through */
    case SWAP: {
        long t = stack[*sp - 1];
        stack[*sp - 1] = stack[*sp - 2];
        stack[*sp - 2] = t;
        break;
    }
    case HALT:
    default:
        return 0;
    }
    return 1;
}
static int grade(int p)
{
    switch (p) {
    case 0 ... 49:
        return 'F';
    case 50 ... 69: return 'C';
    case 70 ... 89:
    case 100:
        return 'B';
    default:
        return 'A';
    }
}
static int find(const char *s, char c)
{
    int n = 0;
    while (*s && *s != c)
        s++, n++;
    return n;
}
int main(void)
{
    int sp = 2, n = 0;
    for (int i = 0; i < 100; i += 10)
        n += grade(i);
    n += step(DUP, &sp) + step(ADD, &sp) + step(HALT, &sp);
    return find("", 'x') + find("abc", 'b') == n;
}
