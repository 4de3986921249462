"""A call that returns twice ends its block.

setjmp returns when it is called, and again after every longjmp that comes back to it: what stands behind it
runs more often than what stands before it.  So the block is cut there, and each half has a count of its
own.  How often control came back is known from the runtime (BL94 §3.2); the cut itself costs no code.
"""

from __future__ import annotations

from trodden.native.analysis.call_effects import Attributes
from trodden.native.ir.block import IRBlock
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.rewriting import rename_phis


def cut_where_calls_return_twice(ir: IRFunction, attributes: Attributes) -> IRFunction:
    """The function with a new block behind each such call, so that a single edge leads on from it."""
    cuts = {
        block.label: places
        for block in ir.blocks
        if (places := [place for place in _behind(block, attributes) if not _leads_on(block, place)])
    }
    if not cuts:
        return ir
    texts: list[str] = []
    renames: dict[str, list[tuple[str, str]]] = {}
    fresh = 0
    for block in ir.blocks:
        start = 0
        last = block.label
        for place in cuts.get(block.label, ()):
            last = f"trodden.again.{fresh}"
            fresh += 1
            texts.append(f"{_opening(start, fresh - 2)}{block.text[start:place]}  br label %{last}")
            start = place
        texts.append(f"{_opening(start, fresh - 1)}{block.text[start:]}")
        if last != block.label:
            for target in block.successors:
                renames.setdefault(target, []).append((block.label, last))
    rendered = "\n\n".join(texts)
    again = cut_function(f"{ir.header}\n{rendered}\n}}")
    again.blocks = [_renamed(block, renames.get(block.label, [])) for block in again.blocks]
    return again


def _behind(block: IRBlock, attributes: Attributes) -> list[int]:
    return [call.end + 1 for call in attributes.calls(block) if call.returns_twice]


def _leads_on(block: IRBlock, place: int) -> bool:
    """Whether a single edge leads on from a place as it is."""
    return place == block.terminator_start and block.opcode == "br" and len(block.successors) == 1


def _opening(start: int, number: int) -> str:
    """The label line of a block that starts in the middle of another."""
    return f"trodden.again.{number}:\n" if start else ""


def _renamed(block: IRBlock, renames: list[tuple[str, str]]) -> IRBlock:
    end = block.insertion_point()
    head = rename_phis(block.text[:end], renames)
    grown = len(head) - end
    return IRBlock(
        block.label, head + block.text[end:], block.terminator_start + grown, block.opcode, block.successors
    )
