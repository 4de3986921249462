/* What jump_host.c calls. */
#define BOOK 1
#include "books.h"
#include <setjmp.h>

int call_back(int (*function)(int), int value);
void jump_from(struct __jmp_buf_tag *place, int value);

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

void jump_from(struct __jmp_buf_tag *place, int value) {
    HIT();
    if (value)
        jump_from(place, value - 1);
    else
        longjmp(place, 1);
    if (sink != -77)
        HIT();
}
