"""A call that returns twice ends its block.

setjmp returns when it is called, and once more after every longjmp to it: what follows it runs more often
than what precedes it.  So the block is split there, and each half has a count of its own.  How often control
resumed is known from the runtime (BL94 §3.2); the split itself costs no code.
"""

from __future__ import annotations

from trodden.native.analysis.call_effects import calls_of
from trodden.native.ir.attributes import Attributes
from trodden.native.ir.block import IRBlock
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.rewriting import rename_phis


def split_at_returns_twice(ir: IRFunction, attributes: Attributes) -> IRFunction:
    """The function with a new block after each such call, so that a single edge follows it."""
    if not attributes.mention("returns_twice"):
        return ir
    cuts = {
        block.label: offsets
        for block in ir.blocks
        if (offsets := [end for end in _call_ends(block, attributes) if not _ends_there(block, end)])
    }
    if not cuts:
        return ir
    texts: list[str] = []
    renames: dict[str, list[tuple[str, str]]] = {}
    fresh = 0
    for block in ir.blocks:
        start = 0
        last = block.label
        for offset in cuts.get(block.label, ()):
            last = f"trodden.again.{fresh}"
            fresh += 1
            texts.append(f"{_label_line(start, fresh - 2)}{block.text[start:offset]}  br label %{last}")
            start = offset
        texts.append(f"{_label_line(start, fresh - 1)}{block.text[start:]}")
        if last != block.label:
            for successor in block.successors:
                renames.setdefault(successor, []).append((block.label, last))
    rendered = "\n\n".join(texts)
    split = cut_function(f"{ir.header}\n{rendered}\n}}")
    split.blocks = [_renamed(block, renames.get(block.label, [])) for block in split.blocks]
    return split


def _call_ends(block: IRBlock, attributes: Attributes) -> list[int]:
    """Where the lines after calls that return twice start."""
    return [call.end + 1 for call in calls_of(block, attributes) if call.returns_twice]


def _ends_there(block: IRBlock, offset: int) -> bool:
    """Whether only a branch with a single successor follows, so that nothing is to be split."""
    return offset == block.terminator_start and block.opcode == "br" and len(block.successors) == 1


def _label_line(start: int, number: int) -> str:
    """The label line of a block that starts in the middle of another."""
    return f"trodden.again.{number}:\n" if start else ""


def _renamed(block: IRBlock, renames: list[tuple[str, str]]) -> IRBlock:
    end = block.insertion_point()
    head = rename_phis(block.text[:end], renames)
    start = block.terminator_start + len(head) - end
    return IRBlock(block.label, head + block.text[end:], start, block.opcode, block.successors)
