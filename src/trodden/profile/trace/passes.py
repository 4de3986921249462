"""When control passes over a line of the source, as blocks are executed one by one.

A line may have many blocks: those between its calls, and those of a loop's head.  It is executed once more
when control comes to it from elsewhere in the same call of the function, and when it comes to a block that
was part of the same pass already: the line is, or has, a loop.  ``trodden annotate`` counts lines so, too.
Compilers leave blocks without any line where branches meet; control does not leave a line there.
"""

from __future__ import annotations

from typing import NamedTuple

from trodden.profile.trace.executed import Place, matches
from trodden.profile.trace.line_blocks import ELSEWHERE, FunctionLine, LineBlock, line_in
from trodden.profile.trace.program import TracedProgram
from trodden.recover.trace.events import Event


class _Pass(NamedTuple):
    """A frame that is on the line, in an inlined instance of it, and the blocks of this pass."""

    depth: int
    function: int
    instance: int
    blocks: set[int]


class Passes:
    """Counts how often a thread passes over a line, from events in their order."""

    def __init__(self, place: Place, program: TracedProgram) -> None:
        self._place = place
        self._program = program
        self._functions: dict[int, FunctionLine] = {}
        self._passes: list[_Pass] = []

    def wanted(self, number: int) -> frozenset[int]:
        """The blocks of a function whose events have to be seen."""
        return frozenset(self._of(number).blocks)

    def times(self, event: Event) -> int:
        """How often the line was executed anew when a block was."""
        _, depth, function, number, again, _ = event
        line = self._functions.get(function) or self._of(function)
        block = line.blocks.get(number)
        if block is None:
            return 0
        times = block.times * (1 + again)
        if line.apart:
            return times
        return times - (self._goes_on(depth, function, number, block, number == line.root) and block.start)

    def switch(self) -> None:
        """Other frames are active, on another stack; which of them are on the line is not known."""
        self._passes.clear()

    def _goes_on(self, depth: int, function: int, number: int, block: LineBlock, enters: bool) -> bool:
        """Whether the pass that a frame was in goes on in a block."""
        passes = self._passes
        while passes and passes[-1].depth > depth:
            passes.pop()
        last = passes[-1] if passes and passes[-1].depth == depth else None
        if last is not None and (enters or last.function != function):
            passes.pop()
            last = None
        if block.first is None or block.last is None:
            return False
        goes_on = last is not None and last.instance == block.first and number not in last.blocks
        if last is not None and (not goes_on or block.last != last.instance):
            passes.pop()
            last = None
        if last is None and block.last != ELSEWHERE:
            last = _Pass(depth, function, block.last, set())
            passes.append(last)
        if last is not None:
            last.blocks.add(number)
        return goes_on

    def _of(self, number: int) -> FunctionLine:
        found = self._functions.get(number)
        if found is None:
            files = self._program.unit(number).files

            def is_here(file: int, line: int) -> bool:
                return line > 0 and matches(self._place, files[file].path, line)

            found = self._functions[number] = line_in(self._program.facts(number), is_here)
        return found
