"""Calls in tail position, whose caller's frame may be gone before the callee runs.

Whatever is put behind such a call takes the tail call away, and with it the stack that a deep
recursion does not need.  So nothing is: the edges that follow are counted before the call, and a
function that hands its frame over counts as left.  A call is in tail position too when only a block follows
that returns; LLVM copies that block's return up to the call, unless something else is in it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from trodden.native.analysis.call_effects import Call
from trodden.native.ir.block import IRBlock
from trodden.native.ir.function import IRFunction
from trodden.native.ir.grammar import NAME

_HARMLESS = r"    #dbg.*\n|  (?:tail )?call void @llvm\.lifetime\.end.*\n"
_RETURNS = re.compile(rf"(?:{NAME}:.*\n)?(?:  %{NAME} = phi .*\n|{_HARMLESS})*  ret ")
_LOADS = rf"  %{NAME} = (?:phi|load(?! volatile)) [^@\n]*\n"
_RETURNS_EARLY = re.compile(rf"(?:{NAME}:.*\n)?(?:{_LOADS}|{_HARMLESS})*  ret ")


class Tails:
    """The final calls of a function's blocks, and the blocks that only return to whoever is next."""

    def __init__(self, ir: IRFunction, calls: Sequence[Sequence[Call]], optimised: bool) -> None:
        self._optimised = optimised
        returns = _RETURNS if optimised else _RETURNS_EARLY
        only = {b.label for b in ir.blocks if b.opcode == "ret" and returns.match(b.text)}
        self.final: list[Call | None] = [
            self._final(block, of_block, only) for block, of_block in zip(ir.blocks, calls, strict=True)
        ]
        self.handed_to = {
            block.successors[0]
            for block, final in zip(ir.blocks, self.final, strict=True)
            if final is not None and block.opcode == "br"
        }

    def _final(self, block: IRBlock, calls: Sequence[Call], returning: set[str]) -> Call | None:
        if not calls:
            return None
        last = calls[-1]
        if block.opcode == "unreachable":
            return last if last.ends(block) else None
        goes = block.opcode == "ret" or (
            block.opcode == "br" and len(block.successors) == 1 and block.successors[0] in returning
        )
        marked = last.tail in ("tail", "musttail") if self._optimised else last.tail != "notail"
        return last if goes and marked and last.ends(block, self._optimised) else None
