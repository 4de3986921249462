"""Weights from the shape of the graph alone: the heuristic of BL94 §5.

Every loop is expected to iterate LOOP_MULTIPLIER times, every edge of a branch to be taken as often as the
others, except that the exit edges of a loop share what has entered it.  The three rules of the paper are
applied in its order, in one topological traversal.  They leave some cases open, which are resolved so that no
weight is negative and that the flow law holds on every reducible graph from which EXIT can be reached:

* *An edge that leaves several loops* gets its weight from the first, outermost one, as the paper says.
  The other exits of the inner loop then share what is left of its entering weight, not W/N each, or more
  would leave the loop than enters it.  There always is another exit, because the inner loop can go on
  to the back edge of the outer one.
* *Exits that weigh more than their block* (W < W_E: a loop is left from a branch that is nested so deep that
  rule 3 expects it less often than rule 2), and likewise more leaving an inner loop than enters it: at such a
  block all edges, exits included, are assumed to be equally likely, and since the loop then iterates more
  often than LOOP_MULTIPLIER, the weights are recomputed from the branch probabilities that the rules gave.
* *A loop without exits* iterates LOOP_MULTIPLIER times and its weight ends there, as it does in a block
  without successors.  The flow law cannot hold at such a loop; endless edges stay at weight 0.
* *No edge but exits* (N = 0 in rule 3) cannot be: a block of a loop always has an edge that stays in it.
  In irreducible graphs it can, and then the remainder is dropped; there the flow law is not guaranteed.
* *An exit that the traversal visits before its loop's header* (irreducible graphs only) is an ordinary edge.
* *Deep nests* stop growing at HIGHEST_WEIGHT (several hundred nested loops): from there a loop hardly
  iterates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.loop_forest import LoopForest
from trodden.graph.loops import find_loops
from trodden.graph.traverse import depth_first
from trodden.weigh.frequency.local import local_frequencies
from trodden.weigh.frequency.propagate import HIGHEST_WEIGHT

LOOP_MULTIPLIER = 10.0
"""The expected number of iterations each time a loop is entered."""

_HARDLY = 1.0 + 2.0**-30
_ROUNDING = 1e-9


def nesting_weights(graph: Graph, forest: LoopForest | None = None) -> list[float]:
    """The expected frequency of every edge for one call; ``forest`` are the loops, where they are known."""
    search = depth_first(graph)
    forest = forest or find_loops(graph, search)
    order = search.postorder[::-1]
    weights, lawful = _apply_rules(graph, order, forest, search.back_edges)
    if not lawful and forest.reducible:
        probabilities = _probabilities(graph, weights)
        weights = local_frequencies(graph, probabilities, forest, math.inf, LOOP_MULTIPLIER)
        for index, edge in enumerate(graph.edges):
            if edge.kind is EdgeKind.ENDLESS:
                weights[index] = 0.0
    weights[graph.closing] = 1.0
    return weights


def _apply_rules(
    graph: Graph, order: Sequence[int], forest: LoopForest, back_edges: frozenset[int]
) -> tuple[list[float], bool]:
    """Rules (1) to (3), and whether they could be applied without exception."""
    weights: list[float | None] = [None] * len(graph.edges)
    arriving = [0.0] * len(graph.labels)
    arriving[graph.root] = 1.0
    lawful = True
    for vertex in order:
        weight = arriving[vertex]
        loop = forest.of_header.get(vertex)
        if loop is not None:
            lawful &= _share_among_exits(forest.loops[loop].exits, weight, weights)
            weight *= LOOP_MULTIPLIER if weight < HIGHEST_WEIGHT / LOOP_MULTIPLIER else _HARDLY
        outs = [index for index in graph.out_edges[vertex] if graph.edges[index].kind is EdgeKind.FLOW]
        staying = [index for index in outs if weights[index] is None]
        left = weight - sum(weights[index] or 0.0 for index in outs)
        if left < -_ROUNDING * weight and staying:
            lawful = False
            staying, left = outs, weight
        for index in staying:
            weights[index] = max(left, 0.0) / len(staying)
        for index in outs:
            if index not in back_edges:
                arriving[graph.edges[index].dst] += weights[index] or 0.0
    return [weight or 0.0 for weight in weights], lawful


def _share_among_exits(exits: Sequence[int], weight: float, weights: list[float | None]) -> bool:
    """Rule (2) for a loop that is entered ``weight`` times; returns whether no more leaves it than enters."""
    unset = [index for index in exits if weights[index] is None]
    taken = sum(weights[index] or 0.0 for index in exits)
    fits = taken == 0.0 or taken < weight * (1 - _ROUNDING)
    for index in unset:
        weights[index] = (weight - taken) / len(unset) if fits else weight / len(exits)
    return fits or not unset


def _probabilities(graph: Graph, weights: Sequence[float]) -> list[float]:
    """The branch probabilities of a weighting; equal where nothing is expected to run."""
    probabilities = [0.0] * len(graph.edges)
    for out_edges in graph.out_edges:
        outs = [index for index in out_edges if graph.edges[index].kind is EdgeKind.FLOW]
        total = sum(weights[index] for index in outs)
        for index in outs:
            probabilities[index] = weights[index] / total if total > 0.0 else 1.0 / len(outs)
    return probabilities
