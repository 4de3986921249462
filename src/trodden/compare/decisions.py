"""The branches of one function in two runs: the counts of their edges, and how strongly they differ."""

from __future__ import annotations

from functools import cached_property

from trodden.compare.evidence import likelihood_ratio, per_call
from trodden.compare.model import Branching, Shares
from trodden.compare.pairing import Pair
from trodden.graph.cfg import EdgeKind
from trodden.graph.loops import find_loops
from trodden.graph.traverse import depth_first
from trodden.profile.model import Count


class Decisions:
    """The branches of a function whose edges both runs have counted."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._graph = pair.second.facts.graph
        self.entries = pair.first.entries, pair.second.entries
        self._edges_from: dict[int, list[int]] = {}
        self._taken_from: dict[int, tuple[tuple[int, Count, Count], ...]] = {}

    @cached_property
    def order(self) -> dict[int, int]:
        """The reachable blocks with their positions in reverse postorder."""
        return {v: number for number, v in enumerate(reversed(depth_first(self._graph).postorder))}

    @cached_property
    def _outermost(self) -> list[int]:
        """The outermost loop around each block, -1 if there is none."""
        forest = find_loops(self._graph)
        found = []
        for loop in forest.innermost:
            while loop >= 0 and forest.loops[loop].parent >= 0:
                loop = forest.loops[loop].parent
            found.append(loop)
        return found

    def once_a_call(self, edge: int) -> bool:
        """Whether an edge cannot be taken twice in one call: it lies in no loop."""
        src, dst, _ = self._graph.edges[edge]
        return self._outermost[src] < 0 or self._outermost[src] != self._outermost[dst]

    def edges_from(self, block: int) -> list[int]:
        """The edges of the program that leave a block."""
        if block not in self._edges_from:
            edges, leaving = self._graph.edges, self._graph.out_edges[block]
            self._edges_from[block] = [edge for edge in leaving if edges[edge].kind is EdgeKind.FLOW]
        return self._edges_from[block]

    def taken(self, edge: int) -> tuple[Count, Count]:
        """How often each run took an edge."""
        return self._pair.first.edge_counts[edge] or 0, self._pair.second.edge_counts[edge] or 0

    def ran(self, block: int) -> tuple[Count, Count]:
        """How often each run executed a block."""
        return self._pair.first.block_counts[block], self._pair.second.block_counts[block]

    def branching(self, edge: int) -> Branching:
        """The decision for an edge, on whatever path its block was reached."""
        block = self._graph.edges[edge].src
        (a, b), (n, m) = self.taken(edge), self.ran(block)
        if block not in self._taken_from:
            counted = ((each, *self.taken(each)) for each in self.edges_from(block))
            self._taken_from[block] = tuple(each for each in counted if any(each[1:]))
        return Branching(block, edge, Shares(a, n, b, m), self._taken_from[block], along=False)

    def evidence(self, edge: int) -> float:
        """How strongly the counts of an edge speak for a difference.

        An edge that cannot be taken twice in a call is one observation a call, after however many iterations;
        for others see :func:`per_call`.
        """
        (a, b), ran = self.taken(edge), self.ran(self._graph.edges[edge].src)
        if self.once_a_call(edge):
            n, m = (max(min(times, calls), 0) for times, calls in zip(ran, self.entries, strict=True))
            return likelihood_ratio(min(a, n), n, min(b, m), m)
        return likelihood_ratio(a, ran[0], b, ran[1]) * per_call(ran, self.entries)
