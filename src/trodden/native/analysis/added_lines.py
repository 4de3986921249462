"""Lines that a block mentions only for code that the compiler adds.

A line is executed when its statements are.  A front end gives a location to every jump too: the one that ends
the first branch of an ``if`` has that of ``} else``, the one that ends the body of a loop that of the loop's
first line, and so has the branch on the loop's condition, wherever the condition is.  Only the jump of a
``break``, ``continue``, ``goto`` or ``return`` is a statement of its line.  What takes an exception over from
the unwinder, and what hands it back, has the location of the function's end or of any statement before.  The
jump from a label to the label below it may have the location of the statement before, whose own jump it
repeats.

A line that has other code does without its jumps.  Of one that has none, the source tells: the end of a
compound statement is no code, nor is the first line of a loop without a condition there.  ``while (`` with
the condition on the next line is executed when the loop is entered.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from trodden.native.analysis.handler_lines import HandlerLines
from trodden.native.analysis.tested_at import branch_start
from trodden.native.ir.block import IRBlock
from trodden.native.ir.debug_info import FunctionLines, Mention
from trodden.native.ir.syntax.grammar import DBG_ATTACHMENT
from trodden.program.facts import LineRef

_STATEMENTS = frozenset({"break", "continue", "goto", "return"})
_LOOPS = frozenset({"for", "while", "do", "loop"})
_ENDS = frozenset({"}", "else"})
_TAKES_OVER = frozenset({"phi", "landingpad", "extractvalue", "store"})
_HANDS_BACK = frozenset({"phi", "landingpad", "extractvalue", "load", "insertvalue", "resume"})


def added_lines(
    blocks: Sequence[IRBlock], mentions: Sequence[Sequence[Mention]], lines: FunctionLines, optimised: bool
) -> list[tuple[int, ...]]:
    """For each block the indices of those of its lines that only added code has."""
    handlers = HandlerLines(blocks, lines)
    entered = {label for block in blocks for label in block.successors} | {blocks[0].label}
    found = [
        [*range(len(each))]
        if block.label not in entered and _traps(block)
        else sorted({*_for_exceptions(block, each), *handlers.of_block(block, each)})
        for block, each in zip(blocks, mentions, strict=True)
    ]
    code: set[LineRef] = set()
    conditions: set[str | None] = set()
    jumps: list[int] = []
    seen: set[str | None] = set()
    repeats: set[int] = set()
    for number, (block, each) in enumerate(zip(blocks, mentions, strict=True)):
        last = len(each) - 1
        start = block.terminator_start if optimised else branch_start(block)
        own = block.opcode == "br" and bool(each) and each[last].position >= start
        added = {*found[number], last} if own else {*found[number]}
        code.update(mention.ref for index, mention in enumerate(each) if index not in added)
        if own:
            jumps.append(number)
        location = block.terminator.attachment("dbg")
        if own and not optimised and block.size == 1 and location in seen:
            repeats.add(number)
        seen.add(location)
        if block.opcode == "br" and len(block.successors) > 1:
            conditions.add(location)
    function = _Function(code, conditions, lines, optimised)
    for number in jumps:
        last = len(mentions[number]) - 1
        jump = number in repeats or function.is_added(blocks[number], mentions[number])
        if jump and last not in found[number]:
            found[number].append(last)
    return list(map(tuple, found))


def _traps(block: IRBlock) -> bool:
    """Whether a block only stops the program: a front end ends with it what control cannot reach."""
    code = [each for each in block.instructions if each.callee != "llvm.trap"]
    return len(code) == 1 and block.opcode == "unreachable"


def _for_exceptions(block: IRBlock, mentions: Sequence[Mention]) -> Iterable[int]:
    """The lines of a block that only the transfer of an exception has."""
    if block.opcode == "resume" and all(each.opcode in _HANDS_BACK for each in block.instructions):
        return range(len(mentions))
    if not mentions or not block.is_landing_pad:
        return ()
    following = (each for each in block.instructions if each.opcode not in _TAKES_OVER)
    end = min(next(following, block.terminator).start, block.terminator_start)
    count = sum(mention.position < end for mention in mentions)
    code = DBG_ATTACHMENT.search(block.text, end)
    jumps = block.opcode == "br" and end == block.terminator_start
    goes_on = code is not None and not jumps and all(code.start() != each.position for each in mentions)
    return range(count - goes_on)


@dataclass(frozen=True)
class _Function:
    """``code`` are the lines with code other than jumps, ``conditions`` the locations of branches."""

    code: set[LineRef]
    conditions: set[str | None]
    lines: FunctionLines
    optimised: bool

    def is_added(self, block: IRBlock, mentions: Sequence[Mention]) -> bool:
        """Whether a block's jump, on a line of its own, is no statement of that line."""
        location = block.terminator.attachment("dbg")
        word = None if location is None else self.lines.word_at(location)
        if word in _STATEMENTS:
            return False
        conditional = len(block.successors) > 1
        if mentions[-1].ref in self.code:
            # In an optimised program a condition may be computed elsewhere, and only its branch be here.
            return not (conditional and self.optimised) or (word in _LOOPS and len(mentions) > 1)
        if word in _LOOPS:
            enters = not conditional and block.terminator.attachment("llvm.loop") is None
            return not (enters and location in self.conditions)
        return word in _ENDS
