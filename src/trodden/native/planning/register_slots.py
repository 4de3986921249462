"""In which blocks a frame has to keep its path register in a stack slot, and where that is cheapest."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.plan.paths.path_register import UNSET, Register

SAVED_AND_RESTORED = 2.0
"""How many instructions a register costs that a function has to save for its caller."""

RARE_BESIDE = 50.0
"""How much more often the hottest block runs than one in which a call is rare.

Of 4, 20, 50 and 200 it was best on bzip2, Lua and espresso, which the others made up to 5% slower.
"""


def blocks_that_may_be_cut_short(read: FunctionCfg) -> frozenset[int]:
    """The blocks in which a call may not return while a path is active, so that the path may be cut short."""
    return frozenset(
        block
        for block, tail_call in enumerate(read.tail_calls.by_block)
        if read.ir.blocks[block].opcode in ("invoke", "callbr")
        or any(
            call.may_not_return and call is not tail_call and not call.returns_twice
            for call in read.calls[block]
        )
    )


def reloaded_blocks(
    read: FunctionCfg, register: Register, ambiguous: Collection[int], weights: Sequence[float]
) -> frozenset[int]:
    """The blocks in which the register is loaded from the stack slot after a call.

    It is stored there anyway; keeping it in a machine register across the calls as well would cost the
    function a callee-saved register that it has to save and restore, and that its hottest loops may lack.
    That is cheaper only where such calls are frequent.
    """
    frequency = block_frequencies(read, weights)
    unknown = [v for v in ambiguous if (register.at[v] or UNSET).base is not None]
    total = sum(frequency[v] for v in unknown)
    if total <= SAVED_AND_RESTORED * frequency[read.graph.root]:
        return frozenset(unknown)
    return frozenset(v for v in unknown if RARE_BESIDE * frequency[v] <= max(frequency))


def block_frequencies(read: FunctionCfg, weights: Sequence[float]) -> list[float]:
    """How often each block is expected to run."""
    frequency = [0.0] * len(read.graph.labels)
    for edge, weight in zip(read.graph.edges, weights, strict=True):
        frequency[edge.dst] += weight
    return frequency
