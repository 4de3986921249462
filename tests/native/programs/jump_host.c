/* A program that a library jumps into, and a function of a library that is jumped over. */
#define FILE_NUMBER 0
#define COUNTS_OWNER
#include "reference_counts.h"
#include <setjmp.h>

int call_back(int (*function)(int), int value);
void jump_from(struct __jmp_buf_tag *env, int value);

static jmp_buf env;
static volatile int sink;

static int jump(int value) {
    HIT();
    if (value % 2) {
        HIT();
        longjmp(env, value);
    }
    return value;
}

int main(void) {
    for (volatile int i = 0; i < 10; i++) {
        HIT();
        if (setjmp(env) == 0) {
            HIT();
            sink = call_back(jump, i);
        } else {
            HIT();
            sink++;
        }
    }
    if (setjmp(env) == 0) {
        HIT();
        jump_from(env, 3);
    }
    HIT();
    return 8;
}
