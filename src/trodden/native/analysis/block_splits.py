"""Blocks of a function divided in two, at given positions of their text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trodden.native.ir.block import IRBlock
from trodden.native.ir.function import IRFunction, cut_function
from trodden.native.ir.rewriting import rename_phis


def split_blocks(ir: IRFunction, cuts: Mapping[str, Sequence[int]], prefix: str) -> IRFunction:
    """The function with its blocks split; ``cuts`` are, by label, where the lines of the new blocks start.

    The new blocks are called ``prefix`` and a number.
    """
    texts: list[str] = []
    renames: dict[str, list[tuple[str, str]]] = {}
    fresh = 0
    for block in ir.blocks:
        start = 0
        last = block.label
        for offset in cuts.get(block.label, ()):
            label_line = f"{last}:\n" if start else ""
            last = f"{prefix}{fresh}"
            fresh += 1
            texts.append(f"{label_line}{block.text[start:offset]}  br label %{last}")
            start = offset
        label_line = f"{last}:\n" if start else ""
        texts.append(f"{label_line}{block.text[start:]}")
        if last != block.label:
            for successor in block.successors:
                renames.setdefault(successor, []).append((block.label, last))
    rendered = "\n\n".join(texts)
    split = cut_function(f"{ir.header}\n{rendered}\n}}")
    split.blocks = [_renamed(block, renames.get(block.label, [])) for block in split.blocks]
    return split


def ends_there(block: IRBlock, offset: int) -> bool:
    """Whether only a branch with a single successor follows, so that nothing is to be split."""
    return offset == block.terminator_start and block.opcode == "br" and len(block.successors) == 1


def _renamed(block: IRBlock, renames: list[tuple[str, str]]) -> IRBlock:
    end = block.insertion_point()
    head = rename_phis(block.text[:end], renames)
    start = block.terminator_start + len(head) - end
    return IRBlock(block.label, head + block.text[end:], start, block.opcode, block.successors)
