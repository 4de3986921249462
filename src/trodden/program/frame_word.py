"""The two registers of a frame in one word: that of the path and that of the overlap.

Functions whose paths are extended (:mod:`trodden.plan.overlapping`) keep both while calls are active, for a
path that is cut short.  Their numbers are small enough that half a word identifies each: the lower half is
for the path register, the upper one for the register of the overlap, both modulo 2**32.
"""

from __future__ import annotations

HALF = 1 << 32
MOST_NUMBERS = (1 << 31) - 1
"""How many numbers such a function may have, fictitious ones included."""


def join(path: int, overlap: int) -> int:
    """Both registers in one word."""
    return path % HALF + (overlap % HALF) * HALF


def path_part(word: int) -> int:
    """The path register of a word."""
    return word % HALF


def overlap_part(word: int) -> int:
    """The register of the overlap of a word."""
    return word // HALF


def plus(word: int, other: int) -> int:
    """The sum of each half."""
    return join(word % HALF + other % HALF, word // HALF + other // HALF)


def minus(word: int, other: int) -> int:
    """The difference of each half."""
    return join(word % HALF - other % HALF, word // HALF - other // HALF)


def masked(word: int, halves: int) -> int:
    """The halves that are chosen by the bits of a number, the lower half by the lowest bit."""
    return (word % HALF if halves & 1 else 0) + (word // HALF * HALF if halves & 2 else 0)
