"""The keys of sparse path tables, which instrumented code passes to the runtime and raw files contain.

A key is the index of a function in its unit.  Where paths are timed, a second key for the same function, with
the highest bit set, is that of the cycles spent on its paths.
"""

from __future__ import annotations

_CYCLES = 1 << 63


def cycles_key(function: int) -> int:
    """The key under which the cycles of a function's paths are added up."""
    return function | _CYCLES


def function_of_key(key: int) -> tuple[int, bool]:
    """The function of a key, and whether its amounts are cycles and not executions."""
    return key & ~_CYCLES, bool(key & _CYCLES)
