"""The cheapest witnesses of a procedure, by integer programming (BL94 §4.1).

To break all directed cycles and diamonds at the least cost is NP-complete (§3.4), so this is for small graphs
and for knowing how far the heuristic is from the best.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.directed_cycles import diamonds, directed_cycle
from trodden.plan.covering import CoveringProgram, finite
from trodden.plan.probes import Trace
from trodden.plan.trace.predicates import traced_edges
from trodden.plan.trace.witnesses import (
    outside_tree,
    place_witnesses,
    place_witnesses_tree_first,
    required,
)


def optimal_witnesses(
    graph: Graph,
    weights: Sequence[float],
    trace: Trace | None = None,
    *,
    strict: bool = True,
    time_limit: float = 60.0,
) -> set[int]:
    """The cheapest Ewit: without a ``trace`` it solves Trace(Ewit) for one procedure that makes no calls;
    with one it has the blocking property too.

    All blockers are in it: some witness has to be on the only path from such an edge to its call, and by the
    flow law none there is cheaper than those where such paths begin.  So are the edges behind trip counts,
    which have a witness in any case.  Raises
    :class:`~trodden.plan.covering.OptimumError` if ``time_limit`` seconds do not suffice.
    """
    blocked = required(graph, trace) if trace is not None else set()
    trace = trace or Trace("witnesses")
    free = [
        index
        for index in traced_edges(graph)
        if index not in blocked and index not in trace.counted and graph.edges[index].src not in trace.calls
    ]
    candidates = [index for index in free if graph.edges[index].kind is EdgeKind.FLOW]
    costs = finite(weights, candidates)
    program = CoveringProgram(
        graph.name, [costs[index] for index in candidates], time.monotonic() + time_limit
    )
    column = {index: position for position, index in enumerate(candidates)}
    chosen: set[int] = set()
    while cycles := _unbroken(graph, free, chosen, costs, strict):
        for cycle in cycles:
            program.require_one_of(column[index] for index in cycle)
        chosen = {candidates[position] for position in program.minimise()}
    heuristic = outside_tree(graph, weights, trace, blocked)
    if sum(costs[index] for index in heuristic) < sum(costs[index] for index in chosen):
        chosen = heuristic
    return blocked | chosen


def _unbroken(
    graph: Graph, free: Sequence[int], chosen: Collection[int], costs: Mapping[int, float], strict: bool
) -> list[list[int]]:
    """Directed cycles and diamonds without a witness, none if ``chosen`` is sufficient.

    The cheapest edge of each that is found is assumed to have one, and the search goes on.
    """
    found: list[list[int]] = []
    assumed = set(chosen)
    while True:
        rest = [index for index in free if index not in assumed]
        cycle = directed_cycle(graph, rest)
        cycles = [cycle] if cycle is not None else list(diamonds(graph, rest, strict))
        if not cycles:
            return found
        for each in cycles:
            choices = [index for index in each if index in costs]
            found.append(choices)
            if assumed.isdisjoint(choices):
                assumed.add(min(choices, key=costs.__getitem__))


class Comparison(NamedTuple):
    """What witnesses cost in a procedure: by the heuristic, in reverse order, and at best."""

    name: str
    heuristic: float
    tree_first: float
    optimum: float


def compare(graph: Graph, weights: Sequence[float], trace: Trace, time_limit: float = 60.0) -> Comparison:
    """How far the heuristic is from the optimum in one procedure."""
    tree_first = place_witnesses_tree_first(graph, weights, trace)
    best = optimal_witnesses(graph, weights, trace, time_limit=time_limit)
    placed = place_witnesses(graph, weights, trace)
    cost = [sum(weights[edge] for edge in each) for each in (placed, tree_first, best)]
    return Comparison(graph.name, *cost)
