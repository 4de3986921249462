/* A hundred contexts that wait at the same call, each after another way to it; each goes on elsewhere, too, and some
 * have used memory in which another one was left before. */
#include <stdio.h>
#include <ucontext.h>

enum { CONTEXTS = 100 };

static ucontext_t back, contexts[CONTEXTS];
static char stacks[CONTEXTS][32768];
static int order[CONTEXTS], current, sum;

__attribute__((noinline)) static void pause_here(int number) {
    if (number % 3 == 0)
        sum += 2;
    swapcontext(&contexts[number], &back);
    if (number % 5 == 0)
        sum += 5;
}

__attribute__((noinline)) static int walk(int number) {
    int found = 0;
    if (number & 1)
        found += 1;
    if (number & 2)
        found += 2;
    if (number & 4)
        found += 4;
    if (number & 8)
        found += 8;
    pause_here(number);
    if (number & 16)
        found += 16;
    pause_here(number);
    if (number & 32)
        found += 32;
    return found;
}

static void run(void) {
    int number = current;
    sum += walk(number);
}

static void begin(int number) {
    getcontext(&contexts[number]);
    contexts[number].uc_stack.ss_sp = stacks[number];
    contexts[number].uc_stack.ss_size = sizeof stacks[number];
    contexts[number].uc_link = &back;
    makecontext(&contexts[number], run, 0);
}

static void go_on(int number) {
    current = number;
    swapcontext(&back, &contexts[number]);
}

int main(void) {
    for (int i = 0; i < CONTEXTS; i++)
        order[i] = (i * 37 + 11) % CONTEXTS;
    for (int i = 0; i < CONTEXTS; i++) {
        begin(i);
        go_on(i);
    }
    for (int i = 0; i < CONTEXTS; i++)
        go_on(order[i]);
    for (int i = 0; i < CONTEXTS; i += 2)
        go_on(CONTEXTS - 1 - i);
    /* What was left on these stacks never goes on. */
    for (int i = 0; i < CONTEXTS; i += 4) {
        begin(i);
        go_on(i);
        go_on(i);
    }
    printf("%d\n", sum);
    return 0;
}
