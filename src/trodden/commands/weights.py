"""Weights from an earlier profile, found again by function."""

from __future__ import annotations

from trodden.graph.cfg import Edge, Graph
from trodden.native.options import Weights
from trodden.profile.model import FunctionProfile
from trodden.profile.store import load
from trodden.weigh.measured import measured_weights


def weights_from(path: str) -> Weights:
    """Answer measured weights for the functions whose graph is the same as when ``path`` was measured.

    The others are weighed as if there were no profile: a program that has changed here and there is
    what weights from an earlier run are for.
    """
    profile = load(path)
    known: dict[tuple[str, tuple[Edge, ...]], FunctionProfile] = {}
    for function in profile.functions.values():
        known.setdefault((function.facts.linkage_name, function.facts.graph.edges), function)

    def weigh(graph: Graph, symbol: str) -> list[float] | None:
        found = known.get((symbol, graph.edges))
        return None if found is None else measured_weights(graph, found.edge_counts, found.block_counts)

    return weigh
