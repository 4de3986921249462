"""Loops of irreducible graphs, straight from BL94's definition.

Where a header does not dominate its loop, loops need not nest: two may overlap or have the same
vertices.  Each is then kept as a set of its own.  The parent of a loop is the smallest loop that
properly contains it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.loop_forest import Loop, LoopForest
from trodden.graph.loop_nesting import Collapsed
from trodden.graph.traverse import DepthFirst


def forest_by_definition(
    graph: Graph, search: DepthFirst, latches: Mapping[int, Sequence[int]], found: Sequence[Collapsed]
) -> LoopForest:
    """The loops of a graph where some of those that were ``found`` have other entries than their headers."""
    headers = [loop.header for loop in found]
    of_header = {header: loop for loop, header in enumerate(headers)}
    nested: list[set[int]] = [set() for _ in found]
    for loop in range(len(found) - 1, -1, -1):
        nested[loop] = {headers[loop]}.union(
            *(nested[of_header[vertex]] if vertex in of_header else (vertex,) for vertex in found[loop].body)
        )
    sets = [
        nested[loop] if found[loop].single_entry else _natural_loop(graph, search, header, latches[header])
        for loop, header in enumerate(headers)
    ]
    by_size = sorted(range(len(headers)), key=lambda loop: len(sets[loop]))
    around: list[list[int]] = [[] for _ in graph.labels]
    for loop in by_size:
        for vertex in sets[loop]:
            around[vertex].append(loop)
    parent = [
        next((outer for outer in around[header] if sets[outer] > sets[loop]), -1)
        for loop, header in enumerate(headers)
    ]
    depth = [1] * len(headers)
    for loop in reversed(by_size):
        if parent[loop] >= 0:
            depth[loop] = depth[parent[loop]] + 1
    loops = tuple(
        Loop(header, tuple(latches[header]), _exits(graph, sets[loop]), parent[loop], depth[loop])
        for loop, header in enumerate(headers)
    )
    innermost = tuple(loops_around[0] if loops_around else -1 for loops_around in around)
    inside = [sorted(members) for members in sets]
    return LoopForest(loops, innermost, False, of_header, inside, [()] * len(headers))


def _natural_loop(graph: Graph, search: DepthFirst, header: int, latches: Sequence[int]) -> set[int]:
    """The union of nat-loop(x -> header) over its back edges."""
    members = {header}
    work = [graph.edges[index].src for index in latches]
    while work:
        vertex = work.pop()
        if vertex in members:
            continue
        members.add(vertex)
        for index in graph.in_edges[vertex]:
            edge = graph.edges[index]
            if edge.kind is EdgeKind.FLOW and search.enter[edge.src] >= 0:
                work.append(edge.src)
    return members


def _exits(graph: Graph, members: set[int]) -> tuple[int, ...]:
    return tuple(
        sorted(
            index
            for vertex in members
            for index in graph.out_edges[vertex]
            if graph.edges[index].kind is EdgeKind.FLOW and graph.edges[index].dst not in members
        )
    )
