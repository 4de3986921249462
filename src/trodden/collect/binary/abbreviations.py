"""Abbreviation tables: the tags and attributes of the entries of debug information (DWARF 5 §7.5.3)."""

from __future__ import annotations

from typing import NamedTuple

from trodden.collect.binary.dwarf_constants import Form
from trodden.collect.binary.leb128 import sleb, uleb

FIXED_SIZES: dict[int, int] = {
    Form.ADDR: 8,
    Form.DATA1: 1,
    Form.DATA2: 2,
    Form.DATA4: 4,
    Form.DATA8: 8,
    Form.DATA16: 16,
    Form.FLAG: 1,
    Form.FLAG_PRESENT: 0,
    Form.IMPLICIT_CONST: 0,
    Form.STRP: 4,
    Form.LINE_STRP: 4,
    Form.STRP_SUP: 4,
    Form.SEC_OFFSET: 4,
    Form.REF_ADDR: 4,
    Form.REF1: 1,
    Form.REF2: 2,
    Form.REF4: 4,
    Form.REF8: 8,
    Form.REF_SIG8: 8,
    Form.REF_SUP4: 4,
    Form.REF_SUP8: 8,
    Form.STRX1: 1,
    Form.STRX2: 2,
    Form.STRX3: 3,
    Form.STRX4: 4,
    Form.ADDRX1: 1,
    Form.ADDRX2: 2,
    Form.ADDRX3: 3,
    Form.ADDRX4: 4,
}
"""The sizes of values in 32-bit DWARF for 64-bit addresses, for forms whose values are all of one size."""


class AttributeSpec(NamedTuple):
    """An attribute and its form; ``constant`` is its value where the table itself contains it."""

    attribute: int
    form: int
    constant: int


class Abbreviation(NamedTuple):
    """The layout of an entry: its tag, whether it has children, its attributes, its size if that is fixed."""

    tag: int
    has_children: bool
    attributes: tuple[AttributeSpec, ...]
    size: int | None


def read_abbreviations(data: bytes, offset: int) -> dict[int, Abbreviation]:
    """The table at an offset of ``.debug_abbrev``, by code."""
    table: dict[int, Abbreviation] = {}
    while True:
        code, offset = uleb(data, offset)
        if code == 0:
            return table
        tag, offset = uleb(data, offset)
        has_children = bool(data[offset])
        offset += 1
        attributes: list[AttributeSpec] = []
        while True:
            attribute, offset = uleb(data, offset)
            form, offset = uleb(data, offset)
            constant = 0
            if form == Form.IMPLICIT_CONST:
                constant, offset = sleb(data, offset)
            if attribute == 0 and form == 0:
                break
            attributes.append(AttributeSpec(attribute, form, constant))
        sizes = [FIXED_SIZES.get(each.form) for each in attributes]
        size = None if None in sizes else sum(each for each in sizes if each is not None)
        table[code] = Abbreviation(tag, has_children, tuple(attributes), size)
