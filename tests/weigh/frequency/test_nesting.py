from __future__ import annotations

import math
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import Case, cases
from tests.graphs import graphs, leaving_graphs, seeds
from tests.oracles import flow_gap, reach_without
from tests.programs import nest, random_program, repeat_nest
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.graph.loops import find_loops
from trodden.weigh.frequency.nesting import LOOP_MULTIPLIER, nesting_weights


def check_sane(graph: Graph) -> list[float]:
    """No negative, infinite or missing weight; nothing on edges that are never taken."""
    weights = nesting_weights(graph)
    assert len(weights) == len(graph.edges)
    assert all(0.0 <= weight < math.inf for weight in weights)
    assert weights[graph.closing] == 1.0
    reached = reach_without(graph, None)
    for index, edge in enumerate(graph.edges):
        if edge.kind is EdgeKind.ENDLESS or edge.src not in reached | {graph.exit}:
            assert weights[index] == 0.0
    return weights


def check_flow_law(graph: Graph) -> None:
    """Where EXIT can be reached the flow law holds; at EXIT too unless something ends elsewhere."""
    weights = check_sane(graph)
    leaving = reach_without(graph, None, backwards_from=graph.exit) - {graph.exit}
    if not any(edge.kind is EdgeKind.ENDLESS for edge in graph.edges):
        leaving.add(graph.exit)
    for vertex in leaving & (reach_without(graph, None) | {graph.exit}):
        assert flow_gap(graph, weights, vertex) < 1e-6, graph.labels[vertex]


@given(graphs(max_blocks=10, max_edges=24))
@settings(max_examples=500)
def test_weights_are_sane_on_any_graph(graph: Graph) -> None:
    check_sane(graph)


@given(st.one_of(leaving_graphs(), graphs()))
@settings(max_examples=700)
def test_the_flow_law_holds_on_reducible_graphs(graph: Graph) -> None:
    if find_loops(graph).reducible:
        check_flow_law(graph)


@given(seeds(), st.integers(1, 60))
@settings(max_examples=300)
def test_the_flow_law_holds_on_structured_programs(seed: int, size: int) -> None:
    check_flow_law(random_program(seed, size))


@given(seeds(), st.integers(1, 40))
@settings(max_examples=150)
def test_every_loop_of_plain_programs_iterates_as_often_as_expected(seed: int, size: int) -> None:
    graph = random_program(seed, size, ("block", "if-else", "while", "if", "do"))
    weights = nesting_weights(graph)
    for loop in find_loops(graph).loops:
        turns = sum(weights[index] for index in graph.in_edges[loop.header])
        again = sum(weights[index] for index in loop.back_edges)
        assert turns == pytest.approx((turns - again) * LOOP_MULTIPLIER)


@pytest.mark.parametrize("case", cases("weights.cfg"), ids=str)
def test_open_cases_are_resolved_as_documented(case: Case) -> None:
    check_flow_law(case.graph)


@pytest.mark.parametrize("make", [nest, repeat_nest])
@pytest.mark.parametrize("depth", [300, 50_000])
def test_deep_nests_do_not_overflow(make: Callable[[int], Graph], depth: int) -> None:
    graph = make(depth)
    weights = nesting_weights(graph)
    assert all(0.0 < weight < math.inf for weight in weights)
    assert all(flow_gap(graph, weights, vertex) < 1e-6 for vertex in range(len(graph.labels)))
    assert all(weights[3 * level + 3] > weights[3 * level] for level in range(250))


def test_a_deep_nest_with_a_return_inside() -> None:
    plain = nest(300)
    flow = [(plain.edges[index].src, plain.edges[index].dst) for index in plain.flow_edges()]
    graph = build("nest", plain.labels, [*flow, (299, plain.exit)])
    weights = nesting_weights(graph)
    assert all(flow_gap(graph, weights, vertex) < 1e-6 for vertex in range(len(graph.labels)))
