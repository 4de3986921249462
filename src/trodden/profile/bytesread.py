"""Whole numbers as DWARF writes them."""

from __future__ import annotations

_LONGEST = 140
"""How many bits a number may have: twice a word, for padding is allowed."""


def uint(data: bytes, position: int, size: int) -> int:
    """An unsigned number of ``size`` bytes."""
    return int.from_bytes(data[position : position + size], "little")


def uleb(data: bytes, position: int) -> tuple[int, int]:
    """An unsigned number of any length, and the position behind it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if shift > _LONGEST:
            raise ValueError("a number is too long")
        if byte < 0x80:
            return value, position


def sleb(data: bytes, position: int) -> tuple[int, int]:
    """A signed number of any length, and the position behind it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if shift > _LONGEST:
            raise ValueError("a number is too long")
        if byte < 0x80:
            return (value - (1 << shift) if byte & 0x40 else value), position
