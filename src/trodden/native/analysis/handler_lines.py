"""Lines that a block mentions only because a handler of C++ exceptions begins or ends.

What begins a handler has the location of the statement that the front end was at last: the end of another
handler, or that of the ``try`` block.  What ends one has that of its closing brace, and ``} catch (...) {``
is not executed because the handler before it has ended.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from operator import attrgetter

from trodden.native.ir.block import IRBlock
from trodden.native.ir.debug_info import FunctionLines, Mention
from trodden.native.ir.instruction import Instruction

_BEGIN, _END = "__cxa_begin_catch", "__cxa_end_catch"
_BEGINNING = frozenset({"load", "store"})
_ENDING = frozenset({"br"})
_CLAUSE = ("}", "catch")


class HandlerLines:
    """The handlers of one function."""

    def __init__(self, blocks: Sequence[IRBlock], lines: FunctionLines) -> None:
        self._lines = lines
        ends = (call for block in blocks if _END in block.text for call in block.calls if call.callee == _END)
        self._ends = {call.attachment("dbg") for call in ends}

    def of_block(self, block: IRBlock, mentions: Sequence[Mention]) -> Iterator[int]:
        """The indices of those lines of a block that only the begin or the end of a handler has."""
        if not self._ends or not mentions or "@__cxa_" not in block.text:
            return
        code: list[list[Instruction]] = [[] for _ in mentions]
        for instruction in block.instructions:
            index = bisect_right(mentions, instruction.end, key=attrgetter("position")) - 1
            if index >= 0 and instruction.attachment("dbg") is not None:
                code[index].append(instruction)
        for index, some in enumerate(code):
            if self._begins(some) or self._ends_before_another(some):
                yield index

    def _begins(self, code: Sequence[Instruction]) -> bool:
        calls = [each for each in code if each.callee == _BEGIN]
        others = all(each.opcode in _BEGINNING for each in code if each not in calls)
        return bool(calls) and others and all(each.attachment("dbg") in self._ends for each in calls)

    def _ends_before_another(self, code: Sequence[Instruction]) -> bool:
        calls = [each for each in code if each.callee == _END]
        others = all(each.opcode in _ENDING for each in code if each not in calls)
        locations = (each.attachment("dbg") for each in calls)
        return bool(calls) and others and all(at and self._lines.words_at(at) == _CLAUSE for at in locations)
