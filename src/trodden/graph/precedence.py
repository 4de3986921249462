"""Is a block always preceded, in the same iteration of its loop, by another one of the same kind?"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from trodden.graph.dominators import Dominators
from trodden.graph.loops import LoopForest


class Preceding:
    """Some blocks of a function, such as those that hold parts of a line or of inlined code."""

    def __init__(self, blocks: Iterable[int], dominators: Dominators, loops: LoopForest) -> None:
        self._blocks = blocks
        self._dominators, self._loops = dominators, loops

    @cached_property
    def _above(self) -> dict[int, int]:
        """For each block the closest of the others that dominates it, if any does."""
        return self._dominators.closest_among(self._blocks)

    def precede(self, block: int) -> bool:
        """Whether another of the blocks, in the same iteration of the innermost loop, dominates it."""
        above, loop = self._above.get(block), self._loops.innermost[block]
        if above is None or loop < 0:
            return above is not None
        header = self._loops.loops[loop].header
        return block != header and self._dominators.dominates(header, above)
