#define CROSSINGS_ELSEWHERE
#include "crossings.h"

SEEN static int inner(int value) {
    ENTER();
    int result = value > 2 ? value - 1 : value;
    LEAVE();
    return result;
}

SEEN int library_direct(int value) {
    ENTER();
    int result = 0;
    for (int i = 0; i < 4; i++)
        result += CALL(inner(value + i));
    LEAVE();
    return result;
}

SEEN int library_sum(int (*each)(int), int count) {
    ENTER();
    int result = 0;
    for (int i = 0; i < count; i++) {
        result += CALL(each(i));
        result += CALL(library_direct(i));
    }
    LEAVE();
    return result;
}
