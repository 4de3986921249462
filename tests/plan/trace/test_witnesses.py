"""Where witnesses go, and what they are."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import costs_for, graphs, labels, leaving_graphs, seeds
from tests.plan.trace.procedures import random_calls
from tests.plan.trace.programs import by_witnesses, known
from trodden.graph.cfg import Graph, build
from trodden.plan.counters.schemes import eprof, vprof_by_edges
from trodden.plan.probes import Trace
from trodden.plan.trace.predicates import (
    disjoint_witness_sets,
    is_predicate,
    solves_trace,
    traced_edges,
    unblocked,
)
from trodden.plan.trace.witnesses import (
    blockers,
    place_witnesses,
    place_witnesses_tree_first,
    shared_values,
    witness_plan,
    witness_width,
    witnesses_of,
)


def some_calls(graph: Graph, seed: int) -> Trace:
    """Calls in blocks that control leaves in one way at most."""
    rng = random.Random(seed)
    blocks = [block for block in range(graph.exit) if not is_predicate(graph, block, strict=True)]
    return Trace("witnesses", calls={block: None for block in blocks if rng.random() < 0.4})


@settings(max_examples=150)
@given(graphs(), seeds(), st.booleans())
def test_either_order_of_the_phases_solves_and_blocks(graph: Graph, seed: int, tree_first: bool) -> None:
    trace, weights = some_calls(graph, seed), costs_for(graph, seed)
    place = place_witnesses_tree_first if tree_first else place_witnesses
    witnessed = place(graph, weights, trace)
    assert unblocked(graph, witnessed, trace.calls, strict=True) == []
    severed = witnessed | {
        index for index, edge in enumerate(graph.edges) if edge.src in trace.calls and index in traced(graph)
    }
    assert solves_trace(graph, severed, strict=True)
    assert witnessed <= set(graph.flow_edges())


def traced(graph: Graph) -> set[int]:
    return set(traced_edges(graph))


@settings(max_examples=150)
@given(graphs(), seeds())
def test_with_separators_the_whole_graph_is_solved(graph: Graph, seed: int) -> None:
    """Of a call with one way on, nothing is missing that BL94 asks for."""
    trace = some_calls(graph, seed)
    plan = witness_plan(graph, costs_for(graph, seed), trace.calls)
    assert plan.trace is not None
    assert solves_trace(graph, set(plan.trace.witnesses), strict=True)


@settings(max_examples=150)
@given(graphs(), seeds())
def test_blockers_are_as_far_from_the_call_as_can_be(graph: Graph, seed: int) -> None:
    trace = some_calls(graph, seed)
    target = random.Random(seed).randrange(graph.exit + 1)
    reached = traced(graph)

    def leads_to(vertex: int, seen: frozenset[int]) -> bool:
        if vertex == target:
            return True
        if is_predicate(graph, vertex, strict=True) or vertex in seen or vertex in trace.calls:
            return False
        return any(
            leads_to(graph.edges[index].dst, seen | {vertex})
            for index in graph.out_edges[vertex]
            if index in set(graph.flow_edges())
        )

    expected = {
        index
        for index in graph.flow_edges()
        if index in reached
        and is_predicate(graph, graph.edges[index].src, strict=True)
        and leads_to(graph.edges[index].dst, frozenset())
    }
    assert blockers(graph, trace, {target}) == expected


@settings(max_examples=200)
@given(leaving_graphs(), seeds())
def test_counters_that_suffice_for_a_profile_suffice_for_a_trace(graph: Graph, seed: int) -> None:
    """§4.1: any solution of Eprof(Ecnt) or Vprof(Ecnt); block counts do not tell parallel edges apart."""
    costs = costs_for(graph, seed)
    assert solves_trace(graph, set(eprof(graph, costs).on_edges), strict=True)
    assert solves_trace(graph, set(vprof_by_edges(graph, costs).on_edges))


@settings(max_examples=150)
@given(graphs(), seeds())
def test_shared_values_tell_the_same(graph: Graph, seed: int) -> None:
    trace, weights = some_calls(graph, seed), costs_for(graph, seed)
    plan = witness_plan(graph, weights, trace.calls, reuse=True)
    assert plan.trace is not None
    severed = {
        index: -2 - index
        for index, edge in enumerate(graph.edges)
        if edge.src in trace.calls and index in set(graph.flow_edges())
    }
    assert disjoint_witness_sets(graph, witnesses_of(plan.trace) | severed, strict=True)
    assert max(plan.trace.witness_values, default=0) <= max(len(plan.trace.witnesses) - 1, 0)


def test_two_loops_share_their_witnesses() -> None:
    """What is behind a blocked edge never competes with what is before it."""
    graph = build("loops", labels(4), [(0, 0), (0, 1), (1, 2), (2, 2), (2, 3), (3, 4)])
    weights = [9.0, 1.0, 1.0, 9.0, 1.0, 1.0, 1.0]
    plan = witness_plan(graph, weights, {1: None}, entered=False)
    assert plan.trace is not None
    assert set(plan.trace.witnesses) == {0, 1, 3, 4}
    assert sorted(shared_values(graph, plan.trace).values()) == [0, 0, 1, 1]
    assert witness_width(4) == 2
    assert witness_width(2) == 1
    assert witness_width(1) == witness_width(0) == 0


@settings(max_examples=200)
@given(graphs(), seeds())
def test_frequent_edges_have_small_witnesses(graph: Graph, seed: int) -> None:
    weights = costs_for(graph, seed)
    plan = by_witnesses(graph, weights, random_calls(graph, seed))
    assert plan.trace is not None
    found = [weights[edge] for edge in plan.trace.witnesses]
    assert found == sorted(found, reverse=True)


@given(graphs(), seeds())
def test_beside_a_counter_on_every_edge(graph: Graph, seed: int) -> None:
    found = known(random_calls(graph, seed))
    plan = witness_plan(graph, costs_for(graph, seed), checked=True, **found)
    assert plan.scheme == "checked-trace-witnesses"
    assert len(plan.measures) == len(traced(graph) & set(graph.flow_edges()))
