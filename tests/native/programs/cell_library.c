/* A shared library whose function has a cell. */
#include "cells.h"
#include "unit.h"

UNIT(LETTER, 1);

long through(void (*callback)(void *back), long value) {
    volatile long cell;
    CELL(cell);
    STEP(0);
    cell = value;
    callback(__builtin_return_address(0));
    return cell;
}
