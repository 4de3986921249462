"""The rows of a line number program: the source line of each instruction (DWARF 2 to 5, DWARF 5 §6.2)."""

from __future__ import annotations

from typing import NamedTuple

from trodden.collect.binary.dwarf_constants import ExtendedLineOpcode, LineOpcode
from trodden.collect.binary.leb128 import sleb, uint, uleb
from trodden.collect.binary.location_lists import UnsupportedDwarf

_64_BIT_LENGTHS = 0xFFFFFFF0
_LAST_SPECIAL_OPCODE = 255


class LineRow(NamedTuple):
    """From ``address`` on, instructions come from this line; ``end``: a sequence ends before it."""

    address: int
    line: int
    discriminator: int
    end: bool = False


class _Header(NamedTuple):
    """The parameters of a program; ``operands``: how many operands each standard opcode has."""

    program: int
    end: int
    instruction_length: int
    line_base: int
    line_range: int
    opcode_base: int
    operands: bytes


def line_rows(data: bytes, start: int) -> list[LineRow]:
    """The rows of the program at an offset of ``.debug_line``, sequence by sequence."""
    offset, end, step, line_base, line_range, opcode_base, operands = _read_header(data, start)
    # Of a large program there are a million rows: comparing plain integers takes half the time.
    extended, copy = int(LineOpcode.EXTENDED), int(LineOpcode.COPY)
    advance_pc, advance_line = int(LineOpcode.ADVANCE_PC), int(LineOpcode.ADVANCE_LINE)
    set_discriminator = int(ExtendedLineOpcode.SET_DISCRIMINATOR)
    rows: list[LineRow] = []
    address, line, discriminator = 0, 1, 0
    while offset < end:
        opcode = data[offset]
        offset += 1
        if opcode >= opcode_base:
            advance, lines = divmod(opcode - opcode_base, line_range)
            address += advance * step
            line += line_base + lines
            rows.append(LineRow(address, line, discriminator))
            discriminator = 0
        elif opcode == extended:
            size, offset = uleb(data, offset)
            kind = data[offset]
            if kind == set_discriminator:
                discriminator, _ = uleb(data, offset + 1)
            elif kind == ExtendedLineOpcode.END_SEQUENCE:
                rows.append(LineRow(address, line, discriminator, end=True))
                address, line, discriminator = 0, 1, 0
            elif kind == ExtendedLineOpcode.SET_ADDRESS:
                address = uint(data, offset + 1, size - 1)
            offset += size
        elif opcode == copy:
            rows.append(LineRow(address, line, discriminator))
            discriminator = 0
        elif opcode == advance_pc:
            advance, offset = uleb(data, offset)
            address += advance * step
        elif opcode == advance_line:
            advance, offset = sleb(data, offset)
            line += advance
        elif opcode == LineOpcode.CONST_ADD_PC:
            address += (_LAST_SPECIAL_OPCODE - opcode_base) // line_range * step
        elif opcode == LineOpcode.FIXED_ADVANCE_PC:
            address += uint(data, offset, 2)
            offset += 2
        else:
            for _ in range(operands[opcode - 1]):
                _, offset = uleb(data, offset)
    return rows


def _read_header(data: bytes, start: int) -> _Header:
    length = uint(data, start, 4)
    if length >= _64_BIT_LENGTHS:
        raise UnsupportedDwarf("64-bit DWARF")
    version = uint(data, start + 4, 2)
    if not 2 <= version <= 5:
        raise UnsupportedDwarf(f"line table of version {version}")
    offset = start + 6 + (2 if version == 5 else 0)
    program = offset + 4 + uint(data, offset, 4)
    offset += 4
    instruction_length = data[offset]
    offset += 1 + (version >= 4)
    line_base = int.from_bytes(data[offset + 1 : offset + 2], "little", signed=True)
    line_range, opcode_base = data[offset + 2], data[offset + 3]
    operands = data[offset + 4 : offset + 3 + opcode_base]
    end = start + 4 + length
    return _Header(program, end, instruction_length, line_base, line_range, opcode_base, operands)
