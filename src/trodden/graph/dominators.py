"""Dominators.

Lengauer and Tarjan's algorithm with path compression, without recursion: functions with
100,000 nested blocks exist.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import depth_first


@dataclass(frozen=True)
class Dominators:
    """``idom[v]`` is the closest strict dominator of ``v``, -1 for the root and for unreachable vertices."""

    idom: tuple[int, ...]
    _first: tuple[int, ...]
    _last: tuple[int, ...]

    def dominates(self, upper: int, lower: int) -> bool:
        """Whether every path from the root to ``lower`` contains ``upper`` (a block dominates itself)."""
        return 0 <= self._first[upper] <= self._first[lower] <= self._last[upper]

    def preorder(self) -> list[int]:
        """The reachable vertices, each directly before those that it dominates."""
        reachable = (vertex for vertex, first in enumerate(self._first) if first >= 0)
        return sorted(reachable, key=self._first.__getitem__)

    def closest_among(self, vertices: Iterable[int]) -> dict[int, int]:
        """For each of some vertices the closest of the others that dominates it; none if it is not there."""
        found: dict[int, int] = {}
        around: list[int] = []
        for vertex in sorted(vertices, key=lambda each: self._first[each]):
            while around and not self.dominates(around[-1], vertex):
                around.pop()
            if around:
                found[vertex] = around[-1]
            around.append(vertex)
        return found

    def sizes(self) -> list[int]:
        """How many vertices each dominates, itself included; 0 for unreachable vertices."""
        spans = zip(self._first, self._last, strict=True)
        return [last - first + 1 if first >= 0 else 0 for first, last in spans]


def find_dominators(graph: Graph) -> Dominators:
    """The dominator tree of what control can reach from the root."""
    search = depth_first(graph)
    order = search.preorder
    number = search.enter
    parent = [-1] + [number[graph.edges[search.parent_edge[vertex]].src] for vertex in order[1:]]
    semi = list(range(len(order)))
    idom = [-1] * len(order)
    ancestor = [-1] * len(order)
    best = list(range(len(order)))
    bucket: list[list[int]] = [[] for _ in order]
    for vertex in range(len(order) - 1, 0, -1):
        for index in graph.in_edges[order[vertex]]:
            edge = graph.edges[index]
            if edge.kind is EdgeKind.FLOW and number[edge.src] >= 0:
                semi[vertex] = min(semi[vertex], semi[_evaluate(number[edge.src], ancestor, best, semi)])
        bucket[semi[vertex]].append(vertex)
        above = parent[vertex]
        ancestor[vertex] = above
        for pending in bucket[above]:
            low = _evaluate(pending, ancestor, best, semi)
            idom[pending] = low if semi[low] < semi[pending] else above
        bucket[above] = []
    for vertex in range(1, len(order)):
        if idom[vertex] != semi[vertex]:
            idom[vertex] = idom[idom[vertex]]
    return _with_intervals(len(graph.labels), order, idom)


def _evaluate(vertex: int, ancestor: list[int], best: list[int], semi: list[int]) -> int:
    """The vertex with the least semidominator between ``vertex`` and its root in the linked forest."""
    if ancestor[vertex] < 0:
        return vertex
    chain = []
    while ancestor[ancestor[vertex]] >= 0:
        chain.append(vertex)
        vertex = ancestor[vertex]
    top = ancestor[vertex]
    for low in reversed(chain):
        if semi[best[ancestor[low]]] < semi[best[low]]:
            best[low] = best[ancestor[low]]
        ancestor[low] = top
    return best[chain[0]] if chain else best[vertex]


def _with_intervals(vertices: int, order: tuple[int, ...], idom: list[int]) -> Dominators:
    """Number the dominator tree so that a subtree is an interval; all lists are in preorder."""
    size = [1] * len(order)
    for vertex in range(len(order) - 1, 0, -1):
        size[idom[vertex]] += size[vertex]
    first = [0] * len(order)
    free = [1] * len(order)
    for vertex in range(1, len(order)):
        first[vertex] = free[idom[vertex]]
        free[idom[vertex]] += size[vertex]
        free[vertex] = first[vertex] + 1
    result, starts, ends = [-1] * vertices, [-1] * vertices, [-1] * vertices
    for index, vertex in enumerate(order):
        result[vertex] = order[idom[index]] if index else -1
        starts[vertex] = first[index]
        ends[vertex] = first[index] + size[index] - 1
    return Dominators(tuple(result), tuple(starts), tuple(ends))
