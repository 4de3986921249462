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
        line = self._of(event.function)
        block = line.blocks.get(event.block)
        if block is None:
            return 0
        times = block.times * (1 + event.value)
        return times if line.apart else times - (self._goes_on(event, block) and block.start)

    def switch(self) -> None:
        """Other frames are active, on another stack; which of them are on the line is not known."""
        self._passes.clear()

    def _goes_on(self, event: Event, block: LineBlock) -> bool:
        """Whether the pass that this frame was in goes on in a block."""
        passes, depth = self._passes, event.depth
        while passes and passes[-1].depth > depth:
            passes.pop()
        last = passes[-1] if passes and passes[-1].depth == depth else None
        root = event.block == self._program.facts(event.function).graph.root
        if last is not None and (root or last.function != event.function):
            last = passes.pop() and None
        if block.first is None or block.last is None:
            return False
        goes_on = last is not None and last.instance == block.first and event.block not in last.blocks
        if last is not None and (not goes_on or block.last != last.instance):
            passes.pop()
            last = None
        if last is None and block.last != ELSEWHERE:
            last = _Pass(depth, event.function, block.last, set())
            passes.append(last)
        if last is not None:
            last.blocks.add(event.block)
        return goes_on

    def _of(self, number: int) -> FunctionLine:
        found = self._functions.get(number)
        if found is None:
            files = self._program.unit(number).files

            def is_here(file: int, line: int) -> bool:
                return line > 0 and matches(self._place, files[file].path, line)

            found = self._functions[number] = line_in(self._program.facts(number), is_here)
        return found
