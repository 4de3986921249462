"""For a trace, a call that may run code with probes ends its block.

What such a call executes is recorded between what precedes it and what follows it, so a record has to be
complete in front of it (see :mod:`trodden.plan.trace.regions`).  A block is therefore split after each of
them, which costs no code.  A call in tail position is followed by a ``ret`` of its own: its function is left
there.  LLVM makes one anyway.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trodden.native.analysis.block_splits import ends_there, split_blocks
from trodden.native.analysis.call_effects import calls_of
from trodden.native.analysis.tail_calls import TailCalls
from trodden.native.ir.attributes import Attributes
from trodden.native.ir.block import IRBlock
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.instruction import Instruction
from trodden.native.ir.syntax.grammar import LOCAL_USE


def split_at_recording_calls(ir: IRFunction, attributes: Attributes, sites: bool = False) -> IRFunction:
    """The function with a new block after each such call, unless its function is left there.

    ``sites``: only calls matter over which paths may extend.
    """
    ir = _with_own_returns(_with_leading_allocas(ir), attributes)
    calls = [calls_of(block, attributes, True, sites) for block in ir.blocks]
    tail_calls = TailCalls(ir, calls, optimised=True)
    cuts: dict[str, list[int]] = {}
    for block, of_block, final in zip(ir.blocks, calls, tail_calls.by_block, strict=True):
        ends = [call.end + 1 for call in of_block if call.records and call is not final]
        if offsets := [end for end in ends if not ends_there(block, end)]:
            cuts[block.label] = offsets
    return split_blocks(ir, cuts, "trodden.after.") if cuts else ir


def static_allocas(block: IRBlock) -> list[Instruction]:
    """The variables of a first block that are part of the frame."""
    return [
        each
        for each in block.instructions
        if each.opcode == "alloca" and not any(operand.local for operand in each.operands)
    ]


def _with_leading_allocas(ir: IRFunction) -> IRFunction:
    """The function whose variables are all in front of its code.

    Only those in the first block are part of the frame: no branch may be put in front of them.
    """
    first = ir.blocks[0]
    behind = static_allocas(first)
    start = first.insertion_point()
    while behind and behind[0].start == start:
        start = behind.pop(0).end + 1
    if not behind:
        return ir
    pieces, position = [first.text[:start], *(f"{each.text}\n" for each in behind)], start
    for each in behind:
        pieces.append(first.text[position : each.start])
        position = each.end + 1
    text = "".join([*pieces, first.text[position:]])
    moved = IRFunction(ir.symbol, ir.header, [IRBlock.parse(first.label, text), *ir.blocks[1:]])
    # Values without names are numbered in their order.
    names = {each.result: f"%trodden.variable.{number}" for number, each in enumerate(behind)}

    def renamed(use: re.Match[str]) -> str:
        return names.get(use.group(1), use.group())

    return cut_function(f"{ir.header}\n{LOCAL_USE.sub(renamed, moved.body)}\n}}")


def _with_own_returns(ir: IRFunction, attributes: Attributes) -> IRFunction:
    """The function in which each call in tail position has its own ``ret``."""
    calls = [calls_of(block, attributes) for block in ir.blocks]
    tail_calls = TailCalls(ir, calls, optimised=True)
    if not tail_calls.return_blocks:
        return ir
    returning = {block.label: block for block in ir.blocks if block.label in tail_calls.return_blocks}
    left: dict[str, list[str]] = {label: [] for label in returning}
    texts: list[str] = []
    still: set[str] = set()
    for block, final in zip(ir.blocks, tail_calls.by_block, strict=True):
        if final is None or block.opcode != "br":
            texts.append(block.text)
            still.update(block.successors)
            continue
        target = returning[block.successors[0]]
        left[target.label].append(block.label)
        texts.append(block.text[: block.terminator_start] + _return_from(target, block.label))
    kept = [
        _without_arrivals(text, left.get(block.label, ()))
        for block, text in zip(ir.blocks, texts, strict=True)
        if block.label not in left or block.label in still
    ]
    rendered = "\n\n".join(kept)
    return cut_function(f"{ir.header}\n{rendered}\n}}")


def _return_from(target: IRBlock, source: str) -> str:
    """The ``ret`` of a block that only returns, on arrival from one of its predecessors."""
    returned = target.text[target.terminator_start :]
    for phi in target.phis:
        value = next(value for value, label in phi.incoming if label == source)
        prefix, found, rest = returned.partition(f" %{phi.result}")
        if found and (not rest or rest[0] == ","):
            return f"{prefix} {value}{rest}"
    return returned


def _without_arrivals(text: str, labels: Sequence[str]) -> str:
    """The text of a block whose phis no longer know some predecessors."""
    if not labels:
        return text
    block = IRBlock.parse("", text)
    pieces, position = [], 0
    for phi in block.phis:
        incoming = ", ".join(f"[ {value}, %{label} ]" for value, label in phi.incoming if label not in labels)
        pieces.append(text[position : phi.start])
        pieces.append(f"  %{phi.result} = phi {phi.phi_type} {incoming}{phi.attachment_text}")
        position = phi.end
    return "".join([*pieces, text[position:]])
