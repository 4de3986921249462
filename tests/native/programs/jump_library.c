/* What jump_host.c calls. */
#define FILE_NUMBER 1
#include "reference_counts.h"
#include <setjmp.h>

int call_back(int (*function)(int), int value);
void jump_from(struct __jmp_buf_tag *env, int value);

static volatile int sink;

int call_back(int (*function)(int), int value) {
    HIT();
    sink = function(value);
    if (sink % 4 == 0) {
        HIT();
        return sink + 1;
    }
    return sink;
}

void jump_from(struct __jmp_buf_tag *env, int value) {
    HIT();
    if (value)
        jump_from(env, value - 1);
    else
        longjmp(env, 1);
    if (sink != -77)
        HIT();
}
