/* A shared library that records call paths. */
#include "call_path_probes.h"

UNIT(LETTER, 1);

void call_in_library(int times) {
    STEP(0);
    MAKE_KEYS();
    struct trodden_call_node *first = enter(1);
    for (int i = 0; i < times; i++)
        leave(enter(2));
    leave(first);
}
