"""Features of calls that depend on the whole program (WL94 §8 asks for interprocedural evidence).

There are two: whether a call reports an error or does not return
(:mod:`trodden.weigh.interprocedural.traits`), and how many call sites its callee has.  A function with many
call sites, each of them conditional, is more often for something rare: growing a buffer, collecting garbage,
aborting.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from trodden.weigh.features.block_features import BlockFeatures, FunctionFeatures
from trodden.weigh.interprocedural.callgraph import KnownFunction, Symbols
from trodden.weigh.interprocedural.traits import with_traits


def with_call_features(functions: Sequence[KnownFunction]) -> list[FunctionFeatures]:
    """The features of all functions of a program, with those of their calls that depend on the callee."""
    resolve = Symbols(functions)
    sites: Counter[int | None] = Counter(
        callee
        for known in functions
        for block in known.features.blocks
        for call in block.calls
        if (callee := resolve(known.unit, call.callee)) is not None
    )
    counted = [
        replace(
            known,
            features=replace(
                known.features,
                blocks=tuple(_block(block, known.unit, resolve, sites) for block in known.features.blocks),
            ),
        )
        for known in functions
    ]
    return with_traits(counted)


def _block(block: BlockFeatures, unit: int, resolve: Symbols, sites: Counter[int | None]) -> BlockFeatures:
    if not block.calls:
        return block
    calls = (replace(call, sites=sites[resolve(unit, call.callee)]) for call in block.calls)
    return replace(block, calls=tuple(calls))
