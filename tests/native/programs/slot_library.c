/* A shared library whose function has a path-register slot. */
#include "register_slots.h"
#include "unit.h"

UNIT(LETTER, 1);

long through(void (*callback)(void *back), long value) {
    volatile long slot;
    SLOT(slot);
    STEP(0);
    slot = value;
    callback(__builtin_return_address(0));
    return slot;
}
