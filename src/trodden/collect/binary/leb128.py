"""Whole numbers as DWARF writes them."""

from __future__ import annotations

_LONGEST = 140
"""How many bits a number may have: twice a word, for padding is allowed."""


def uint(data: bytes, position: int, size: int) -> int:
    """An unsigned number of ``size`` bytes."""
    return int.from_bytes(data[position : position + size], "little")


def uleb(data: bytes, position: int) -> tuple[int, int]:
    """An unsigned number of any length, and the position behind it."""
    value, _, position = _groups(data, position)
    return value, position


def sleb(data: bytes, position: int) -> tuple[int, int]:
    """A signed number of any length, and the position behind it."""
    value, bits, position = _groups(data, position)
    return (value - (1 << bits) if value >> (bits - 1) else value), position


def _groups(data: bytes, position: int) -> tuple[int, int, int]:
    """What groups of seven bits hold, how many bits these are, and the position behind them."""
    value = bits = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << bits
        bits += 7
        if bits > _LONGEST:
            raise ValueError("a number is too long")
        if byte < 0x80:
            return value, bits, position
