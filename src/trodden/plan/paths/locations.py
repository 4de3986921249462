"""Numbers for the program locations of a function at which a frame may be interrupted.

An interrupted frame is at any instruction.  Debug information (see
:mod:`trodden.native.lower.debug_locations`) maps that instruction to two numbers: the *location*, which is a
block of the graph or the block that splits an edge; and, at the instructions of a probe, the *mark* of that
probe.  Both are computed from the graph alone, so that reading them takes no table.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from trodden.graph.cfg import Graph

_PROBES = 16
"""How many probes of one edge or block can have marks; those of further ones are left out.

Part of the format, as the values of :class:`Holder` are.
"""


class Holder(Enum):
    """What the probe of a mark belongs to.

    The values are part of a format: the numbers of marks, which follow from them, are in the debug
    information of programs that were built already.  None of them may change, and a new holder comes last.
    """

    EDGE = 0
    BLOCK = 1
    MERGED = 2
    SLOT = 3
    UPKEEP = 4


@dataclass(frozen=True, slots=True)
class Mark:
    """Probe ``number`` of an edge, of a block, or of a block that distinguishes its in-edges by a phi.

    ``SLOT``: the store of the path register into the frame's stack slot, in block ``index``.  ``UPKEEP``:
    other code that was added to the program, such as what computes the path register or finds the counters;
    it completes no probe and has one mark, with the index 0.
    """

    holder: Holder
    index: int
    number: int = 0


@dataclass(frozen=True, slots=True)
class Locations:
    """The numbers for one graph."""

    blocks: int
    edges: int

    @staticmethod
    def of(graph: Graph) -> Locations:
        """The numbers for a graph."""
        return Locations(graph.exit, len(graph.edges))

    def on_edge(self, edge: int) -> int:
        """The location of the block that splits an edge; the location of any other block is its number."""
        return self.blocks + edge

    def has(self, location: int) -> bool:
        """Whether a number that was read is one of a location."""
        return 0 <= location < self.blocks + self.edges

    def edge_of(self, location: int) -> int | None:
        """The edge that is split by the block at a location."""
        edge = location - self.blocks
        return edge if 0 <= edge < self.edges else None

    def mark(self, mark: Mark) -> int | None:
        """The number of a mark, never 0."""
        if mark.number >= _PROBES:
            return None
        return 1 + _PROBES * (self._first(mark.holder) + mark.index) + mark.number

    def mark_of(self, code: int) -> Mark | None:
        """The mark that has a number."""
        index, number = divmod(code - 1, _PROBES)
        for holder in Holder:
            first = self._first(holder)
            if first <= index < first + self._size(holder):
                return Mark(holder, index - first, number)
        return None

    def _size(self, holder: Holder) -> int:
        return self.edges if holder is Holder.EDGE else self.blocks

    def _first(self, holder: Holder) -> int:
        """The numbers of edges come first, then those of the blocks, once for each other holder."""
        return 0 if holder is Holder.EDGE else self.edges + (holder.value - 1) * self.blocks
