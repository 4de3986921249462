"""Loops inside loops on any graph, found from the inside out.

A loop that has been found shrinks to its entry, so no vertex is looked at once per level.  Where a loop
can be entered beside its entry (irreducible graphs), that entry still stands for all of it, and the ways in
beside it count as ways to the entry from then on.  So every cycle of a graph passes the entry of some loop
and otherwise only what lies in that loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import DepthFirst
from trodden.graph.unionfind import UnionFind


@dataclass(frozen=True)
class Collapsed:
    """One loop: what lies directly in it, the entries of inner loops standing for those, its own left out.

    ``proper`` says that it cannot be entered but through its entry.
    """

    header: int
    body: tuple[int, ...]
    proper: bool


def back_edges_by_header(graph: Graph, search: DepthFirst) -> dict[int, list[int]]:
    """The back edges to each entry, entries in the order in which the search meets them."""
    latches: dict[int, list[int]] = {}
    for index in sorted(search.back_edges):
        latches.setdefault(graph.edges[index].dst, []).append(index)
    return dict(sorted(latches.items(), key=lambda item: search.enter[item[0]]))


def collapse(graph: Graph, search: DepthFirst, latches: Mapping[int, Sequence[int]]) -> list[Collapsed]:
    """All loops, in the order of ``latches``: a loop comes after those around it."""
    edges, enter, leave = graph.edges, search.enter, search.leave
    sets = UnionFind(len(graph.labels))
    beside: dict[int, set[int]] = {}
    found = []
    for header in reversed(list(latches)):
        first, last = enter[header], leave[header]
        work = [sets.find(edges[index].src) for index in latches[header]]
        body: set[int] = set()
        outside: set[int] = set()
        while work:
            vertex = work.pop()
            if vertex == header or vertex in body:
                continue
            if enter[vertex] < first or leave[vertex] > last:
                outside.add(vertex)
                continue
            body.add(vertex)
            for index in graph.in_edges[vertex]:
                edge = edges[index]
                if edge.kind is EdgeKind.FLOW and enter[edge.src] >= 0:
                    work.append(sets.find(edge.src))
            work.extend(map(sets.find, beside.get(vertex, ())))
        if outside:
            beside[header] = outside
        for vertex in body:
            sets.union(header, vertex)
        found.append(Collapsed(header, tuple(sorted(body)), not outside))
    return found[::-1]
