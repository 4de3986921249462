"""Spanning trees of a weighted control-flow graph (BL94 §2, §3.2).

Kruskal's algorithm over the undirected multigraph of what is reachable.  Endless edges are left out: they
are never taken, so their count is known, and without them the graph is still connected, every vertex by a
path from the root and EXIT by the closing edge.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.traverse import reachable
from trodden.graph.unionfind import UnionFind


def live_edges(graph: Graph) -> list[int]:
    """The edges that can have a count: those between reachable vertices, endless ones left out."""
    reached = reachable(graph)
    return [
        index
        for index, edge in enumerate(graph.edges)
        if edge.kind is not EdgeKind.ENDLESS and edge.src in reached
    ]


def maximum_spanning_tree(
    graph: Graph, weights: Sequence[float], seeds: Iterable[int] = (), barred: Container[int] = frozenset()
) -> frozenset[int]:
    """The edges of a maximum spanning tree; of equal weights the lower index is taken.

    ``seeds`` are taken before all others, in their order, unless they close a cycle among themselves; endless
    edges are taken only as seeds.  Without the ``barred`` edges it may be a forest (§4.2, footnote 4).
    """
    return _kruskal(graph, [-weight for weight in weights], seeds, barred)


def minimum_spanning_tree(
    graph: Graph, weights: Sequence[float], seeds: Iterable[int] = ()
) -> frozenset[int]:
    """The edges of a minimum spanning tree: the worst case that BL94 §6.4 compares with."""
    return _kruskal(graph, weights, seeds)


def _kruskal(
    graph: Graph, costs: Sequence[float], seeds: Iterable[int], barred: Container[int] = frozenset()
) -> frozenset[int]:
    live = [index for index in live_edges(graph) if index not in barred]
    endless = {index for index, edge in enumerate(graph.edges) if edge.kind is EdgeKind.ENDLESS}
    eligible = endless.union(live)
    order = [seed for seed in seeds if seed in eligible]
    order += sorted(live, key=costs.__getitem__)
    trees = UnionFind(len(graph.labels))
    return frozenset(index for index in order if trees.union(graph.edges[index].src, graph.edges[index].dst))
