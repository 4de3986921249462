"""Postdominators."""

from __future__ import annotations

from trodden.graph.cfg import Edge, EdgeKind, Graph
from trodden.graph.dominators import Dominators, find_dominators


def find_postdominators(graph: Graph) -> Dominators:
    """The dominator tree of the reversed graph, rooted at EXIT.

    Endless edges are part of it, so that a region which cannot be left has postdominators too; the closing
    edge is not.  An unreachable block from which EXIT is not reachable even so has none.
    """
    backwards = tuple(Edge(edge.dst, edge.src) for edge in graph.edges if edge.kind is not EdgeKind.CLOSING)
    return find_dominators(Graph(graph.name, graph.labels, backwards, graph.exit))
