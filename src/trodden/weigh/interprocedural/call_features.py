"""What only a look at the whole program tells of its calls (WL94 §8 asks for a deeper look).

Two things: whether a call means trouble (:mod:`trodden.weigh.interprocedural.traits`), and from how many
places the same function is called.  What is called from many places, each time under some condition, is more
often there for what seldom happens: growing a buffer, collecting garbage, giving up.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from trodden.weigh.features.clues import BlockClues, FunctionClues
from trodden.weigh.interprocedural.callgraph import Known, Symbols
from trodden.weigh.interprocedural.traits import with_traits


def foreseen(functions: Sequence[Known]) -> list[FunctionClues]:
    """The clues of all functions of a program, their calls with what is known of what is called."""
    resolve = Symbols(functions)
    sites: Counter[int | None] = Counter(
        callee
        for known in functions
        for block in known.clues.blocks
        for call in block.calls
        if (callee := resolve(known.unit, call.callee)) is not None
    )
    counted = [
        replace(
            known,
            clues=replace(
                known.clues,
                blocks=tuple(_block(block, known.unit, resolve, sites) for block in known.clues.blocks),
            ),
        )
        for known in functions
    ]
    return with_traits(counted)


def _block(block: BlockClues, unit: int, resolve: Symbols, sites: Counter[int | None]) -> BlockClues:
    if not block.calls:
        return block
    calls = (replace(call, sites=sites[resolve(unit, call.callee)]) for call in block.calls)
    return replace(block, calls=tuple(calls))
