/* A context that is suspended when the process ends, after its function has taken one of several paths. */
#include <stdio.h>
#include <ucontext.h>

static ucontext_t back, there;
static char stack[65536];
static int count;

__attribute__((noinline)) static void step(int n) {
    if (n & 1)
        count++;
    else
        count += 2;
    swapcontext(&there, &back);
    if (n > 2)
        count++;
}

static void run(void) {
    for (int i = 0; i < 5; i++)
        step(i);
}

int main(void) {
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof stack;
    there.uc_link = &back;
    makecontext(&there, run, 0);
    for (int i = 0; i < 4; i++)
        swapcontext(&back, &there);
    printf("%d\n", count);
    return 0;
}
