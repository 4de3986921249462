"""Where a frame stands that was interrupted at any instruction, and what is missing in its counters.

A frame behind a call is told by the labels around that call (see :mod:`trodden.collect.binary.call_sites`).
One that a signal has stopped stands anywhere: between two blocks, before a probe or behind it.  The program's
debug information tells the block and the path register (:mod:`trodden.native.lower.debug_locations`), the
code tells which probes of that block have been carried out.

A position is always *behind* something: the frame has come to ``block``, all probes on its way there count as
carried out, and those that were not yet are ``owed``.  So counters plus what is owed obey the flow law with
one more way out of ``block`` (BL94 §3.2), and one more path is cut short there (BL96 §3.6).  An edge of which
any probe was carried out has been taken, even if no instruction of the block behind it has run.
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from trodden.collect.binary.debug_sections import Loaded, load
from trodden.collect.binary.dwarf import Function, Row, Variable
from trodden.collect.binary.dwarf_expressions import Frame, ReadMemory
from trodden.collect.binary.line_rows import line_rows
from trodden.collect.binary.location_lists import Unreadable
from trodden.collect.binary.program import Program
from trodden.collect.binary.x86 import decode
from trodden.collect.frames.code_map import rows_between, view
from trodden.collect.frames.frame_state import Standing
from trodden.errors import TroddenError
from trodden.program.clone_map import code_of
from trodden.program.debug_variables import AT, BY_LINE, PLAIN
from trodden.program.facts import UnitFacts

_KEPT_BY_CALLS = frozenset({3, 6, 7, 12, 13, 14, 15})
"""Registers of x86-64, by their numbers in DWARF, that a function finds again behind a call."""

_NONSENSE = (Unreadable, LookupError, ValueError, TypeError, ArithmeticError)
"""What reading debug information may end in that anybody may have written: it tells nothing then."""


@dataclass(frozen=True)
class Position:
    """Where a frame stands.

    ``unit`` is a unit's id and ``function`` an index in it.  ``block`` is a vertex of the function's graph;
    EXIT if the frame has counted its way out already.  ``register`` is the path register there, ``None`` if
    there is none or the block tells the path alone.  ``owed`` are slots of the unit and what is to be added
    to them; ``ended`` the numbers of paths, kept by number, that are to be counted.  ``whole``: its path was
    counted before its end, where only one way was left, so the blocks on that way count as walked.
    """

    unit: str
    function: int
    block: int
    register: int | None = None
    owed: tuple[tuple[int, int], ...] = ()
    ended: tuple[int, ...] = ()
    whole: bool = False


class Positions:
    """Answers for one program; its debug information is read when first asked for."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._loaded: Loaded | None = None
        self._functions: list[Function] | None = None
        self._rows: dict[int, list[Row]] = {}
        self._standing: dict[int, Standing | None] = {}

    def at(
        self, pc: int, registers: Mapping[int, int], read_stack: ReadMemory, cfa: int | None = None
    ) -> Position | None:
        """Where a frame stands whose next instruction is at ``pc`` (an address in the program file).

        ``registers`` go by their numbers in DWARF; ``read_stack(address, size)`` answers ``None`` for what is
        not known.  The answer is ``None`` where nothing certain can be said.
        """
        standing = self._standing_at(pc)
        try:
            found = standing.at(pc, Frame(registers, read_stack, cfa)) if standing is not None else None
        except _NONSENSE:
            return None
        if standing is None or found is None:
            return None
        owed, ended = tuple(sorted(found.owed.items())), tuple(found.ended)
        return Position(
            standing.unit.id, standing.number, found.block, found.register, owed, ended, found.whole
        )

    def in_call(
        self, back: int, registers: Mapping[int, int], read_stack: ReadMemory, cfa: int | None = None
    ) -> Position | None:
        """The same of a frame in a call that returns to ``back``: it stands where the call does.

        A call that is certain to return has no label.  It is in the middle of it only if a signal
        has stopped what it called.
        """
        standing = self._standing_at(back - 1)
        call = standing.call_before(back) if standing is not None else None
        if call is None:
            return None
        kept = {number: value for number, value in registers.items() if number in _KEPT_BY_CALLS}
        return self.at(call, kept, read_stack, cfa)

    def _standing_at(self, pc: int) -> Standing | None:
        function = self._function(pc)
        if function is None:
            return None
        if function.low not in self._standing:
            try:
                self._standing[function.low] = self._prepare(function)
            except _NONSENSE:
                self._standing[function.low] = None
        return self._standing[function.low]

    def knows(self, pc: int) -> bool:
        """Whether an address lies in a function that tells where it is."""
        return self._function(pc) is not None

    def _function(self, pc: int) -> Function | None:
        if self._functions is None:
            self._functions = self._read()
        place = bisect_right(self._functions, pc, key=lambda each: each.low) - 1
        if place < 0 or pc >= self._functions[place].high:
            return None
        return self._functions[place]

    def _read(self) -> list[Function]:
        """All functions that tell where they are; none from debug information that makes no sense."""
        try:
            self._loaded = load(self._program.path)
            found = list(self._loaded.dwarf.functions())
        except (*_NONSENSE, TroddenError, OSError, zlib.error):
            return []
        # What the linker has dropped is said to lie at 0 or beside all code.
        kept = [each for each in found if self._loaded.bytes_of(each.low, each.high)]
        lows = Counter(each.low for each in kept)
        return sorted((each for each in kept if lows[each.low] == 1), key=lambda each: each.low)

    def _prepare(self, function: Function) -> Standing | None:
        at = next((each for each in function.variables if each.name.startswith(f"{AT}.")), None)
        unit, told = self._named(at) if at is not None else (None, "")
        if at is None or unit is None or self._loaded is None or not 0 < at.line <= len(unit.functions):
            return None
        instructions = decode(self._loaded.bytes_of(function.low, function.high), function.low)
        if instructions is None:
            return None
        if function.unit not in self._rows:
            self._rows[function.unit] = line_rows(self._loaded.dwarf.section(".debug_line"), function.unit)
        rows = rows_between(self._rows[function.unit], function.low, function.high)
        number = at.line - 1
        code = code_of(unit.functions[number])
        seen = view(code.facts, instructions, at, rows, BY_LINE in told, code.joined)
        return Standing(unit, number, code.facts, function, seen, PLAIN in told)

    def _named(self, at: Variable) -> tuple[UnitFacts | None, str]:
        _, tag, told = at.name.split(".")
        return self._program.by_tag.get(int(tag, 16)), told
