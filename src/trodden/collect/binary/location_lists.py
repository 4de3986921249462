"""Location lists: the expressions that locate a variable, by address range (DWARF 4 and 5, §2.6.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from trodden.collect.binary.dwarf_constants import LocationListEntry
from trodden.collect.binary.leb128 import uint, uleb

_ADDRESS_SIZE = 8
_BASE_SELECTION = (1 << 8 * _ADDRESS_SIZE) - 1


class UnsupportedDwarf(Exception):
    """Debug information of a kind that this reader does not know."""


class LocationRange(NamedTuple):
    """An expression, and the addresses for which it locates the variable."""

    low: int
    high: int
    expression: bytes


def location_list(
    data: bytes, offset: int, base: int, address_of: Callable[[int], int]
) -> Iterator[LocationRange]:
    """The list at an offset of ``.debug_loclists``; ``address_of`` finds an address by its index."""
    end_of_list, offset_pair = int(LocationListEntry.END_OF_LIST), int(LocationListEntry.OFFSET_PAIR)
    while (kind := data[offset]) != end_of_list:
        offset += 1
        low = high = 0
        if kind == offset_pair:
            first, offset = uleb(data, offset)
            second, offset = uleb(data, offset)
            size, offset = uleb(data, offset)
            yield LocationRange(base + first, base + second, data[offset : offset + size])
            offset += size
            continue
        if kind == LocationListEntry.BASE_ADDRESSX:
            index, offset = uleb(data, offset)
            base = address_of(index)
            continue
        if kind == LocationListEntry.BASE_ADDRESS:
            base = uint(data, offset, _ADDRESS_SIZE)
            offset += _ADDRESS_SIZE
            continue
        if kind in (LocationListEntry.STARTX_ENDX, LocationListEntry.STARTX_LENGTH):
            first, offset = uleb(data, offset)
            second, offset = uleb(data, offset)
            low = address_of(first)
            high = address_of(second) if kind == LocationListEntry.STARTX_ENDX else low + second
        elif kind == LocationListEntry.START_END:
            low, high = uint(data, offset, _ADDRESS_SIZE), uint(data, offset + _ADDRESS_SIZE, _ADDRESS_SIZE)
            offset += 2 * _ADDRESS_SIZE
        elif kind == LocationListEntry.START_LENGTH:
            low = uint(data, offset, _ADDRESS_SIZE)
            length, offset = uleb(data, offset + _ADDRESS_SIZE)
            high = low + length
        elif kind != LocationListEntry.DEFAULT_LOCATION:
            raise UnsupportedDwarf(f"location list entry {kind}")
        size, offset = uleb(data, offset)
        yield LocationRange(low, high, data[offset : offset + size])
        offset += size


def location_list_of_dwarf4(data: bytes, offset: int, base: int) -> Iterator[LocationRange]:
    """The list at an offset of ``.debug_loc``."""
    while True:
        low, high = uint(data, offset, _ADDRESS_SIZE), uint(data, offset + _ADDRESS_SIZE, _ADDRESS_SIZE)
        offset += 2 * _ADDRESS_SIZE
        if low == high == 0:
            return
        if low == _BASE_SELECTION:
            base = high
            continue
        size = uint(data, offset, 2)
        offset += 2
        yield LocationRange(base + low, base + high, data[offset : offset + size])
        offset += size
