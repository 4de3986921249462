"""What callgrind writes: the instructions of each function by itself, without those that it calls."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

_FUNCTION = "fn="
_CALL = "calls="
# Lines with costs begin with their place: a number, or how far it is from the one before.
_PLACE = frozenset("0123456789+-*")


def by_function(lines: Iterable[str]) -> Counter[str]:
    """Instructions by the names of functions, from a file in which names are written out."""
    found: Counter[str] = Counter()
    name, called = "", False
    for line in lines:
        if line.startswith(_FUNCTION):
            name = line[len(_FUNCTION) :].strip()
        elif line.startswith(_CALL):
            # The next line has the cost of what was called.
            called = True
        elif line[:1] in _PLACE and line.strip():
            if not called:
                found[name] += int(line.split()[1])
            called = False
    return found
