"""Lines that a block executes once more, although control has always passed code of theirs before.

A statement on several lines comes back to its first line, to call a function whose arguments are evaluated by
then: that is the same execution of the line.  An optimiser rotates, unrolls and peels loops, and what it has
copied is another one.  Columns tell them apart: a copy has the same instructions at the same columns as what
it repeats, and the rest of a statement has others.  Jumps, and what only prepares a value, tell nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from trodden.graph.dominators import Dominators, find_dominators
from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.ir.block import IRBlock
from trodden.native.ir.debug_info import FunctionLines, Mention
from trodden.native.ir.syntax.grammar import DBG_ATTACHMENT
from trodden.program.facts import LineRef

_PREPARES = frozenset(
    {
        *("br", "switch", "ret", "resume", "unreachable", "landingpad", "extractvalue", "insertvalue"),
        *("phi", "select", "zext", "sext", "trunc", "bitcast", "freeze", "getelementptr"),
    }
)
_OPCODE = re.compile(r"  (?:%\S+ = )?(?:(?:tail|musttail|notail) )?([a-z]+)(?: [^\n@]*(@[^\s(]+)\()?")

_Code = frozenset[tuple[int, str]]
"""The columns and opcodes of some instructions; of a call the function that is called."""

_Places = dict[int, list[tuple[int, _Code]]]
"""For each block that mentions a line: where among its mentions, with the instructions there."""


def copied_lines(
    read: FunctionCfg, mentions: Sequence[Sequence[Mention]], lines: FunctionLines
) -> list[tuple[int, ...]]:
    """For each block the indices of those of its lines that are copies of what precedes."""
    found: list[list[int]] = [[] for _ in mentions]
    times = Counter(mention.ref for each in mentions for mention in each if mention.ref.line > 0)
    places: dict[LineRef, _Places] = {}
    for number, (block, each) in enumerate(zip(read.ir.blocks, mentions, strict=True)):
        for index, mention in enumerate(each):
            if times[mention.ref] > 1:
                end = each[index + 1].position if index + 1 < len(each) else len(block.text)
                code = _code(block, mention, end, lines)
                places.setdefault(mention.ref, {}).setdefault(number, []).append((index, code))
    if places and read.loops.reducible:
        dominators = find_dominators(read.graph)
        order = {vertex: position for position, vertex in enumerate(dominators.preorder())}
        for some in places.values():
            reached = sorted(some.keys() & order.keys(), key=order.__getitem__)
            for vertex, index in _copies(read, dominators, reached, some):
                found[vertex].append(index)
    return [tuple(sorted(each)) for each in found]


def _copies(
    read: FunctionCfg, dominators: Dominators, blocks: Sequence[int], places: _Places
) -> Iterator[tuple[int, int]]:
    """The blocks, given in the order of the dominator tree, and indices where one line is executed again."""
    above = dominators.closest_among(blocks)
    executed: dict[int, _Code | None] = {}
    for block in blocks:
        before = above.get(block)
        seen = None
        if before is not None and _same_iteration(read, dominators, before, block):
            seen = executed[before]
        for index, code in places[block]:
            if seen is not None and seen & code:
                yield block, index
                seen = code
            else:
                seen = code if seen is None else seen | code
        executed[block] = seen


def _same_iteration(read: FunctionCfg, dominators: Dominators, before: int, block: int) -> bool:
    """Whether a block that dominates another is executed in the same iteration of the latter's loop."""
    loop = read.loops.innermost[block]
    if loop < 0:
        return True
    header = read.loops.loops[loop].header
    return block != header and dominators.dominates(header, before)


def _code(block: IRBlock, mention: Mention, end: int, lines: FunctionLines) -> _Code:
    """The instructions that belong to a mention of a line, which ends where the next one begins."""
    found: set[tuple[int, str]] = set()
    for match in DBG_ATTACHMENT.finditer(block.text, mention.position, end):
        column = lines.column_of(match.group(1))
        if column and lines.line_of(match.group(1)) == mention.ref:
            opcode = _OPCODE.match(block.text, block.text.rfind("\n", 0, match.start()) + 1)
            if opcode is not None and opcode.group(1) not in _PREPARES:
                found.add((column, opcode.group(2) or opcode.group(1)))
    return frozenset(found)
