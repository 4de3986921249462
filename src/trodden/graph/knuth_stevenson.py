"""The reduced graph of Knuth and Stevenson (1973): blocks as arcs between classes of edges.

Edges that share a source or a target belong to one class, because a block count only determines their
sum.  A vertex leads from the class of its incoming edges to the class of its outgoing ones, and the
flow law for each class is all that block counts have to obey.
"""

from __future__ import annotations

from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.graph.spanning import live_edges
from trodden.graph.unionfind import UnionFind


@dataclass(frozen=True)
class ReducedGraph:
    """``entering[v]`` and ``leaving[v]`` are the classes of the edges into and out of ``v``.

    Classes are numbers below ``classes``, not all of which are in use.  A vertex without outgoing edges
    ends in a class of its own, and so does an unreachable EXIT.
    """

    classes: int
    entering: tuple[int, ...]
    leaving: tuple[int, ...]


def reduce_to_blocks(graph: Graph) -> ReducedGraph:
    """The reduced graph of what is reachable."""
    size = len(graph.labels)
    classes = UnionFind(2 * size)
    for index in live_edges(graph):
        edge = graph.edges[index]
        classes.union(edge.src, size + edge.dst)
    return ReducedGraph(
        2 * size,
        tuple(classes.find(size + vertex) for vertex in range(size)),
        tuple(classes.find(vertex) for vertex in range(size)),
    )
