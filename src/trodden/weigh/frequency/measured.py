"""Weights from a measured profile: the exact weighting of BL94 §6.4."""

from __future__ import annotations

from collections.abc import Sequence

from trodden.errors import UsageError
from trodden.graph.cfg import EdgeKind, Graph


def measured_weights(
    graph: Graph, edge_counts: Sequence[float | None], block_counts: Sequence[float] | None = None
) -> list[float]:
    """The counts of an earlier run as weights, one for each edge of the graph.

    A block profile may leave edge counts undetermined (``None``); those of one block share what remains of
    its count in ``block_counts``.  Virtual edges other than the closing one are never taken: weight 0.
    """
    if len(edge_counts) != len(graph.edges):
        raise UsageError(
            f"{graph.name}: the profile has {len(edge_counts)} edges, the function {len(graph.edges)};"
            " profile this build instead"
        )
    weights = [float(count or 0) for count in edge_counts]
    for vertex, out_edges in enumerate(graph.out_edges):
        unknown = [index for index in out_edges if edge_counts[index] is None]
        if unknown and block_counts is None:
            raise UsageError(f"{graph.name}: the profile has no count for some edges; use an edge profile")
        if unknown and block_counts is not None:
            left = block_counts[vertex] - sum(weights[index] for index in out_edges)
            for index in unknown:
                weights[index] = max(left, 0.0) / len(unknown)
    for index, edge in enumerate(graph.edges):
        if edge.kind is EdgeKind.ENDLESS:
            weights[index] = 0.0
    return weights
