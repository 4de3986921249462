"""The optimum against all sets of witnesses, and the heuristic against the optimum."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings

from tests.graphs import costs_for, graphs, leaving_graphs, seeds
from tests.programs import PLAIN, random_program
from trodden.graph.cfg import Graph, build
from trodden.plan.covering import OptimumError
from trodden.plan.probes import Trace
from trodden.plan.trace.optimum import compare, optimal_witnesses
from trodden.plan.trace.predicates import is_predicate, solves_trace, traced_edges, unblocked
from trodden.plan.trace.witnesses import outside_tree, place_witnesses
from trodden.weigh.frequency.nesting import nesting_weights


def cost(weights: list[float], edges: set[int]) -> float:
    return sum(weights[edge] for edge in edges)


@settings(max_examples=60)
@given(graphs(max_blocks=4, max_edges=7), seeds())
def test_no_set_of_witnesses_is_cheaper(graph: Graph, seed: int) -> None:
    weights = costs_for(graph, seed)
    best = optimal_witnesses(graph, weights)
    assert solves_trace(graph, best, strict=True)
    candidates = sorted(set(graph.flow_edges()) & set(traced_edges(graph)))
    others = (set(chosen) for size in range(len(candidates) + 1) for chosen in combinations(candidates, size))
    assert cost(weights, best) == min(
        cost(weights, other) for other in others if solves_trace(graph, other, strict=True)
    )


@settings(max_examples=40)
@given(leaving_graphs(max_blocks=5, max_edges=9), seeds())
def test_no_set_of_witnesses_that_blocks_is_cheaper(graph: Graph, seed: int) -> None:
    """With weights that obey the flow law, as BL94 has them."""
    weights = nesting_weights(graph)
    calls = [
        block for block in range(graph.exit) if not is_predicate(graph, block, True) and seed >> block & 1
    ]
    trace = Trace("witnesses", calls=dict.fromkeys(calls))
    found = compare(graph, weights, trace)
    severed = {index for index in graph.flow_edges() if graph.edges[index].src in trace.calls}
    candidates = sorted(set(graph.flow_edges()) - severed)
    others = (set(chosen) for size in range(len(candidates) + 1) for chosen in combinations(candidates, size))
    cheapest = min(
        cost(weights, other)
        for other in others
        if not unblocked(graph, other, calls, strict=True)
        and solves_trace(graph, other | severed, strict=True)
    )
    assert found.optimum == pytest.approx(cheapest)
    assert found.optimum <= found.heuristic + 1e-9
    assert found.optimum <= found.tree_first + 1e-9


@settings(max_examples=40)
@given(seeds())
def test_plain_structured_programs_need_an_edge_profile_for_a_trace(seed: int) -> None:
    """§4.1: what the spanning tree leaves out is optimal if all cycles are directed ones or diamonds."""
    graph = random_program(seed, 12, PLAIN)
    weights = nesting_weights(graph)
    trace = Trace("witnesses")
    tree = outside_tree(graph, weights, trace, set())
    assert cost(weights, optimal_witnesses(graph, weights)) == pytest.approx(cost(weights, tree))


def test_the_heuristic_is_never_cheaper_than_its_blockers_allow() -> None:
    graph = build("loop", ["a", "b", "c", "EXIT"], [(0, 1), (1, 2), (2, 1), (1, 3)])
    trace = Trace("witnesses", calls={2: None})
    weights = nesting_weights(graph)
    assert place_witnesses(graph, weights, trace) == {1, 3}
    assert compare(graph, weights, trace).heuristic == compare(graph, weights, trace).optimum


def test_time_runs_out() -> None:
    graph = random_program(1, 60)
    with pytest.raises(OptimumError, match="no proven optimum"):
        optimal_witnesses(graph, nesting_weights(graph), time_limit=0.0)
