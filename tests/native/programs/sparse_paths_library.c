/* A shared library with sparse paths. */
#include "unit.h"

UNIT(LETTER, 1);

void note_values(uint64_t key, uint64_t values) {
    STEP(0);
    for (uint64_t i = 0; i < values; i++)
        __trodden_note(&unit, key, i, 2);
}
