"""What the entries of debug information look like: the tables of abbreviations."""

from __future__ import annotations

from typing import NamedTuple

from trodden.collect.binary.leb128 import sleb, uleb

IMPLICIT = 0x21
FIXED = {
    0x01: 8,
    0x05: 2,
    0x06: 4,
    0x07: 8,
    0x0B: 1,
    0x0C: 1,
    0x0E: 4,
    0x10: 4,
    0x11: 1,
    0x12: 2,
    0x13: 4,
    0x14: 8,
    0x17: 4,
    0x19: 0,
    0x1C: 4,
    0x1D: 4,
    0x1E: 16,
    0x1F: 4,
    0x20: 8,
    0x21: 0,
    0x24: 8,
    0x25: 1,
    0x26: 2,
    0x27: 3,
    0x28: 4,
    0x29: 1,
    0x2A: 2,
    0x2B: 3,
    0x2C: 4,
}
"""The size of what is written in a form, if it has always the same."""


class Form(NamedTuple):
    """An attribute and how it is written; ``constant`` is its value where that is part of the table."""

    attribute: int
    form: int
    constant: int


class Shape(NamedTuple):
    """What an entry looks like: its tag, whether it has children, its attributes, its size if it is fixed."""

    tag: int
    children: bool
    forms: tuple[Form, ...]
    size: int | None


def read_shapes(data: bytes, position: int) -> dict[int, Shape]:
    """The table at a position, by code."""
    found: dict[int, Shape] = {}
    while True:
        code, position = uleb(data, position)
        if code == 0:
            return found
        tag, position = uleb(data, position)
        children = bool(data[position])
        position += 1
        forms: list[Form] = []
        while True:
            attribute, position = uleb(data, position)
            form, position = uleb(data, position)
            constant = 0
            if form == IMPLICIT:
                constant, position = sleb(data, position)
            if attribute == 0 and form == 0:
                break
            forms.append(Form(attribute, form, constant))
        sizes = [FIXED.get(each.form) for each in forms]
        size = None if None in sizes else sum(each for each in sizes if each is not None)
        found[code] = Shape(tag, children, tuple(forms), size)
