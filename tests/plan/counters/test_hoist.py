from __future__ import annotations

import random

from hypothesis import given, settings

from tests.graphs import costs_for, graphs, leaving_graphs, seeds, walks_for, whole_walk
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.plan.counters.schemes import eprof, every_block, every_edge, hoist
from trodden.plan.interpret import interpret, tally
from trodden.plan.probes import AddTripCount, Count, EdgeMeasure, Plan


@given(leaving_graphs(), seeds())
@settings(max_examples=200)
def test_counters_hold_the_same_after_hoisting(graph: Graph, seed: int) -> None:
    rng = random.Random(seed)
    walks = [whole_walk(graph, rng, 30) for _ in range(3)]
    for plan in (every_edge(graph), eprof(graph, costs_for(graph, seed)), every_block(graph)):
        assert interpret(graph, hoist(graph, plan), walks) == interpret(graph, plan, walks)


@given(graphs(), seeds())
@settings(max_examples=200)
def test_pinning_where_walks_end_early_keeps_the_counters_exact(graph: Graph, seed: int) -> None:
    walks = walks_for(graph, seed)
    plan = every_edge(graph)
    hoisted = hoist(graph, plan, pinned=tally(graph, walks).early)
    assert interpret(graph, hoisted, walks) == interpret(graph, plan, walks)


@given(graphs())
def test_a_hoisted_probe_cannot_be_hoisted_again_and_never_onto_a_virtual_edge(graph: Graph) -> None:
    hoisted = hoist(graph, every_edge(graph))
    assert hoist(graph, hoisted).on_edges == hoisted.on_edges
    assert all(graph.edges[index].kind is EdgeKind.FLOW for index in hoisted.on_edges)


def test_trip_counts_stay_on_loop_exits() -> None:
    graph = build("g", ["A", "B", "EXIT"], [(0, 1), (1, 2)])
    plan = Plan("eprof", (EdgeMeasure(1), EdgeMeasure(0)), {1: (Count(0), AddTripCount(1, 0))})
    assert hoist(graph, plan).on_edges == {0: (Count(0),), 1: (AddTripCount(1, 0),)}


def test_a_hundred_thousand_counters_in_a_row() -> None:
    size = 100_000
    labels = [f"b{number}" for number in range(size)] + ["EXIT"]
    graph = build("row", labels, [(number, number + 1) for number in range(size)])
    hoisted = hoist(graph, every_edge(graph))
    assert list(hoisted.on_edges) == [0]
    assert len(hoisted.on_edges[0]) == size
