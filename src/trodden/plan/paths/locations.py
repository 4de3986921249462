"""Numbers for the places of a function in which control may be found.

An interrupted frame stands at any instruction.  What is told of it through debug information (see
:mod:`trodden.native.lower.debug_locations`) are two numbers: the *place*, which is a block of the graph or an
edge that has got a block of its own; and, at the instructions of a probe, the *mark* of that probe.  Both are
computed from the graph alone, so that who reads them needs no table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from trodden.graph.cfg import Graph

_PROBES = 16
"""How many probes one edge or block can have; marks of further ones are left out."""


class Holder(Enum):
    """What a mark's probe belongs to."""

    EDGE = "edge"
    BLOCK = "block"
    MERGED = "merged"
    CELL = "cell"


@dataclass(frozen=True, slots=True)
class Mark:
    """Probe ``number`` of an edge, of a block, or of a block that tells its edges apart.

    ``CELL``: the store of the path register into the frame's cell, in block ``index``.
    """

    holder: Holder
    index: int
    number: int = 0


@dataclass(frozen=True, slots=True)
class Places:
    """The numbers for one graph."""

    blocks: int
    edges: int

    @staticmethod
    def of(graph: Graph) -> Places:
        """The numbers for a graph."""
        return Places(graph.exit, len(graph.edges))

    def on_edge(self, edge: int) -> int:
        """The place of a block that was put on an edge; a block of the graph is its own place."""
        return self.blocks + edge

    def has(self, place: int) -> bool:
        """Whether a number, read from somewhere, is one of a place."""
        return 0 <= place < self.blocks + self.edges

    def edge_of(self, place: int) -> int | None:
        """The edge whose own block a place is."""
        edge = place - self.blocks
        return edge if 0 <= edge < self.edges else None

    def mark(self, mark: Mark) -> int | None:
        """The number of a mark, never 0."""
        if mark.number >= _PROBES:
            return None
        return 1 + _PROBES * (self._first(mark.holder) + mark.index) + mark.number

    def mark_of(self, code: int) -> Mark | None:
        """The mark that a number stands for."""
        index, number = divmod(code - 1, _PROBES)
        for holder in Holder:
            first = self._first(holder)
            if first <= index < first + self._size(holder):
                return Mark(holder, index - first, number)
        return None

    def _size(self, holder: Holder) -> int:
        return self.edges if holder is Holder.EDGE else self.blocks

    def _first(self, holder: Holder) -> int:
        before = list(Holder).index(holder)
        return 0 if before == 0 else self.edges + (before - 1) * self.blocks
