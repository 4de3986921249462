"""How tuples of successive paths are numbered (:mod:`trodden.plan.overlapping.pairs`).

A tuple is a number with a digit for each path, the last path in the lowest digit: the number of the path plus
one, and 0 where there is no path.  The digits before the last one are what the register ``before`` holds.
"""

from __future__ import annotations

from trodden.plan.probes import Plan

FLAG = 1 << 63
"""In sparse path tables the numbers from here on are those of tuples."""

MOST_BEFORE = 1 << 32
"""``before`` stays below: a frame keeps it in half a word."""

MOST_NUMBERS = (1 << 31) - 1
"""How many numbers of paths there may be: a frame keeps two registers in one word."""

DENSE = 1 << 16
"""The largest table with a counter for every tuple."""


def radix(plan: Plan) -> int:
    """How many values a digit has."""
    return plan.numbers + 1


def most_paths(length: int) -> int:
    """The most numbers of paths with which tuples of a length can be counted."""
    low, high = 1, MOST_NUMBERS
    while low < high:
        middle = (low + high + 1) // 2
        fits = (middle + 1) ** (length - 1) < MOST_BEFORE and (middle + 1) ** length < FLAG
        low, high = (middle, high) if fits else (low, middle - 1)
    return low


def following(plan: Plan, before: int, path: int) -> int:
    """What ``before`` is behind a path."""
    assert plan.tuples is not None
    base = radix(plan)
    most: int = base ** (plan.tuples.length - 1)
    return (before * base + path + 1) % most


def paths_of(plan: Plan, number: int) -> tuple[int, ...] | None:
    """The numbers of the paths of a tuple, or of ``before``; ``None`` if there is no such tuple."""
    base = radix(plan)
    found: list[int] = []
    while number:
        number, digit = divmod(number, base)
        if digit == 0:
            return None
        found.append(digit - 1)
    return tuple(reversed(found))
