"""Natural loops, their exits and how they nest (BL94 §5).

A loop belongs to its header (the target of one or more back edges) and contains all vertices from which
one of those back edges can be reached without passing through the header.  Where headers dominate their
loops, loops nest, and they are found from the innermost outwards (:mod:`trodden.graph.loop_nesting`).
Headers that do not dominate their loop (irreducible graphs) are handled by the paper's definition, in
:mod:`trodden.graph.irreducible`: what the loops of such headers have reaches out of the loops around them.
Where loops must nest in any graph, they are those of :func:`find_nested_loops`.
"""

from __future__ import annotations

from collections.abc import Sequence

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.irreducible import forest_by_definition
from trodden.graph.loop_forest import Loop, LoopForest, nesting_intervals
from trodden.graph.loop_nesting import Collapsed, back_edges_by_header, collapse
from trodden.graph.traverse import DepthFirst, depth_first

__all__ = ["Loop", "LoopForest", "find_loops", "find_nested_loops"]


def find_loops(graph: Graph, search: DepthFirst | None = None) -> LoopForest:
    """The loops of a graph; near-linear time when the graph is reducible."""
    search = search or depth_first(graph)
    latches = back_edges_by_header(graph, search)
    found = collapse(graph, search, latches)
    if not all(loop.single_entry for loop in found):
        return forest_by_definition(graph, search, latches, found)
    return _forest(graph, latches, found)


def find_nested_loops(graph: Graph) -> LoopForest:
    """Loops that nest, in near-linear time: the natural loops if the graph is reducible.

    A loop is what is strongly connected to its header among the vertices below it in a depth-first search, so
    that a loop with several entries, too, lies inside the loops around it.
    """
    search = depth_first(graph)
    latches = back_edges_by_header(graph, search)
    return _forest(graph, latches, collapse(graph, search, latches))


def _forest(graph: Graph, latches: dict[int, list[int]], found: Sequence[Collapsed]) -> LoopForest:
    """The forest of properly nested loops; a header comes after the headers of the enclosing loops."""
    headers, bodies = list(latches), [loop.body for loop in found]
    of_header = {header: loop for loop, header in enumerate(headers)}
    parent = [-1] * len(headers)
    innermost = [-1] * len(graph.labels)
    inside: list[list[int]] = [[] for _ in headers]
    nested: list[list[int]] = [[] for _ in headers]
    for loop, header in enumerate(headers):
        innermost[header] = loop
        inside[loop].append(header)
        for vertex in bodies[loop]:
            inner = of_header.get(vertex)
            if inner is None:
                innermost[vertex] = loop
                inside[loop].append(vertex)
            else:
                parent[inner] = loop
                nested[loop].append(inner)
    depth: list[int] = []
    for loop in range(len(headers)):
        depth.append(1 if parent[loop] < 0 else depth[parent[loop]] + 1)
    exits = _exits(graph, innermost, parent)
    loops = tuple(
        Loop(header, tuple(latches[header]), tuple(exits[loop]), parent[loop], depth[loop])
        for loop, header in enumerate(headers)
    )
    reducible = all(loop.single_entry for loop in found)
    return LoopForest(loops, tuple(innermost), reducible, of_header, inside, nested)


def _exits(graph: Graph, innermost: Sequence[int], parent: Sequence[int]) -> list[list[int]]:
    """For each loop the edges that leave it; an edge may leave several loops at once."""
    first, last = nesting_intervals(parent)
    exits: list[list[int]] = [[] for _ in parent]
    for index, edge in enumerate(graph.edges):
        if edge.kind is not EdgeKind.FLOW:
            continue
        loop, target = innermost[edge.src], innermost[edge.dst]
        while loop >= 0 and not (target >= 0 and first[loop] <= first[target] <= last[loop]):
            exits[loop].append(index)
            loop = parent[loop]
    return exits
