"""Where the source has what a branch tests.

A branch has the location of its condition or of its statement, with one exception: without braces,
``do statement; while (c);`` leaves the branch, and what makes a truth value of ``c``, at the location of the
statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trodden.native.ir.block import IRBlock
from trodden.native.ir.debug_info import FunctionLines
from trodden.native.ir.instruction import Instruction
from trodden.program.facts import LineRef

_OF_LOOPS = frozenset({"do", "while", "}"})
_CONVERSIONS = {"icmp": "ne", "fcmp": "une"}


def branch_start(block: IRBlock) -> int:
    """Where the branch of a block starts: with what makes a truth value of its condition, at its location."""
    test = _conversion(block)
    return block.terminator_start if test is None else test.start


def tested_at(
    block: IRBlock, blocks: Mapping[str, IRBlock], lines: FunctionLines, optimised: bool
) -> LineRef | None:
    """The line of a block's end: that of its terminator, or of what that tests if its own is another's."""
    terminator = block.terminator
    location = terminator.attachment("dbg")
    own = None if location is None else lines.line_of(location)
    if location is None or optimised or len(block.successors) < 2 or block.opcode != "br":
        return own
    if terminator.attachment("llvm.loop") is None or lines.word_at(location) in _OF_LOOPS:
        return own
    test = _test(block, blocks)
    tested = None if test is None else test.attachment("dbg")
    return own if tested is None else lines.line_of(tested) or own


def column_of_test(block: IRBlock, branch: LineRef | None, lines: FunctionLines) -> int:
    """The column of what a block tests, which several tests on one line do not have in common.

    A branch itself has the column of the operator that joins its test with others.  It stands for the test
    where that has been computed elsewhere.
    """
    if branch is None or len(block.successors) < 2:
        return 0
    for test in _tests(block):
        at = None if test is None else test.attachment("dbg")
        if at is not None and lines.line_of(at) == branch and lines.column_of(at):
            return lines.column_of(at)
    location = block.terminator.attachment("dbg")
    return 0 if location is None else lines.column_of(location)


def _tests(block: IRBlock) -> Iterator[Instruction | None]:
    """The instructions that may have the column of what a block tests, the likeliest first."""
    condition = block.terminator.condition
    yield None if condition is None else block.definition(condition)
    yield _test(block, {})
    yield block.terminator


def _conversion(block: IRBlock) -> Instruction | None:
    """What makes a truth value of a number right before the branch on it, at the branch's location."""
    terminator = block.terminator
    test = None if terminator.condition is None else block.definition(terminator.condition)
    if test is None or block.opcode != "br" or _CONVERSIONS.get(test.opcode) != test.predicate:
        return None
    at = test.attachment("dbg")
    adjacent = test.end + 1 == block.terminator_start
    return test if adjacent and at is not None and at == terminator.attachment("dbg") else None


def _test(block: IRBlock, blocks: Mapping[str, IRBlock]) -> Instruction | None:
    """The instruction that computes what a block branches on, in the block before if a phi passes it on."""
    conversion = _conversion(block)
    operand = block.terminator.condition if conversion is None else conversion.operands[0].local
    test = None if operand is None else block.definition(operand)
    if test is not None and test.is_phi:
        computed = [(value, label) for value, label in test.incoming if value.startswith("%")]
        value, label = computed[-1] if computed else ("", "")
        return blocks[label].definition(value[1:]) if label in blocks else None
    return test
