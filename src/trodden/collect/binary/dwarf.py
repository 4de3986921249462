"""The functions of a program that have artificial variables of trodden, from its debug information.

A general reader makes an object of every entry of the debug information: pyelftools takes ten times as long
for a C++ program that was built with ``-g``.  This one decodes three kinds of entries and steps over all
others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, NamedTuple

from trodden.collect.binary.abbreviations import FIXED_SIZES, Abbreviation, read_abbreviations
from trodden.collect.binary.dwarf_constants import Attribute, Form, Tag, UnitType
from trodden.collect.binary.leb128 import sleb, uint, uleb
from trodden.collect.binary.location_lists import (
    LocationRange,
    UnsupportedDwarf,
    location_list,
    location_list_of_dwarf4,
)

_PREFIX = "__trodden_"
_64_BIT_LENGTHS = 0xFFFFFFF0
_READ_TAGS = frozenset(map(int, Tag))
_READ_ATTRIBUTES = frozenset(map(int, Attribute))
_LEB128_FORMS = frozenset(
    {Form.SDATA, Form.UDATA, Form.REF_UDATA, Form.STRX, Form.ADDRX, Form.LOCLISTX, Form.RNGLISTX}
)
_BLOCK_LENGTH_SIZES: dict[int, int] = {Form.BLOCK1: 1, Form.BLOCK2: 2, Form.BLOCK4: 4}
_BLOCK_FORMS = frozenset({Form.BLOCK, Form.EXPRLOC})
_STRING_INDEX_FORMS = frozenset({Form.STRX, Form.STRX1, Form.STRX2, Form.STRX3, Form.STRX4})
_ADDRESS_INDEX_FORMS = frozenset({Form.ADDRX, Form.ADDRX1, Form.ADDRX2, Form.ADDRX3, Form.ADDRX4})
_Values = Mapping[int, Any]


class _Address(NamedTuple):
    """A value that is an address, not an offset from one."""

    address: int


class _Index(NamedTuple):
    """A value that is an index into a table whose base the unit's own entry states."""

    number: int


@dataclass
class Variable:
    """An artificial variable: its name, the line it is declared on, and its value.

    The value is a ``constant``, or an expression: ``everywhere`` for all addresses, or those of ``ranges``.
    """

    name: str
    line: int
    location_list: Callable[[], Iterable[LocationRange]] = tuple
    constant: int | None = None
    everywhere: bytes | None = None

    @cached_property
    def ranges(self) -> list[LocationRange]:
        """Its location list, which is read when it is first asked for: most functions never are."""
        return list(self.location_list())

    def expression(self, pc: int) -> bytes | None:
        """The expression for the value at an address."""
        if self.everywhere is not None:
            return self.everywhere
        return next((each.expression for each in self.ranges if each.low <= pc < each.high), None)


@dataclass
class Function:
    """A function with artificial variables; ``line_table`` is the offset of its line number program."""

    low: int
    high: int
    frame_base: bytes
    line_table: int
    variables: list[Variable] = field(default_factory=list)


class Dwarf:
    """The debug information of a program, from the contents of its sections."""

    def __init__(self, sections: Mapping[str, bytes]) -> None:
        self._sections = sections
        self._tables: dict[int, dict[int, Abbreviation]] = {}

    def section(self, name: str) -> bytes:
        """The content of a section; empty if the program has none of that name."""
        return self._sections.get(name, b"")

    def functions(self) -> Iterator[Function]:
        """All functions that have an artificial variable."""
        info = self.section(".debug_info")
        offset = 0
        while offset + 12 <= len(info):
            length = uint(info, offset, 4)
            if length >= _64_BIT_LENGTHS:
                raise UnsupportedDwarf("64-bit DWARF")
            end = offset + 4 + length
            version = uint(info, offset + 4, 2)
            if version == 5:
                kind, abbreviations, first = info[offset + 6], uint(info, offset + 8, 4), offset + 12
            else:
                kind, abbreviations, first = int(UnitType.COMPILE), uint(info, offset + 6, 4), offset + 11
            if version in (4, 5) and kind == UnitType.COMPILE:
                yield from _Unit(self, offset, first, end, version, self._table(abbreviations)).functions()
            offset = end

    def _table(self, offset: int) -> dict[int, Abbreviation]:
        if offset not in self._tables:
            self._tables[offset] = read_abbreviations(self.section(".debug_abbrev"), offset)
        return self._tables[offset]


