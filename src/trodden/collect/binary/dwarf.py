"""The little of DWARF that positions need: artificial variables of functions, and a unit's line rows.

A general reader makes an object of every entry of the debug information, which takes many seconds for a
program that was built with ``-g``; this one steps over what it does not want.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from trodden.collect.binary.abbreviations import FIXED, Shape, read_shapes
from trodden.collect.binary.leb128 import sleb, uint, uleb
from trodden.collect.binary.location_lists import Range, Unreadable, location_list, old_location_list

_COMPILE = 1
_SUBPROGRAM, _VARIABLE, _UNIT = 0x2E, 0x34, 0x11
_LOCATION, _NAME, _STMT_LIST, _LOW, _HIGH = 0x02, 0x03, 0x10, 0x11, 0x12
_CONST, _ORIGIN, _DECL_LINE, _FRAME_BASE = 0x1C, 0x31, 0x3B, 0x40
_STR_BASE, _ADDR_BASE, _LISTS_BASE = 0x72, 0x73, 0x8C
_WANTED = frozenset(
    {_LOCATION, _NAME, _STMT_LIST, _LOW, _HIGH, _CONST, _ORIGIN, _DECL_LINE, _FRAME_BASE}
    | {_STR_BASE, _ADDR_BASE, _LISTS_BASE}
)
_VARIABLE_LENGTH = frozenset({0x0D, 0x0F, 0x15, 0x1A, 0x1B, 0x22, 0x23})
_BLOCKS = {0x03: 2, 0x04: 4, 0x0A: 1}
_STRX = frozenset({0x1A, 0x25, 0x26, 0x27, 0x28})
_ADDRX = frozenset({0x1B, 0x29, 0x2A, 0x2B, 0x2C})
_OURS = "__trodden_"


@dataclass
class Variable:
    """A variable of ours: its name, the line it claims to be on, and its value by address or once for all."""

    name: str
    line: int
    ranges: list[Range] = field(default_factory=list)
    constant: int | None = None
    everywhere: bytes | None = None

    def expression(self, pc: int) -> bytes | None:
        """What tells the value at an address."""
        if self.everywhere is not None:
            return self.everywhere
        return next((each.expression for each in self.ranges if each.low <= pc < each.high), None)


@dataclass
class Function:
    """A function with variables of ours; ``unit`` is what its line rows are found by."""

    low: int
    high: int
    frame_base: bytes
    unit: int
    variables: list[Variable] = field(default_factory=list)


class Row(NamedTuple):
    """From ``address`` on, instructions come from this line; ``end``: here a sequence ends."""

    address: int
    line: int
    discriminator: int
    end: bool = False


class Dwarf:
    """The debug information of a program, from its sections."""

    def __init__(self, sections: Mapping[str, bytes]) -> None:
        self._sections = sections
        self._shapes: dict[int, dict[int, Shape]] = {}

    def section(self, name: str) -> bytes:
        """A section's content; nothing if the program has none."""
        return self._sections.get(name, b"")

    def functions(self) -> Iterator[Function]:
        """All functions that have a variable of ours."""
        info = self.section(".debug_info")
        position = 0
        while position + 12 <= len(info):
            length = uint(info, position, 4)
            if length >= 0xFFFFFFF0:
                raise Unreadable("64-bit DWARF")
            end = position + 4 + length
            version = uint(info, position + 4, 2)
            if version == 5:
                kind, abbreviations, first = info[position + 6], uint(info, position + 8, 4), position + 12
            else:
                kind, abbreviations, first = _COMPILE, uint(info, position + 6, 4), position + 11
            if version in (4, 5) and kind == _COMPILE:
                yield from _Unit(self, position, first, end, version, self._table(abbreviations)).functions()
            position = end

    def _table(self, offset: int) -> dict[int, Shape]:
        if offset not in self._shapes:
            self._shapes[offset] = read_shapes(self.section(".debug_abbrev"), offset)
        return self._shapes[offset]


