"""Weights that a user names: from an earlier profile, found again by function, or from none at all."""

from __future__ import annotations

from dataclasses import replace

from trodden.errors import InputMissing
from trodden.graph.cfg import Edge, Graph
from trodden.native.options import Options, Weights
from trodden.profile.model import FunctionProfile, Profile
from trodden.profile.store.trod import load
from trodden.weigh.frequency.measured import measured_weights

ESTIMATE, NESTING = "estimate", "nesting"


def weighed(options: Options, weights: str) -> Options:
    """The options with the weights that a user has named: ``estimate``, ``nesting`` or a profile."""
    if weights in (ESTIMATE, NESTING):
        return replace(options, measured=None, estimated=weights == ESTIMATE)
    return replace(options, measured=weights_from(weights))


def load_weights(path: str) -> Profile:
    """The profile that a user has named for its weights; who misspells a name hears which there are."""
    try:
        return load(path)
    except InputMissing as error:
        raise InputMissing(f"{error}; weights are a profile, {ESTIMATE} or {NESTING}") from error


def weights_from(path: str) -> Weights:
    """Answer measured weights for the functions whose graph is the same as when ``path`` was measured.

    The others are weighed as if there were no profile: a program that has changed here and there is
    what weights from an earlier run are for.
    """
    profile = load_weights(path)
    known: dict[tuple[str, tuple[Edge, ...]], FunctionProfile] = {}
    for function in profile.functions.values():
        known.setdefault((function.facts.linkage_name, function.facts.graph.edges), function)

    def weigh(graph: Graph, symbol: str) -> list[float] | None:
        found = known.get((symbol, graph.edges))
        return None if found is None else weights_of(found)

    return weigh


def weights_of(function: FunctionProfile) -> list[float]:
    """The counts of a function as weights of its edges.

    An estimate tells what a call does even of a function that it expects nobody to call.
    """
    counts = function.per_call if function.estimated else function.edge_counts
    blocks = None if function.estimated else function.block_counts
    return measured_weights(function.facts.graph, counts, blocks)
