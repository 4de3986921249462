"""Directed cycles and diamonds within a set of edges (BL94 §2): the cycles that tracing has to break.

A diamond is a simple cycle of two directed paths from its fork to its join.  It has more than two edges;
*strictly*, two parallel edges are one as well.  Where there is no directed cycle, a diamond is all that can
give two vertices two different paths from one to the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from trodden.graph.cfg import Graph
from trodden.graph.cycles import biconnected_components


def directed_cycle(graph: Graph, edges: Iterable[int]) -> list[int] | None:
    """The edges of a directed cycle within ``edges``, if there is one; linear time."""
    onward: dict[int, list[int]] = {}
    for index in edges:
        onward.setdefault(graph.edges[index].src, []).append(index)
    finished: dict[int, bool] = {}
    for start in onward:
        if start in finished:
            continue
        finished[start] = False
        arrived: list[int] = []
        work = [(start, iter(onward[start]))]
        while work:
            vertex, remaining = work[-1]
            for index in remaining:
                target = graph.edges[index].dst
                if target not in finished:
                    finished[target] = False
                    arrived.append(index)
                    work.append((target, iter(onward.get(target, ()))))
                    break
                if not finished[target]:
                    above = next(place for place, (v, _) in enumerate(work) if v == target)
                    return [*arrived[above:], index]
            else:
                finished[vertex] = True
                work.pop()
                if arrived:
                    arrived.pop()
    return None


def diamonds(graph: Graph, edges: Iterable[int], strict: bool = False) -> Iterator[list[int]]:
    """Diamonds within ``edges``, which have no directed cycle: one at least, if there are any.

    A diamond is within one biconnected component, so where no undirected cycle is, that takes linear time.
    Otherwise each fork of a component is the start of a search that stops at the first vertex it reaches
    twice.
    """
    for component in biconnected_components(graph, edges):
        onward: dict[int, list[int]] = {}
        taken = set()
        for index in component:
            ends = graph.edges[index].src, graph.edges[index].dst
            if strict or ends not in taken:
                taken.add(ends)
                onward.setdefault(ends[0], []).append(index)
        for fork, leaving in onward.items():
            if len(leaving) > 1 and (found := _diamond_from(graph, onward, fork)):
                yield found


def _diamond_from(graph: Graph, onward: dict[int, list[int]], fork: int) -> list[int] | None:
    """A diamond that can be reached from a vertex."""
    arrival: dict[int, int] = {}
    work = [fork]
    for vertex in work:
        for index in onward.get(vertex, ()):
            target = graph.edges[index].dst
            if target in arrival:
                first = _path_to(graph, arrival, target, fork)
                second = [*_path_to(graph, arrival, vertex, fork), index]
                common = 0
                while first[common] == second[common]:
                    common += 1
                return [*first[common:], *second[common:]]
            arrival[target] = index
            work.append(target)
    return None


def _path_to(graph: Graph, arrival: dict[int, int], vertex: int, start: int) -> Sequence[int]:
    path = []
    while vertex != start:
        path.append(arrival[vertex])
        vertex = graph.edges[arrival[vertex]].src
    return path[::-1]