class _Unit:
    """One compile unit."""

    def __init__(
        self, dwarf: Dwarf, start: int, first: int, end: int, version: int, shapes: Mapping[int, Shape]
    ) -> None:
        self._dwarf = dwarf
        self._info = dwarf.section(".debug_info")
        self._start, self._first, self._end = start, first, end
        self._version = version
        self._shapes = shapes
        self._base = 0
        self._strings = self._addresses = self._lists = 8
        self._lines = -1
        self._named: dict[int, tuple[str, int]] = {}

    def functions(self) -> Iterator[Function]:
        """The functions with variables of ours, once all entries have been passed."""
        found: list[Function] = []
        waiting: list[tuple[Function, int, dict[int, Any]]] = []
        current: Function | None = None
        depth = 0
        level = 0
        position = self._first
        info, shapes = self._info, self._shapes
        while position < self._end:
            offset = position
            code = info[position]
            if code < 0x80:
                position += 1
            else:
                code, position = uleb(info, position)
            if code == 0:
                depth -= 1
                if current is not None and depth <= level:
                    current = None
                continue
            shape = shapes[code]
            tag = shape.tag
            if tag in (_SUBPROGRAM, _UNIT, _VARIABLE):
                values, position = self._read(shape, position)
                if tag == _UNIT:
                    self._open(values)
                elif tag == _SUBPROGRAM:
                    current, level = self._function(values), depth
                    if current is not None:
                        found.append(current)
                else:
                    name = values.get(_NAME)
                    if isinstance(name, str) and name.startswith(_OURS):
                        self._named[offset - self._start] = (name, int(values.get(_DECL_LINE, 0)))
                    if current is not None and (_LOCATION in values or _CONST in values):
                        waiting.append((current, offset - self._start, values))
            elif shape.size is not None:
                position += shape.size
            else:
                position = self._skip(shape, position)
            if shape.children:
                depth += 1
        for function, offset, values in waiting:
            named = self._named.get(int(values.get(_ORIGIN, offset)))
            if named is not None:
                function.variables.append(self._variable(*named, values))
        yield from (function for function in found if function.variables)

    def _open(self, values: Mapping[int, Any]) -> None:
        self._strings = values.get(_STR_BASE, 8)
        self._addresses = values.get(_ADDR_BASE, 8)
        self._lists = values.get(_LISTS_BASE, 12)
        self._lines = values.get(_STMT_LIST, -1)
        low = values.get(_LOW)
        self._base = self._address(low) if low is not None else 0

    def _function(self, values: Mapping[int, Any]) -> Function | None:
        if _LOW not in values or _HIGH not in values or self._lines < 0:
            return None
        low = self._address(values[_LOW])
        high = values[_HIGH]
        high = self._address(high) if isinstance(high, tuple) and high[0] == "addr" else low + int(high)
        return Function(low, high, bytes(values.get(_FRAME_BASE, b"")), self._lines)

    def _variable(self, name: str, line: int, values: Mapping[int, Any]) -> Variable:
        variable = Variable(name, line)
        if _CONST in values:
            constant = values[_CONST]
            variable.constant = (
                int.from_bytes(constant, "little") if isinstance(constant, bytes) else int(constant)
            )
        elif isinstance(values[_LOCATION], bytes):
            variable.everywhere = values[_LOCATION]
        else:
            variable.ranges = list(self._location_list(values[_LOCATION]))
        return variable

    def _address(self, value: Any) -> int:
        """An address, given itself or by its index."""
        if isinstance(value, tuple):
            kind, number = value
            return number if kind == "addr" else self._indexed(number)
        return int(value)

    def _indexed(self, index: int) -> int:
        return uint(self._dwarf.section(".debug_addr"), self._addresses + 8 * index, 8)

    def _string(self, form: int, value: int) -> str:
        if form in _STRX:
            offsets = self._dwarf.section(".debug_str_offsets")
            value = uint(offsets, self._strings + 4 * value, 4)
        data = self._dwarf.section(".debug_line_str" if form == 0x1F else ".debug_str")
        if not data.startswith(_OURS.encode(), value):
            return ""
        return data[value : data.index(b"\0", value)].decode(errors="replace")

    def _read(self, shape: Shape, position: int) -> tuple[dict[int, Any], int]:
        """The attributes that are wanted."""
        info = self._info
        values: dict[int, Any] = {}
        for attribute, form, constant in shape.forms:
            start = position
            size = FIXED.get(form)
            value: Any
            if size is not None:
                position += size
                value = uint(info, start, size) if size else constant if form == 0x21 else 1
            elif form == 0x0D:
                value, position = sleb(info, position)
            elif form in _VARIABLE_LENGTH:
                value, position = uleb(info, position)
            elif form == 0x08:
                position = info.index(b"\0", position) + 1
                value = info[start : position - 1].decode(errors="replace")
            elif form in (0x09, 0x18):
                size, position = uleb(info, position)
                value = info[position : position + size]
                position += size
            elif form in _BLOCKS:
                size = uint(info, position, _BLOCKS[form])
                position += _BLOCKS[form]
                value = info[position : position + size]
                position += size
            else:
                raise Unreadable(f"form {form:#x}")
            if attribute in _WANTED:
                if attribute == _NAME and form != 0x08:
                    value = self._string(form, value)
                elif attribute in (_LOW, _HIGH) and form in _ADDRX:
                    value = ("index", value)
                elif attribute in (_LOW, _HIGH) and form == 0x01:
                    value = ("addr", value)
                elif attribute == _LOCATION and form == 0x22:
                    value = ("index", value)
                values[attribute] = value
        return values, position

    def _skip(self, shape: Shape, position: int) -> int:
        info = self._info
        for each in shape.forms:
            form = each.form
            size = FIXED.get(form)
            if size is not None:
                position += size
            elif form in _VARIABLE_LENGTH:
                while info[position] & 0x80:
                    position += 1
                position += 1
            elif form == 0x08:
                position = info.index(b"\0", position) + 1
            elif form in (0x09, 0x18):
                size, position = uleb(info, position)
                position += size
            elif form in _BLOCKS:
                position += _BLOCKS[form] + uint(info, position, _BLOCKS[form])
            else:
                raise Unreadable(f"form {form:#x}")
        return position

    def _location_list(self, place: Any) -> Iterator[Range]:
        if self._version == 4:
            return old_location_list(self._dwarf.section(".debug_loc"), int(place), self._base)
        data = self._dwarf.section(".debug_loclists")
        if isinstance(place, tuple):
            position = self._lists + uint(data, self._lists + 4 * place[1], 4)
        else:
            position = int(place)
        return location_list(data, position, self._base, self._indexed)
