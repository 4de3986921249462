"""The functions of a program in which debug information marks the block of every instruction.

Every function that was built with probes has an artificial variable that holds the number of the block in
which control is (:mod:`trodden.program.debug_variables`).  The instructions that were added to the program
have line rows of their own.
"""

from __future__ import annotations

import zlib
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from trodden.collect.binary.debug_sections import DebugSections, load
from trodden.collect.binary.dwarf import Function, Variable
from trodden.collect.binary.line_rows import LineRow, line_rows
from trodden.collect.binary.location_lists import UnsupportedDwarf
from trodden.collect.binary.program import Program
from trodden.errors import TroddenError
from trodden.program.debug_variables import AT, BY_LINE, PLAIN
from trodden.program.facts import UnitFacts

MALFORMED = (UnsupportedDwarf, LookupError, ValueError, TypeError, ArithmeticError)
"""What reading malformed debug information may raise: then nothing is known of the function."""


@dataclass(frozen=True)
class MarkedFunction:
    """A function of a unit, by its ``number``, with its code and the variable that holds its blocks.

    ``rows`` are its line rows.  ``by_line``: the line of a row is the number of a probe, otherwise its
    discriminator is.  ``unoptimised``: the function was compiled without optimisation.
    """

    unit: UnitFacts
    number: int
    function: Function
    location: Variable
    code: bytes
    rows: Sequence[LineRow]
    by_line: bool
    unoptimised: bool


class MarkedFunctions:
    """Those of one program; its debug information is read when it is first needed."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._rows: dict[int, tuple[list[int], list[LineRow]]] = {}

    def at(self, pc: int) -> Function | None:
        """The function that an address, as it is in the program file, lies in."""
        functions = self.functions
        index = bisect_right(functions, pc, key=lambda each: each.low) - 1
        return functions[index] if index >= 0 and pc < functions[index].high else None

    @cached_property
    def functions(self) -> list[Function]:
        """All functions with a location variable, by address; none if the debug information is malformed."""
        try:
            found = list(self._sections.dwarf.functions())
        except (*MALFORMED, TroddenError, OSError, zlib.error):
            return []
        # The addresses of functions that the linker discarded are 0, or outside of all code.
        kept = [each for each in found if self._sections.code_between(each.low, each.high)]
        lows = Counter(each.low for each in kept)
        return sorted((each for each in kept if lows[each.low] == 1), key=lambda each: each.low)

    def marked(self, function: Function) -> MarkedFunction | None:
        """What the debug information says of a function; None if it belongs to no unit.

        One of :data:`MALFORMED` is raised if that cannot be read.
        """
        identity = self.identity(function)
        if identity is None:
            return None
        unit, number, location, flags = identity
        code = self._sections.code_between(function.low, function.high)
        rows = self._rows_of(function)
        return MarkedFunction(unit, number, function, location, code, rows, BY_LINE in flags, PLAIN in flags)

    def identity(self, function: Function) -> tuple[UnitFacts, int, Variable, str] | None:
        """The unit of a function, its number there, its location variable and what that states of it."""
        location = next((each for each in function.variables if each.name.startswith(f"{AT}.")), None)
        if location is None:
            return None
        _, tag, flags = location.name.split(".")
        unit = self._program.by_tag.get(int(tag, 16))
        if unit is None or not 0 < location.line <= len(unit.functions):
            return None
        return unit, location.line - 1, location, flags

    @cached_property
    def _sections(self) -> DebugSections:
        return load(self._program.path)

    def _rows_of(self, function: Function) -> list[LineRow]:
        """The rows of a function; of several at one address the last one counts."""
        table = function.line_table
        if table not in self._rows:
            data = self._sections.dwarf.section(".debug_line")
            last = {row.address: row for row in line_rows(data, table) if not row.end}
            addresses = sorted(last)
            self._rows[table] = addresses, [last[address] for address in addresses]
        addresses, rows = self._rows[table]
        low, high = bisect_left(addresses, function.low), bisect_left(addresses, function.high)
        return rows[low:high]
