"""The nesting of loops on any graph, found from the innermost loops outwards.

A loop that has been found is collapsed into its header, so that no vertex is visited once per level.  Where
a loop has other entries than its header (irreducible graphs), the header still represents the loop, and the
edges into the other entries count as edges into the header from then on.  So every cycle of a graph contains
the header of some loop and otherwise only vertices of that loop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import DepthFirst
from trodden.graph.unionfind import UnionFind


@dataclass(frozen=True)
class Collapsed:
    """One loop.  ``body`` has its vertices without its header; an inner loop is represented by its header.

    ``single_entry`` says that its header is its only entry.
    """

    header: int
    body: tuple[int, ...]
    single_entry: bool


def back_edges_by_header(graph: Graph, search: DepthFirst) -> dict[int, list[int]]:
    """The back edges to each header, headers in the order in which the search visits them."""
    latches: dict[int, list[int]] = {}
    for index in sorted(search.back_edges):
        latches.setdefault(graph.edges[index].dst, []).append(index)
    return dict(sorted(latches.items(), key=lambda item: search.enter[item[0]]))


def collapse(graph: Graph, search: DepthFirst, latches: Mapping[int, Sequence[int]]) -> list[Collapsed]:
    """All loops, in the order of ``latches``: a loop comes after those that contain it."""
    edges, enter, leave = graph.edges, search.enter, search.leave
    sets = UnionFind(len(graph.labels))
    other_entries: dict[int, set[int]] = {}
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
            work.extend(map(sets.find, other_entries.get(vertex, ())))
        if outside:
            other_entries[header] = outside
        for vertex in body:
            sets.union(header, vertex)
        found.append(Collapsed(header, tuple(sorted(body)), not outside))
    return found[::-1]
