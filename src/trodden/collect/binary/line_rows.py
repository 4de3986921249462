"""The rows of a line table (DWARF 2 to 5): which line each instruction comes from."""

from __future__ import annotations

from trodden.collect.binary.dwarf import Row
from trodden.collect.binary.leb128 import sleb, uint, uleb
from trodden.collect.binary.location_lists import Unreadable


def line_rows(data: bytes, start: int) -> list[Row]:
    """The rows of the table at ``start``, sequence by sequence."""
    length = uint(data, start, 4)
    if length >= 0xFFFFFFF0:
        raise Unreadable("64-bit DWARF")
    end = start + 4 + length
    version = uint(data, start + 4, 2)
    if not 2 <= version <= 5:
        raise Unreadable(f"line table of version {version}")
    position = start + 6 + (2 if version == 5 else 0)
    program = position + 4 + uint(data, position, 4)
    position += 4
    step = data[position]
    position += 1 + (version >= 4)
    line_base = int.from_bytes(data[position + 1 : position + 2], "little", signed=True)
    line_range, opcode_base = data[position + 2], data[position + 3]
    operands = data[position + 4 : position + 3 + opcode_base]
    rows: list[Row] = []
    address, line, discriminator = 0, 1, 0
    position = program
    while position < end:
        opcode = data[position]
        position += 1
        if opcode >= opcode_base:
            opcode -= opcode_base
            address += opcode // line_range * step
            line += line_base + opcode % line_range
            rows.append(Row(address, line, discriminator))
            discriminator = 0
        elif opcode == 0:
            size, position = uleb(data, position)
            extended = data[position]
            if extended == 1:
                rows.append(Row(address, line, discriminator, end=True))
                address, line, discriminator = 0, 1, 0
            elif extended == 2:
                address = uint(data, position + 1, size - 1)
            elif extended == 4:
                discriminator, _ = uleb(data, position + 1)
            position += size
        elif opcode == 1:
            rows.append(Row(address, line, discriminator))
            discriminator = 0
        elif opcode == 2:
            advance, position = uleb(data, position)
            address += advance * step
        elif opcode == 3:
            advance, position = sleb(data, position)
            line += advance
        elif opcode == 8:
            address += (255 - opcode_base) // line_range * step
        elif opcode == 9:
            address += uint(data, position, 2)
            position += 2
        else:
            for _ in range(operands[opcode - 1]):
                _, position = uleb(data, position)
    return rows
