from __future__ import annotations

import random

from hypothesis import given

from tests.graphs import graphs, seeds
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.plan.counters import every_block, every_edge
from trodden.plan.interpret import interpret, random_walk, tally
from trodden.plan.probes import AddTrips, Count, EdgeMeasure, Plan

LOOP = build("loop", ["A", "B", "C", "EXIT"], [(0, 1), (1, 2), (2, 1), (1, 3), (2, 3)])


def test_a_tally_counts_blocks_edges_and_early_ends() -> None:
    truth = tally(LOOP, [[0, 1, 2, 1, 2, 3], [0, 1], []])
    assert truth.blocks == [3, 4, 3, 3]
    assert truth.edges == [2, 3, 2, 1, 0, 3]
    assert truth.early == {0: 1, 2: 1}


def test_probes_fire_on_edges_and_in_blocks() -> None:
    plan = Plan("test", (), {1: (Count(0), Count(2))}, {0: (Count(1),)})
    plan = Plan("test", (EdgeMeasure(0),) * 3, plan.on_edges, plan.on_blocks)
    assert interpret(LOOP, plan, [[0, 1, 2, 1, 2, 3], [0]]) == [2, 2, 2]


def test_trips_count_from_the_last_entry_of_the_loop() -> None:
    twice = build("twice", ["A", "B", "C", "EXIT"], [(0, 1), (1, 1), (1, 2), (2, 1), (2, 3)])
    plan = Plan("test", (EdgeMeasure(1),), {2: (AddTrips(0, 1),)})
    assert interpret(twice, plan, [[0, 1, 1, 1, 2]]) == [3]
    assert interpret(twice, plan, [[0, 1, 1, 2, 3, 1, 2, 3, 2, 4]]) == [3]
    assert interpret(twice, plan, [[0, 1, 1], [0, 1, 2]]) == [1]


@given(graphs(), seeds())
def test_counting_everything_agrees_with_the_tally(graph: Graph, seed: int) -> None:
    rng = random.Random(seed)
    walks = [random_walk(graph, rng, 20) for _ in range(3)]
    truth = tally(graph, walks)
    edges = every_edge(graph)
    for edge, count in zip(edges.measures, interpret(graph, edges, walks), strict=True):
        assert isinstance(edge, EdgeMeasure)
        assert truth.edges[edge.edge] == count
    blocks = every_block(graph)
    counted = interpret(graph, blocks, walks)
    for vertex, probes in blocks.on_blocks.items():
        assert [counted[probe.slot] for probe in probes] == [truth.blocks[vertex]]


@given(graphs(), seeds())
def test_a_random_walk_follows_edges_and_stops_only_where_it_must(graph: Graph, seed: int) -> None:
    walk = random_walk(graph, random.Random(seed), 20)
    vertex = graph.root
    for index in walk:
        assert graph.edges[index].kind is EdgeKind.FLOW
        assert graph.edges[index].src == vertex
        vertex = graph.edges[index].dst
    onward = [index for index in graph.out_edges[vertex] if graph.edges[index].kind is EdgeKind.FLOW]
    assert len(walk) == 20 or not onward
