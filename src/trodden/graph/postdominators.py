"""Postdominators: which blocks every way from a block to EXIT leads through."""

from __future__ import annotations

from trodden.graph.cfg import Edge, EdgeKind, Graph
from trodden.graph.dominators import Dominators, find_dominators


def find_postdominators(graph: Graph) -> Dominators:
    """The dominator tree of the graph walked backwards from EXIT.

    An endless edge counts as a way out, so that a region which cannot be left has postdominators too; the
    closing edge does not.  A block from which no way leads to EXIT even so (control cannot reach it) has
    none, as a block has no dominators where no way leads to it.
    """
    backwards = tuple(Edge(edge.dst, edge.src) for edge in graph.edges if edge.kind is not EdgeKind.CLOSING)
    return find_dominators(Graph(graph.name, graph.labels, backwards, graph.exit))
