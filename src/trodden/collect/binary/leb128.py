"""Integers as DWARF encodes them: of fixed size, and in LEB128 (DWARF 5 §7.6)."""

from __future__ import annotations

_MOST_BITS = 140
"""The limit of an encoded number: twice a word, since padding is allowed."""


def uint(data: bytes, offset: int, size: int) -> int:
    """An unsigned integer of ``size`` bytes."""
    return int.from_bytes(data[offset : offset + size], "little")


def uleb(data: bytes, offset: int) -> tuple[int, int]:
    """An unsigned LEB128 number, and the offset after it."""
    byte = data[offset]
    if byte < 0x80:
        return byte, offset + 1
    value, _, offset = _groups(data, offset)
    return value, offset


def sleb(data: bytes, offset: int) -> tuple[int, int]:
    """A signed LEB128 number, and the offset after it."""
    value, bits, offset = _groups(data, offset)
    return (value - (1 << bits) if value >> (bits - 1) else value), offset


def _groups(data: bytes, offset: int) -> tuple[int, int, int]:
    """The value of groups of seven bits, the number of these bits, and the offset after them."""
    value = bits = 0
    while True:
        byte = data[offset]
        offset += 1
        value |= (byte & 0x7F) << bits
        bits += 7
        if bits > _MOST_BITS:
            raise ValueError("a LEB128 number is too long")
        if byte < 0x80:
            return value, bits, offset
