"""Expected frequencies of one call: from features to probabilities to frequencies (WL94 §3, §4)."""

from __future__ import annotations

from trodden.errors import BadFile
from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.loop_forest import LoopForest
from trodden.graph.loops import find_loops
from trodden.weigh.features.block_features import NOTHING_KNOWN, FunctionFeatures
from trodden.weigh.frequency.local import local_frequencies
from trodden.weigh.heuristics.combine import branch_probabilities
from trodden.weigh.heuristics.rates import Rates


def expected_frequencies(
    graph: Graph, features: FunctionFeatures, rates: Rates, forest: LoopForest | None = None
) -> list[float]:
    """How often each edge is taken in one call; without features the graph alone has to do.

    A graph may come from a file that anybody has written; one in which EXIT is not reachable is refused.
    """
    loops = find_loops(graph) if forest is None else forest
    known = features.blocks or (NOTHING_KNOWN,) * graph.exit
    try:
        return local_frequencies(graph, branch_probabilities(graph, known, rates, loops), loops)
    except ValueError as error:
        raise BadFile(f"{graph.name}: its graph makes no sense ({error}); build the program anew") from error


def expected_weights(
    graph: Graph, features: FunctionFeatures, rates: Rates, forest: LoopForest | None = None
) -> list[float]:
    """The same as weights for placing probes: endless edges, which are never taken, weigh nothing."""
    frequencies = expected_frequencies(graph, features, rates, forest)
    return [
        0.0 if edge.kind is EdgeKind.ENDLESS else frequency
        for edge, frequency in zip(graph.edges, frequencies, strict=True)
    ]
