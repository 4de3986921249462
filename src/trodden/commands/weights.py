"""Weights from an earlier profile, found again by function."""

from __future__ import annotations

from trodden.graph.cfg import Edge, Graph
from trodden.native.options import Weights
from trodden.profile.model import FunctionProfile
from trodden.profile.store import load
from trodden.weigh.measured import measured_weights


def weights_from(path: str) -> Weights:
    """Answer measured weights for the functions whose graph is the same as when ``path`` was measured."""
    profile = load(path)
    known: dict[tuple[str, tuple[Edge, ...]], FunctionProfile] = {}
    for function in profile.functions.values():
        known.setdefault((function.facts.linkage_name, function.facts.graph.edges), function)

    def weigh(graph: Graph, symbol: str) -> list[float] | None:
        found = known.get((symbol, graph.edges))
        if found is None or any(count is None for count in found.edge_counts):
            return None
        return measured_weights(graph, [count or 0 for count in found.edge_counts])

    return weigh
