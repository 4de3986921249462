"""Edge weights from an earlier profile, matched function by function."""

from __future__ import annotations

from dataclasses import replace

from trodden.api.traces import load_with_counts
from trodden.errors import InputMissing
from trodden.graph.cfg import Edge, Graph
from trodden.native.options.declarations import ESTIMATE, NESTING, Options, Weights
from trodden.native.options.values import nearest
from trodden.profile.model import FunctionProfile, Profile
from trodden.weigh.frequency.measured import measured_weights


def measured_by(path: str, options: Options) -> Options:
    """The options with the weights that the profile at ``path`` has measured."""
    return replace(options, measured=weights_from(path))


def load_weights(path: str) -> Profile:
    """The profile that a user has named for its weights; a mistyped keyword is named with the right one."""
    try:
        return load_with_counts(path)
    except InputMissing as error:
        near = nearest(path, (ESTIMATE, NESTING))
        meant = f"; did you mean {near}?" if near else ""
        raise InputMissing(f"{error}; weights are a profile, {ESTIMATE} or {NESTING}{meant}") from error


def weights_from(path: str) -> Weights:
    """The measured weights of the functions whose graph is the same as when ``path`` was measured.

    Other functions are weighed as if there were no profile: weights of an earlier run are meant for a
    program that has changed in parts.
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

    An estimate gives frequencies per call even of a function that it does not expect to be called.
    """
    counts = function.per_call if function.estimated else function.edge_counts
    blocks = None if function.estimated else function.block_counts
    return measured_weights(function.facts.graph, counts, blocks)
