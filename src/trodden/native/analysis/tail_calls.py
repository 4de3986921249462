"""Calls in tail position, whose caller's frame may be gone before the callee runs.

Code inserted after such a call makes it an ordinary call, and a deep recursion then needs the
stack that it did without.  So nothing is inserted there: the edges that follow are counted before the call,
and a function that hands its frame over counts as left.  A call is in tail position too if the only
successor of its block does nothing but return: LLVM duplicates that return after the call, unless the block
has other code.
"""

from __future__ import annotations

from collections.abc import Sequence

from trodden.native.analysis.call_effects import Call, is_lifetime_end
from trodden.native.ir.block import IRBlock
from trodden.native.ir.function import IRFunction
from trodden.native.ir.instruction import Instruction


class TailCalls:
    """The calls in tail position.

    ``by_block`` has the one of each block, if there is one; a last call before ``unreachable`` counts as
    such, if ``dead_ends`` do.  ``return_blocks`` are the labels of the blocks that only return, after calls
    in other blocks.
    """

    def __init__(
        self, ir: IRFunction, calls: Sequence[Sequence[Call]], optimised: bool, dead_ends: bool = True
    ) -> None:
        self._optimised, self._dead_ends = optimised, dead_ends
        returning = {block.label for block in ir.blocks if self._only_returns(block)}
        self.by_block: list[Call | None] = [
            self._tail_call(block, of_block, returning)
            for block, of_block in zip(ir.blocks, calls, strict=True)
        ]
        self.return_blocks = {
            block.successors[0]
            for block, call in zip(ir.blocks, self.by_block, strict=True)
            if call is not None and block.opcode == "br"
        }

    def _only_returns(self, block: IRBlock) -> bool:
        """Whether a block has no code but its ``ret``."""
        return block.opcode == "ret" and all(map(self._is_no_code, block.instructions[:-1]))

    def _is_no_code(self, instruction: Instruction) -> bool:
        """Phis, ends of lifetimes and, not yet optimised, loads of the variable that is returned."""
        if self._optimised:
            return instruction.is_phi or is_lifetime_end(instruction)
        if instruction.opcode == "load" and instruction.is_volatile:
            return False
        if instruction.opcode in ("phi", "load"):
            return not instruction.names_global
        return is_lifetime_end(instruction)

    def _tail_call(self, block: IRBlock, calls: Sequence[Call], returning: set[str]) -> Call | None:
        if not calls:
            return None
        last = calls[-1]
        if block.opcode == "unreachable":
            return last if self._dead_ends and last.precedes_terminator(block) else None
        returns = block.opcode == "ret" or (
            block.opcode == "br" and len(block.successors) == 1 and block.successors[0] in returning
        )
        marked = last.tail in ("tail", "musttail") if self._optimised else last.tail != "notail"
        return last if returns and marked and last.precedes_terminator(block, self._optimised) else None
