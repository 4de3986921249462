"""What is recorded of each block of a function: its lines, how it ends, its size."""

from __future__ import annotations

from bisect import bisect_left
from operator import attrgetter

from trodden.native.analysis.added_lines import added_lines
from trodden.native.analysis.call_effects import Call
from trodden.native.analysis.copied_lines import copied_lines
from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.analysis.tested_at import column_of_test, tested_at
from trodden.native.ir.block import IRBlock
from trodden.native.ir.debug_info import FunctionLines, Mention
from trodden.program.facts import BlockFacts, BranchKind, LineRef

_KINDS = {
    "switch": BranchKind.SWITCH,
    "indirectbr": BranchKind.INDIRECT,
    "callbr": BranchKind.INDIRECT,
    "invoke": BranchKind.CALL,
    "ret": BranchKind.RETURN,
    "unreachable": BranchKind.DEAD_END,
    "resume": BranchKind.UNWIND,
    "cleanupret": BranchKind.UNWIND,
    "catchswitch": BranchKind.UNWIND,
}


def block_facts(read: FunctionCfg, lines: FunctionLines, optimised: bool) -> tuple[BlockFacts, ...]:
    """Lines, kind and size of each block."""
    branches: list[LineRef | None] = []
    mentions: list[list[Mention]] = []
    blocks = {block.label: block for block in read.ir.blocks}
    for block in read.ir.blocks:
        # Inlined instances are numbered in the order of these two calls.
        branches.append(tested_at(block, blocks, lines, optimised))
        mentions.append(lines.mentions_in(block.text))
    added = added_lines(read.ir.blocks, mentions, lines, optimised)
    copied = copied_lines(read, mentions, lines) if optimised else [()] * len(mentions)
    columns = [column_of_test(block, branches[v], lines) for v, block in enumerate(read.ir.blocks)]
    return tuple(
        _facts(block, read.calls[v], branches[v], mentions[v], added[v], columns[v], copied[v])
        for v, block in enumerate(read.ir.blocks)
    )


def _facts(
    block: IRBlock,
    calls: list[Call],
    branch: LineRef | None,
    mentions: list[Mention],
    added: tuple[int, ...],
    column: int,
    copied: tuple[int, ...],
) -> BlockFacts:
    kind = _KINDS.get(block.opcode, BranchKind.JUMP)
    if block.opcode == "br" and len(block.successors) > 1:
        kind = BranchKind.IF
    return BlockFacts(
        tuple(mention.ref for mention in mentions),
        branch,
        kind,
        sum(call.may_not_return for call in calls),
        block.size,
        block.silent,
        tuple(
            bisect_left(mentions, call.end, key=attrgetter("position")) - 1
            for call in calls
            if call.needs_site
        ),
        added,
        column,
        copied,
    )
