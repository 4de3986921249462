"""Taking apart the flow of executions that have not been counted as paths yet.

A path is counted when it ends (BL96 §3.4).  Where each edge has a counter of its own as well, the executions
that were under way show up as an *excess*: edges that were taken more often than the counted paths say.
Without the edges that end paths the graph is acyclic, so that the excess is a flow on an acyclic graph.  It
is split into walks: first those that ended, followed backwards from the edge on which they did
(:func:`walks_that_ended`); then those that were cut short, followed forwards from where they had started
(:func:`walks_cut_short`).

Both use up the whole excess if at every block no more of it leaves than arrives there or starts there, for
then an execution that reaches a block always finds an edge as long as any is left, and one that leaves it
has arrived.  Taking a walk away changes nothing about that.  Ended walks come first because an end is
certain: whatever remains without an end has none.

Where several walks meet in a block, more than one decomposition is possible.  All of them have the same
edges, and as many executions end, or are cut short, in each block; they differ only in which beginning is
joined with which continuation.  The choice is the first edge in the order of the graph, and the longest
beginning.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from trodden.graph.cfg import Graph

Spend = Callable[[int], None]
"""Receives the length of each walk, so that the work for an untrusted file can be bounded."""


@dataclass(frozen=True, slots=True)
class Walk:
    """``times`` executions that left ``block`` and took ``edges``."""

    block: int
    edges: tuple[int, ...]
    times: int


class Excess:
    """An excess from which walks are taken; ``left`` is what remains, by edge."""

    def __init__(self, graph: Graph, excess: Mapping[int, int]) -> None:
        self.left = {edge: times for edge, times in excess.items() if times > 0}
        self._graph = graph
        self._position: dict[tuple[bool, int], int] = {}

    def leaving(self, block: int) -> int | None:
        """The first edge out of a block that has any excess left."""
        return self._first(True, block, self._graph.out_edges[block])

    def entering(self, block: int) -> int | None:
        """The first edge into a block that has any excess left."""
        return self._first(False, block, self._graph.in_edges[block])

    def _first(self, out: bool, block: int, edges: Sequence[int]) -> int | None:
        # What is left never grows, so that no edge need be looked at again once it has nothing.
        position = self._position.get((out, block), 0)
        while position < len(edges) and self.left.get(edges[position], 0) <= 0:
            position += 1
        self._position[out, block] = position
        return edges[position] if position < len(edges) else None

    def take(self, edges: Iterable[int], times: int) -> None:
        """Take a walk away."""
        for edge in edges:
            self.left[edge] -= times


def walks_that_ended(
    graph: Graph, excess: Mapping[int, int], ends: Collection[int], spend: Spend = lambda steps: None
) -> tuple[list[Walk], dict[int, int]]:
    """A walk for each execution that took an edge of ``ends``, and the excess that is left without them.

    Each walk uses up the excess of one of its edges, so that there are no more walks than edges.
    """
    inner = Excess(graph, {edge: times for edge, times in excess.items() if edge not in ends})
    found: list[Walk] = []
    for last in (edge for edge in excess if edge in ends):
        left = excess[last]
        while left > 0:
            edges, times = [last], left
            while (edge := inner.entering(graph.edges[edges[-1]].src)) is not None:
                edges.append(edge)
                times = min(times, inner.left[edge])
            inner.take(edges[1:], times)
            spend(len(edges))
            found.append(Walk(graph.edges[edges[-1]].src, tuple(reversed(edges)), times))
            left -= times
    return found, inner.left


def walks_cut_short(
    graph: Graph,
    excess: Mapping[int, int],
    starts: Iterable[tuple[int, int]],
    spend: Spend = lambda steps: None,
) -> list[Walk]:
    """The walks of executions that ended nowhere; ``starts`` are blocks, with how many started there.

    A walk continues as long as any excess leaves its block.  It uses up its start, or the excess of one of
    its edges, so that there are no more walks than starts and edges together.
    """
    inner = Excess(graph, excess)
    found: list[Walk] = []
    for start, number in starts:
        left = number
        while left > 0:
            edges: list[int] = []
            block, times = start, left
            while (edge := inner.leaving(block)) is not None:
                edges.append(edge)
                times = min(times, inner.left[edge])
                block = graph.edges[edge].dst
            inner.take(edges, times)
            spend(len(edges) + 1)
            found.append(Walk(start, tuple(edges), times))
            left -= times
    return found