class _Unit:
    """One compile unit, from offset ``start`` to ``end``; its entries begin at ``first``."""

    def __init__(
        self,
        dwarf: Dwarf,
        start: int,
        first: int,
        end: int,
        version: int,
        abbreviations: Mapping[int, Abbreviation],
    ) -> None:
        self._dwarf = dwarf
        self._info = dwarf.section(".debug_info")
        self._start, self._first, self._end = start, first, end
        self._version = version
        self._abbreviations = abbreviations
        self._base_address = 0
        self._str_offsets_base = self._addr_base = 8
        self._loclists_base = 12
        self._line_table = -1
        self._named: dict[int, tuple[str, int]] = {}

    def functions(self) -> Iterator[Function]:
        """The functions with artificial variables, once all entries have been read.

        An inlined or cloned variable has its name in its abstract origin, which may come later.
        """
        functions: list[Function] = []
        unnamed: list[tuple[Function, int, _Values]] = []
        current: Function | None = None
        depth = 0
        level = 0
        info, abbreviations = self._info, self._abbreviations
        unit, subprogram, read = int(Tag.COMPILE_UNIT), int(Tag.SUBPROGRAM), _READ_TAGS
        offset = self._first
        while offset < self._end:
            entry = offset - self._start
            code = info[offset]
            if code < 0x80:
                offset += 1
            else:
                code, offset = uleb(info, offset)
            if code == 0:
                depth -= 1
                if current is not None and depth <= level:
                    current = None
                continue
            abbreviation = abbreviations[code]
            tag = abbreviation.tag
            if tag in read:
                values, offset = self._read(abbreviation, offset)
                if tag == unit:
                    self._read_bases(values)
                elif tag == subprogram:
                    current, level = self._function(values), depth
                    if current is not None:
                        functions.append(current)
                else:
                    name = values.get(Attribute.NAME)
                    if isinstance(name, str) and name.startswith(_PREFIX):
                        self._named[entry] = (name, int(values.get(Attribute.DECL_LINE, 0)))
                    if current is not None and _has_value(values):
                        unnamed.append((current, entry, values))
            elif abbreviation.size is not None:
                offset += abbreviation.size
            else:
                offset = self._skip(abbreviation, offset)
            if abbreviation.has_children:
                depth += 1
        for function, entry, attributes in unnamed:
            named = self._named.get(int(attributes.get(Attribute.ABSTRACT_ORIGIN, entry)))
            if named is not None:
                function.variables.append(self._variable(*named, attributes))
        yield from (function for function in functions if function.variables)

    def _read_bases(self, values: _Values) -> None:
        """What the entry of the unit itself says, on which the values of all others depend."""
        self._str_offsets_base = values.get(Attribute.STR_OFFSETS_BASE, 8)
        self._addr_base = values.get(Attribute.ADDR_BASE, 8)
        self._loclists_base = values.get(Attribute.LOCLISTS_BASE, 12)
        self._line_table = values.get(Attribute.STMT_LIST, -1)
        low = values.get(Attribute.LOW_PC)
        self._base_address = self._address(low) if low is not None else 0

    def _function(self, values: _Values) -> Function | None:
        if Attribute.LOW_PC not in values or Attribute.HIGH_PC not in values or self._line_table < 0:
            return None
        low = self._address(values[Attribute.LOW_PC])
        high = values[Attribute.HIGH_PC]
        end = self._address(high) if isinstance(high, _Address | _Index) else low + int(high)
        return Function(low, end, bytes(values.get(Attribute.FRAME_BASE, b"")), self._line_table)

    def _variable(self, name: str, line: int, values: _Values) -> Variable:
        variable = Variable(name, line)
        if Attribute.CONST_VALUE in values:
            constant = values[Attribute.CONST_VALUE]
            variable.constant = (
                int.from_bytes(constant, "little") if isinstance(constant, bytes) else int(constant)
            )
        elif isinstance(values[Attribute.LOCATION], bytes):
            variable.everywhere = values[Attribute.LOCATION]
        else:
            variable.location_list = partial(self._location_list, values[Attribute.LOCATION])
        return variable

    def _address(self, value: Any) -> int:
        if isinstance(value, _Index):
            return self._address_at(value.number)
        return value.address if isinstance(value, _Address) else int(value)

    def _address_at(self, index: int) -> int:
        return uint(self._dwarf.section(".debug_addr"), self._addr_base + 8 * index, 8)

    def _string(self, form: int, value: int) -> str:
        """The string that a value refers to; empty if it is no name of an artificial variable."""
        if form in _STRING_INDEX_FORMS:
            offsets = self._dwarf.section(".debug_str_offsets")
            value = uint(offsets, self._str_offsets_base + 4 * value, 4)
        data = self._dwarf.section(".debug_line_str" if form == Form.LINE_STRP else ".debug_str")
        if not data.startswith(_PREFIX.encode(), value):
            return ""
        return data[value : data.index(b"\0", value)].decode(errors="replace")

    def _read(self, abbreviation: Abbreviation, offset: int) -> tuple[dict[int, Any], int]:
        """The attributes of an entry that are used here, and the offset after it."""
        info = self._info
        values: dict[int, Any] = {}
        for attribute, form, constant in abbreviation.attributes:
            start = offset
            size = FIXED_SIZES.get(form)
            value: Any
            if size is not None:
                offset += size
                value = uint(info, start, size) if size else constant if form == Form.IMPLICIT_CONST else 1
            elif form == Form.SDATA:
                value, offset = sleb(info, offset)
            elif form in _LEB128_FORMS:
                value, offset = uleb(info, offset)
            elif form == Form.STRING:
                offset = info.index(b"\0", offset) + 1
                value = info[start : offset - 1].decode(errors="replace")
            else:
                size, offset = self._block(form, offset)
                value = info[offset : offset + size]
                offset += size
            if attribute in _READ_ATTRIBUTES:
                values[attribute] = self._interpreted(attribute, form, value)
        return values, offset

    def _interpreted(self, attribute: int, form: int, value: Any) -> Any:
        """A value whose meaning depends on its form."""
        if attribute == Attribute.NAME and form != Form.STRING:
            return self._string(form, value)
        if attribute in (Attribute.LOW_PC, Attribute.HIGH_PC):
            if form in _ADDRESS_INDEX_FORMS:
                return _Index(value)
            return _Address(value) if form == Form.ADDR else value
        if attribute == Attribute.LOCATION and form == Form.LOCLISTX:
            return _Index(value)
        return value

    def _skip(self, abbreviation: Abbreviation, offset: int) -> int:
        """The offset after an entry."""
        info = self._info
        for each in abbreviation.attributes:
            form = each.form
            size = FIXED_SIZES.get(form)
            if size is not None:
                offset += size
            elif form in _LEB128_FORMS:
                while info[offset] & 0x80:
                    offset += 1
                offset += 1
            elif form == Form.STRING:
                offset = info.index(b"\0", offset) + 1
            else:
                size, offset = self._block(form, offset)
                offset += size
        return offset

    def _block(self, form: int, offset: int) -> tuple[int, int]:
        """The size of a block, and the offset of its content."""
        if form in _BLOCK_FORMS:
            return uleb(self._info, offset)
        width = _BLOCK_LENGTH_SIZES.get(form)
        if width is None:
            raise UnsupportedDwarf(f"form {form:#x}")
        return uint(self._info, offset, width), offset + width

    def _location_list(self, value: Any) -> Iterator[LocationRange]:
        if self._version == 4:
            data = self._dwarf.section(".debug_loc")
            return location_list_of_dwarf4(data, int(value), self._base_address)
        data = self._dwarf.section(".debug_loclists")
        offset = value
        if isinstance(value, _Index):
            offset = self._loclists_base + uint(data, self._loclists_base + 4 * value.number, 4)
        return location_list(data, int(offset), self._base_address, self._address_at)


def _has_value(values: _Values) -> bool:
    return Attribute.LOCATION in values or Attribute.CONST_VALUE in values
