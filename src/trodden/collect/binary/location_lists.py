"""Location lists: for which addresses an expression tells where a variable is (DWARF 4 and 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from trodden.collect.binary.leb128 import uint, uleb


class Unreadable(Exception):
    """Debug information of a kind that this reader does not know."""


class Range(NamedTuple):
    """An expression, and the addresses for which it says where a variable is."""

    low: int
    high: int
    expression: bytes


def location_list(data: bytes, position: int, base: int, indexed: Callable[[int], int]) -> Iterator[Range]:
    """The list at a position of ``.debug_loclists``; ``indexed`` finds an address by its number."""
    while (kind := data[position]) != 0:
        position += 1
        if kind in (1, 6):
            if kind == 1:
                index, position = uleb(data, position)
                base = indexed(index)
            else:
                base = uint(data, position, 8)
                position += 8
            continue
        low = high = 0
        if kind in (2, 3, 4):
            first, position = uleb(data, position)
            second, position = uleb(data, position)
            low = base + first if kind == 4 else indexed(first)
            high = (base if kind == 4 else low) + second if kind != 2 else indexed(second)
        elif kind in (7, 8):
            low = uint(data, position, 8)
            position += 8
            if kind == 7:
                high = uint(data, position, 8)
                position += 8
            else:
                second, position = uleb(data, position)
                high = low + second
        elif kind != 5:
            raise Unreadable(f"location list entry {kind}")
        size, position = uleb(data, position)
        yield Range(low, high, data[position : position + size])
        position += size


def old_location_list(data: bytes, position: int, base: int) -> Iterator[Range]:
    """The list at a position of ``.debug_loc``."""
    while True:
        low, high = uint(data, position, 8), uint(data, position + 8, 8)
        position += 16
        if low == high == 0:
            return
        if low == (1 << 64) - 1:
            base = high
            continue
        size = uint(data, position, 2)
        position += 2
        yield Range(base + low, base + high, data[position : position + size])
        position += size
