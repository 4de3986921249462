"""Locates a frame that was interrupted at any instruction, and what is missing from its counters.

The labels around a call locate a frame that is in the middle of it
(:mod:`trodden.collect.binary.call_sites`).  A frame that a signal interrupted may be anywhere: between two
blocks, before a probe or after it.  The program's debug information states the block and the path register
(:mod:`trodden.program.debug_variables`), the machine code shows which probes of that block have executed.

A frame counts as having reached a block if any probe of an edge to that block has executed, even if no
instruction of the block has: the probes of the edge that have not are pending.  So the counters plus what is
pending obey the flow law with one more exit out of the block (BL94 §3.2), and one more path is cut short
there (BL96 §3.6).
"""

from __future__ import annotations

import zlib
from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping

from trodden.collect.binary.debug_sections import DebugSections, load
from trodden.collect.binary.dwarf import Function, Variable
from trodden.collect.binary.dwarf_constants import Op
from trodden.collect.binary.dwarf_expressions import Frame, ReadMemory
from trodden.collect.binary.line_rows import LineRow, line_rows
from trodden.collect.binary.location_lists import UnsupportedDwarf
from trodden.collect.binary.program import Program
from trodden.collect.binary.x86 import decode
from trodden.collect.frames.build_code_map import build_code_map, rows_between
from trodden.collect.frames.frame_state import FrameState
from trodden.collect.frames.function_locator import FunctionLocator
from trodden.errors import TroddenError
from trodden.program.clone_map import code_of
from trodden.program.debug_variables import AT, BY_LINE, PLAIN
from trodden.program.facts import UnitFacts

_RBX, _RBP, _RSP, _R12, _R13, _R14, _R15 = 3, 6, 7, 12, 13, 14, 15
_CALLEE_SAVED = frozenset({_RBX, _RBP, _RSP, _R12, _R13, _R14, _R15})
"""Registers of x86-64, by their DWARF numbers, that have the same value after a call as before."""

_FRAME_POINTER = bytes([Op.REG6])
"""The frame base of a function that keeps the address of its frame in ``rbp``."""

_MALFORMED = (UnsupportedDwarf, LookupError, ValueError, TypeError, ArithmeticError)
"""What reading malformed debug information may raise: no frame is located with it."""


class FrameLocator:
    """Locates the frames of one program; its debug information is read when the first frame is asked for."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._sections: DebugSections | None = None
        self._functions: list[Function] | None = None
        self._rows: dict[int, list[LineRow]] = {}
        self._locators: dict[int, FunctionLocator | None] = {}

    def at(
        self, pc: int, registers: Mapping[int, int], read_stack: ReadMemory, cfa: int | None = None
    ) -> FrameState | None:
        """The state of a frame whose next instruction is at ``pc``, an address in the program file.

        ``registers`` are keyed by their DWARF numbers; ``read_stack(address, size)`` returns ``None`` for
        memory that was not saved.  The result is ``None`` where nothing is certain.
        """
        locator = self._locator(pc)
        try:
            return locator.at(pc, Frame(registers, read_stack, cfa)) if locator is not None else None
        except _MALFORMED:
            return None

    def in_call(
        self,
        return_address: int,
        registers: Mapping[int, int],
        read_stack: ReadMemory,
        cfa: int | None = None,
    ) -> FrameState | None:
        """The state of a frame in the middle of a call: it is where the call is.

        A call that is certain to return has no label.  A frame can be found in the middle of it only if a
        signal interrupted what it called.
        """
        locator = self._locator(return_address - 1)
        call = locator.call_before(return_address) if locator is not None else None
        if call is None:
            return None
        saved = {number: value for number, value in registers.items() if number in _CALLEE_SAVED}
        return self.at(call, saved, read_stack, cfa)

    def knows(self, pc: int) -> bool:
        """Whether an address lies in a function whose frames may be located."""
        return self._function(pc) is not None

    def _locator(self, pc: int) -> FunctionLocator | None:
        function = self._function(pc)
        if function is None:
            return None
        if function.low not in self._locators:
            try:
                self._locators[function.low] = self._prepare(function)
            except _MALFORMED:
                self._locators[function.low] = None
        return self._locators[function.low]

    def _function(self, pc: int) -> Function | None:
        if self._functions is None:
            self._functions = self._read()
        index = bisect_right(self._functions, pc, key=lambda each: each.low) - 1
        if index < 0 or pc >= self._functions[index].high:
            return None
        return self._functions[index]

    def _read(self) -> list[Function]:
        """All functions with a location variable; none if the debug information is malformed."""
        try:
            self._sections = load(self._program.path)
            found = list(self._sections.dwarf.functions())
        except (*_MALFORMED, TroddenError, OSError, zlib.error):
            return []
        # The addresses of functions that the linker discarded are 0, or outside of all code.
        kept = [each for each in found if self._sections.code_between(each.low, each.high)]
        lows = Counter(each.low for each in kept)
        return sorted((each for each in kept if lows[each.low] == 1), key=lambda each: each.low)

    def _prepare(self, function: Function) -> FunctionLocator | None:
        location = next((each for each in function.variables if each.name.startswith(f"{AT}.")), None)
        if location is None or self._sections is None:
            return None
        unit, flags = self._unit_and_flags(location)
        if unit is None or not 0 < location.line <= len(unit.functions):
            return None
        code = self._sections.code_between(function.low, function.high)
        instructions = decode(code, function.low, function.frame_base == _FRAME_POINTER)
        if instructions is None:
            return None
        table = function.line_table
        if table not in self._rows:
            self._rows[table] = line_rows(self._sections.dwarf.section(".debug_line"), table)
        rows = rows_between(self._rows[table], function.low, function.high)
        number = location.line - 1
        clones = code_of(unit.functions[number])
        code_map = build_code_map(clones.facts, instructions, location, rows, BY_LINE in flags, clones.joined)
        return FunctionLocator(unit, number, clones.facts, function, code_map, PLAIN in flags)

    def _unit_and_flags(self, location: Variable) -> tuple[UnitFacts | None, str]:
        """The unit that a location variable names, and what it states of the function's debug information."""
        _, tag, flags = location.name.split(".")
        return self._program.by_tag.get(int(tag, 16)), flags
