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

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from trodden.collect.binary.dwarf import Function
from trodden.collect.binary.dwarf_constants import Op
from trodden.collect.binary.dwarf_expressions import Frame, ReadMemory
from trodden.collect.binary.marked_functions import MALFORMED, MarkedFunctions
from trodden.collect.binary.program import Program
from trodden.collect.binary.x86 import decode
from trodden.collect.binary.x86_execution import StraightCode
from trodden.collect.frames.build_code_map import build_code_map
from trodden.collect.frames.frame_state import FrameState
from trodden.collect.frames.function_locator import FunctionLocator
from trodden.program.clone_map import code_of

if TYPE_CHECKING:
    from trodden.collect.frames.possible_functions import PossibleFunctions
    from trodden.collect.frames.source_frames import SourceFrames

_RBX, _RBP, _RSP, _R12, _R13, _R14, _R15 = 3, 6, 7, 12, 13, 14, 15
_CALLEE_SAVED = frozenset({_RBX, _RBP, _RSP, _R12, _R13, _R14, _R15})
"""Registers of x86-64, by their DWARF numbers, that have the same value after a call as before."""

_FRAME_POINTER = bytes([Op.REG6])
"""The frame base of a function that keeps the address of its frame in ``rbp``."""


class FrameLocator:
    """Locates the frames of one program; its debug information is read when the first frame is asked for.

    ``functions`` are those of the program, where they have been read already.
    """

    def __init__(self, program: Program, functions: MarkedFunctions | None = None) -> None:
        self._program = program
        self._functions = functions or MarkedFunctions(program)
        self._locators: dict[int, FunctionLocator | None] = {}

    # These two read with pyelftools, which takes 50 ms to import: only where a process was interrupted.

    @cached_property
    def sources(self) -> SourceFrames:
        """The functions and lines of the source at an address."""
        from trodden.collect.frames.source_frames import SourceFrames

        return SourceFrames(self._program.path, self._functions)

    @cached_property
    def possible(self) -> PossibleFunctions:
        """The functions that code may be of where nothing else tells."""
        from trodden.collect.frames.possible_functions import PossibleFunctions

        return PossibleFunctions(self._program, self._functions)

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
        except MALFORMED:
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
        return self._functions.at(pc) is not None

    def _locator(self, pc: int) -> FunctionLocator | None:
        function = self._functions.at(pc)
        if function is None:
            return None
        if function.low not in self._locators:
            try:
                self._locators[function.low] = self._prepare(function)
            except MALFORMED:
                self._locators[function.low] = None
        return self._locators[function.low]

    def _prepare(self, function: Function) -> FunctionLocator | None:
        marked = self._functions.marked(function)
        if marked is None:
            return None
        instructions = decode(marked.code, function.low, function.frame_base == _FRAME_POINTER)
        if instructions is None:
            return None
        code = code_of(marked.unit.functions[marked.number])
        code_map = build_code_map(code.facts, instructions, marked, code.joined)
        straight = StraightCode(marked.code, function.low)
        return FunctionLocator(
            marked.unit, marked.number, code.facts, function, code_map, straight, marked.unoptimised
        )
