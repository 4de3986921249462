"""The fewest walks that reach given blocks of an acyclic graph.

Given are blocks that walks must have reached, blocks where walks may have started, and blocks that walks can
have reached only so many times.  The walks themselves are to be found.  They are a flow with bounds: from the
sources along the edges, at least one unit through each of the given blocks, no more through a block than it
has room for, and an end anywhere.  One walk may reach many of the blocks, and one source may lead to several
of them.  Therefore a walk for each block by itself could use up a source that another block depends on.

The given blocks are added one after the other.  For each, a search against the direction of the edges finds
how one more unit of flow can get there: from a walk that ends in another block and is made longer, from
a source, or from the entry.  The search is that of the residual graph (Ford and Fulkerson): flow may also be
taken back from an edge, if the target of that edge can be supplied otherwise.  The entry is used only if
nothing else is found.  This is a minimum-cost flow, by shortest augmenting paths, where an entry costs 1 and
everything else nothing.  So the number of entries is the least possible, and a block for which no supply is
found cannot have been reached together with those before it.

Each search takes linear time at most.  If the blocks are given in topological order, the end of another walk
is usually near, and blocks that follow each other take linear time together.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from trodden.graph.cfg import Graph

_Node = tuple[int, bool]
"""A block, where control arrives in it (``False``) or where it continues from there (``True``)."""

_Step = tuple[_Node, int]
"""A step from a node: along an edge, back along it, or between the two nodes of a block (-1)."""


@dataclass
class Cover:
    """Walks along ``edges``, which form no cycle.

    ``sources`` are how many walks may start in a block without arriving there; ``room`` is how many can
    arrive in a block, any number where it is not given.  ``spend`` receives the number of edges that each
    search looks at.  The results are ``taken``, by edge, and ``entries``, how many walks start with an
    arrival in the root block.
    """

    graph: Graph
    edges: Collection[int]
    sources: Mapping[int, int]
    room: Mapping[int, int]
    spend: Callable[[int], None] = lambda steps: None
    taken: Counter[int] = field(default_factory=Counter)
    entries: int = 0
    _used: Counter[int] = field(default_factory=Counter)
    _arrivals: Counter[int] = field(default_factory=Counter)
    _ends: Counter[int] = field(default_factory=Counter)
    _required: set[int] = field(default_factory=set)

    def require(self, blocks: Iterable[int]) -> list[int]:
        """Let walks reach all these blocks; returns those that none can reach."""
        unreachable = []
        for block in blocks:
            if not self._arrivals[block]:
                steps = self._search(block)
                if steps is None:
                    unreachable.append(block)
                    continue
                self._augment(block, steps)
            self._required.add(block)
        return unreachable

    def continue_from(self, block: int, edges: Iterable[int]) -> None:
        """Let one of the walks that end in a block take the first of some edges whose target admits it.

        If walks reach the block and none ends there, they have taken such an edge already.
        """
        if not self._ends[block]:
            return
        for edge in edges:
            target = self.graph.edges[edge].dst
            if self._admits(target):
                self.taken[edge] += 1
                self._arrivals[target] += 1
                self._ends[block] -= 1
                self._ends[target] += 1
                return

    def _search(self, block: int) -> list[_Step] | None:
        """The steps by which one more unit of flow arrives in a block; empty if it is entered there."""
        if not self._admits(block):
            return None
        onward: dict[_Node, _Step | None] = {(block, False): None}
        work, start, seen = [(block, False)], (self.graph.root, False), 0
        for node in work:
            vertex, leaving = node
            if leaving and (self._ends[vertex] or self._used[vertex] < self.sources.get(vertex, 0)):
                start = node
                break
            seen += len((self.graph.out_edges if leaving else self.graph.in_edges)[vertex]) + 1
            for before, edge in self._supplying(vertex, leaving):
                if before not in onward:
                    onward[before] = node, edge
                    work.append(before)
        self.spend(seen)
        if start not in onward:
            return None
        steps: list[_Step] = []
        node = start
        while (step := onward[node]) is not None:
            steps.append((node, step[1]))
            node = step[0]
        return steps

    def _admits(self, block: int) -> bool:
        return block not in self.room or self._arrivals[block] < self.room[block]

    def _supplying(self, vertex: int, leaving: bool) -> Iterator[_Step]:
        """The nodes from which one more unit of flow may get to a node, and how."""
        edges = self.graph.edges
        if leaving:
            if self._admits(vertex):
                yield (vertex, False), -1
            for edge in self.graph.out_edges[vertex]:
                if self.taken[edge]:
                    yield (edges[edge].dst, False), edge
        else:
            if self._arrivals[vertex] > (vertex in self._required):
                yield (vertex, True), -1
            for edge in self.graph.in_edges[vertex]:
                if edge in self.edges:
                    yield (edges[edge].src, True), edge

    def _augment(self, block: int, steps: list[_Step]) -> None:
        """Add the unit of flow that a search has found; its walk ends in the block."""
        first, leaving = steps[0][0] if steps else (block, False)
        if not leaving:
            self.entries += 1
        elif self._ends[first]:
            self._ends[first] -= 1
        else:
            self._used[first] += 1
        for (vertex, continues), edge in steps:
            if edge < 0:
                self._arrivals[vertex] += -1 if continues else 1
            else:
                self.taken[edge] += 1 if continues else -1
        self._arrivals[block] += 1
        self._ends[block] += 1
