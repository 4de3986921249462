"""A call that returns twice ends its block.

setjmp returns when it is called, and once more after every longjmp to it: what follows it runs more often
than what precedes it.  So the block is split there, and each half has a count of its own.  How often control
resumed is known from the runtime (BL94 §3.2); the split itself costs no code.
"""

from __future__ import annotations

from trodden.native.analysis.block_splits import ends_there, split_blocks
from trodden.native.analysis.call_effects import calls_of
from trodden.native.ir.attributes import Attributes
from trodden.native.ir.block import IRBlock
from trodden.native.ir.function import IRFunction


def split_at_returns_twice(ir: IRFunction, attributes: Attributes) -> IRFunction:
    """The function with a new block after each such call, so that a single edge follows it."""
    if not attributes.mention("returns_twice"):
        return ir
    cuts = {
        block.label: offsets
        for block in ir.blocks
        if (offsets := [end for end in _call_ends(block, attributes) if not ends_there(block, end)])
    }
    return split_blocks(ir, cuts, "trodden.again.") if cuts else ir


def _call_ends(block: IRBlock, attributes: Attributes) -> list[int]:
    """Where the lines after calls that return twice start."""
    return [call.end + 1 for call in calls_of(block, attributes) if call.returns_twice]
