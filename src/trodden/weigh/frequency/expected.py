"""What a function is expected to do when it is called: from clues to odds to frequencies (WL94 §3, §4)."""

from __future__ import annotations

from trodden.errors import BadFile
from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.loop_forest import LoopForest
from trodden.graph.loops import find_loops
from trodden.weigh.features.clues import NOTHING_KNOWN, FunctionClues
from trodden.weigh.frequency.local import local_frequencies
from trodden.weigh.heuristics.combine import branch_odds
from trodden.weigh.heuristics.rates import Rates


def expected_frequencies(
    graph: Graph, clues: FunctionClues, rates: Rates, forest: LoopForest | None = None
) -> list[float]:
    """How often each edge is taken in one call; where no clues are known the graph alone must tell.

    A graph may come out of a file that anybody has written, and one without a way to its end is refused.
    """
    loops = find_loops(graph) if forest is None else forest
    known = clues.blocks or (NOTHING_KNOWN,) * graph.exit
    try:
        return local_frequencies(graph, branch_odds(graph, known, rates, loops), loops)
    except ValueError as error:
        raise BadFile(f"{graph.name}: its graph makes no sense ({error}); build the program anew") from error


def expected_weights(
    graph: Graph, clues: FunctionClues, rates: Rates, forest: LoopForest | None = None
) -> list[float]:
    """The same as weights for placing probes: what stays in a loop for ever takes no edge to do so."""
    frequencies = expected_frequencies(graph, clues, rates, forest)
    return [
        0.0 if edge.kind is EdgeKind.ENDLESS else frequency
        for edge, frequency in zip(graph.edges, frequencies, strict=True)
    ]
