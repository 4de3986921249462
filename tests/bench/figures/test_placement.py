"""Increments of every placement of counters, by hand: BL94 Table 2 and Graphs 2 to 4."""

from __future__ import annotations

from bench.figures.placement import (
    BLOCKS_BY_BLOCKS,
    BLOCKS_BY_EDGES,
    BUILT,
    BY_ESTIMATE,
    BY_NESTING,
    BY_RUN,
    EVERY_BLOCK,
    WORST_BY_NESTING,
    WORST_BY_RUN,
    Placed,
    needs_jump,
    placement_figures,
    placements,
)
from tests.profile.making import function, graph_of, profile_of, unit_of
from trodden.graph.cfg import Graph
from trodden.plan.counters.edges import eprof
from trodden.plan.probes import CountableLoop, Plan
from trodden.profile.model import Profile

# Ten iterations, nine of them through the left side.
ROUNDS = "in>h h>l h>r l>t r>t t>h t>out out>exit"
TAKEN = {"in>h": 1, "h>l": 9, "h>r": 1, "l>t": 9, "r>t": 1, "t>h": 9, "t>out": 1, "out>exit": 1}

# Two cases of a switch have the same successor.
SWITCH = "a>b a>b b>c b>d c>exit d>exit"
SWITCHED = {"a>b": 3, "a>b#2": 4, "b>c": 2, "b>d": 5, "c>exit": 2, "d>exit": 5}

LOOP = "a>b b>c b>d c>b d>exit"
TEN_ROUNDS = {"a>b": 1, "b>c": 10, "b>d": 1, "c>b": 10, "d>exit": 1}


def rounds() -> Profile:
    return profile_of(unit_of(function("f", ROUNDS)), {"f": TAKEN})


def test_figures_without_any_counter() -> None:
    found = placements(rounds())
    assert (found.functions, found.edges) == (1, 8)
    assert found.blocks == 1 + 10 + 9 + 1 + 10 + 1
    assert found.instructions == 3 * found.blocks
    assert found.placed[EVERY_BLOCK] == Placed(6, 0, 32, 0)


def test_weights_of_the_run_place_counters_best_or_worst() -> None:
    found = placements(rounds()).placed
    assert found[BY_RUN] == Placed(3, 1, 9 + 1 + 1, 9)  # t>h, r>t, out>exit
    assert found[WORST_BY_RUN] == Placed(3, 1, 9 + 9 + 1, 9)  # l>t, t>h, out>exit


def test_nesting_gives_both_sides_the_same_weight() -> None:
    found = placements(rounds()).placed
    assert found[BY_NESTING] == Placed(3, 0, 9 + 1 + 1, 0)  # l>t, r>t, out>exit
    assert found[WORST_BY_NESTING] == Placed(3, 1, 9 + 1 + 9, 9)  # l>t, r>t, t>h
    assert found[BLOCKS_BY_BLOCKS] == Placed(3, 0, 9 + 1 + 1, 0)  # l, r, out
    assert found[BUILT] == found[BY_NESTING]


def test_a_block_profile_needs_no_counter_on_parallel_edges() -> None:
    found = placements(profile_of(unit_of(function("f", SWITCH)), {"f": SWITCHED})).placed
    assert found[BY_NESTING] == Placed(3, 1, 4 + 2 + 5, 4)
    assert found[BLOCKS_BY_EDGES] == Placed(2, 0, 2 + 5, 0)
    assert found[EVERY_BLOCK].increments == 7 + 7 + 2 + 5


def test_counting_blocks_can_cost_more_than_counting_edges() -> None:
    flow = {"a>b": 3, "a>c": 7, "b>c": 3, "c>exit": 10}
    found = placements(profile_of(unit_of(function("f", "a>b a>c b>c c>exit")), {"f": flow})).placed
    assert found[BY_NESTING] == found[BY_ESTIMATE] == Placed(2, 1, 7 + 3, 7)
    assert found[BLOCKS_BY_BLOCKS] == Placed(2, 0, 3 + 10, 0)


def test_a_loop_with_a_trip_count_is_counted_at_its_exit() -> None:
    def plan(graph: Graph) -> Plan:
        return eprof(graph, [1.0, 10.0, 1.0, 10.0, 1.0, 1.0], [CountableLoop(3, (2,), 0.5)])

    found = placements(profile_of(unit_of(function("f", LOOP, planner=plan)), {"f": TEN_ROUNDS}))
    assert found.trips == 1
    assert found.placed[BUILT].increments == 2
    assert found.placed[BY_RUN].increments == 11


def test_functions_are_summed_as_plain_numbers() -> None:
    unit = unit_of(function("f", ROUNDS), function("g", SWITCH))
    found = placement_figures(profile_of(unit, {"f": TAKEN, "g": SWITCHED}))
    assert (found["functions"], found["edges"], found["blocks"]) == (2, 14, 53)
    assert found["placed"][BY_NESTING] == {"counters": 6, "jumping": 1, "increments": 22, "jumps": 4}


def test_a_counter_on_a_critical_edge_needs_a_jump() -> None:
    graph = graph_of("f", "a>b a>c b>c c>exit a>exit")
    assert [needs_jump(graph, edge) for edge in graph.flow_edges()] == [False, True, False, False, False]
