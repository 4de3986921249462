from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given

from tests.graphs import graphs, seeds
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.plan.counters.schemes import every_block, every_edge
from trodden.plan.interpret import PathTally, interpret, interpret_paths, random_walk, tally
from trodden.plan.probes import (
    Add,
    AddTripCount,
    Bump,
    BumpAt,
    Count,
    EdgeMeasure,
    Paths,
    Plan,
    Restore,
    Save,
    Set,
    StartClock,
)

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


def test_trip_counts_start_at_the_last_entry_of_the_loop() -> None:
    twice = build("twice", ["A", "B", "C", "EXIT"], [(0, 1), (1, 1), (1, 2), (2, 1), (2, 3)])
    plan = Plan("test", (EdgeMeasure(1),), {2: (AddTripCount(0, 1),)})
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
        (probe,) = probes
        assert isinstance(probe, Count)
        assert counted[probe.slot] == truth.blocks[vertex]


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


def test_the_path_register() -> None:
    """A and B set it, C adds, and the path is counted where the procedure is left."""
    probes = {0: (Set(1),), 1: (Add(-1), Bump(1)), 3: (BumpAt(2),), 4: (Bump(),)}
    plan = Plan("test", (), probes, on_entry=(Set(5),), paths=Paths(3))
    told = interpret_paths(LOOP, plan, [[0, 1, 4], [0, 3], [0], []])
    assert told == PathTally([1, 1, 1], {}, {(1, 1): 1, (0, 5): 1})


def test_the_register_wraps_around() -> None:
    plan = Plan("test", (), {0: (Set(-3),), 1: (Add(1),), 3: (Bump(4),)}, paths=Paths(4))
    told = interpret_paths(LOOP, plan, [[0, 3], [0], [0, 1]])
    assert told == PathTally([0, 1, 0, 0], {}, {(1, 2**64 - 3): 1, (2, 2**64 - 2): 1})


def test_saved_registers_and_the_clock() -> None:
    probes = {0: (Save(0), Add(1)), 2: (Bump(), StartClock(), Restore(0, 2)), 3: (Bump(),)}
    timed = Paths(9, (2,), dense=False, timed=True)
    plan = Plan("test", (), probes, on_entry=(StartClock(), Set(3)), paths=timed)
    told = interpret_paths(LOOP, plan, [[0, 1, 2, 1, 2, 3]])
    assert told.sparse == {4: (1, 3), 5: (2, 3)}
    dense = Plan("test", (), probes, on_entry=plan.on_entry, paths=replace(timed, dense=True))
    counters = interpret(LOOP, dense, [[0, 1, 2, 1, 2, 3]])
    assert counters[:9] == [0, 0, 0, 0, 1, 2, 0, 0, 0]
    assert counters[9:] == [0, 0, 0, 0, 3, 3, 0, 0, 0]


def test_a_jump_to_a_resume_edge() -> None:
    """The path that the jump leaves is cut short; the one before the call has been counted already."""
    probes = {0: (Bump(), Set(1), Count(0))}
    plan = Plan("test", (EdgeMeasure(0),), probes, on_entry=(Set(0),), paths=Paths(2))
    told = interpret_paths(LOOP, plan, [[0, 1, 0, 3]])
    assert told == PathTally([2, 1, 0], {}, {(2, 1): 1})
    truth = tally(LOOP, [[0, 1, 0, 3]])
    assert truth.blocks == [1, 2, 1, 1]
    assert truth.early == {0: -1, 2: 1}


def test_invalid_plans_are_refused() -> None:
    with pytest.raises(ValueError, match="before it is set"):
        interpret(LOOP, Plan("test", (), {0: (Add(1),)}, paths=Paths(1)), [[0]])
    with pytest.raises(ValueError, match="no path 7"):
        interpret(LOOP, Plan("test", (), {0: (BumpAt(7),)}, paths=Paths(7)), [[0]])
