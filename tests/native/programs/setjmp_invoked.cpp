/* setjmp in a scope with a destructor, declared as a function that may throw: the compiler invokes it. */
#include <stdio.h>

extern "C" {
typedef long env[32];
__attribute__((returns_twice)) int _setjmp(env *);
void longjmp(env *, int) __attribute__((noreturn));
}

static volatile int sink;
static env back;

struct Left {
    int k;
    explicit Left(int k) : k(k) {}
    ~Left() { sink = sink + k; }
};

extern "C" __attribute__((noinline)) void jump(int i) {
    if (i % 3 == 1)
        longjmp(&back, i);
    sink = sink + 1;
}

__attribute__((noinline)) static int iterations(int n) {
    volatile int s = 0;
    for (volatile int i = 0; i < n; i = i + 1) {
        Left left(i);
        if (i & 1)
            s = s + 1;
        if (_setjmp(&back) == 0) {
            jump(i);
            s = s + 2;
        } else {
            s = s + 5;
        }
    }
    return s;
}

int main() {
    printf("%d\n", iterations(40));
    return 0;
}
