/* A shared library with a unit of its own. */
#include "unit.h"

UNIT(LETTER, 3);

void visit(int times) {
    for (int i = 0; i < times; i++)
        STEP(0);
}

__attribute__((constructor)) static void loaded(void) { STEP(1); }

__attribute__((destructor)) static void unloaded(void) { STEP(2); }
