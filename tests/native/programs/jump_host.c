/* A program that is jumped into from a library, and a library's function that is jumped over. */
#define BOOK 0
#define BOOKKEEPER
#include "books.h"
#include <setjmp.h>

int call_back(int (*function)(int), int value);
void jump_from(struct __jmp_buf_tag *place, int value);

static jmp_buf place;
static volatile int sink;

static int jump(int value) {
    HIT();
    if (value % 2) {
        HIT();
        longjmp(place, value);
    }
    return value;
}

int main(void) {
    for (volatile int i = 0; i < 10; i++) {
        HIT();
        if (setjmp(place) == 0) {
            HIT();
            sink = call_back(jump, i);
        } else {
            HIT();
            sink++;
        }
    }
    if (setjmp(place) == 0) {
        HIT();
        jump_from(place, 3);
    }
    HIT();
    return 8;
}
