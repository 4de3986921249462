"""Counters that are behind others because the process was killed between two increments."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from trodden.graph.cfg import Graph, build
from trodden.plan.paths.plan import checked_paths, path_plan
from trodden.plan.probes import BlockMeasure, EdgeMeasure
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.killed.lagging import (
    edge_counters_behind_paths,
    entries_in_root_loop,
    self_loop_counters,
)
from trodden.recover.killed.procedure import Procedure
from trodden.recover.paths import PathFlow, recover_paths

JOIN = build("f", ["a", "b", "c", "join", "end", "EXIT"], [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)])
"""Behind the join one continuation is left, so that paths are counted before it unless it has calls."""
AB, AC, BJ, CJ, JE, LEAVE = range(6)
SPIN = build("g", ["r", "e", "EXIT"], [(0, 0), (0, 1), (1, 2)])
"""The root block is a self loop."""
LOOP, RE, DONE = range(3)


def procedure(
    graph: Graph, weights: Sequence[float], may_be_cut_short: Sequence[int] = (), checked: bool = True
) -> Procedure:
    plan = path_plan(graph, [*weights, 1.0], may_be_cut_short=may_be_cut_short)
    return Procedure(graph, checked_paths(plan, graph) if checked else plan)


def flow_of(made: Procedure, counters: Sequence[int] | None = None) -> PathFlow:
    return recover_paths(made.graph, made.plan, FunctionCounts(counters or [0] * made.plan.slots))


def test_paths_are_counted_before_the_join() -> None:
    assert procedure(JOIN, [1.0] * 6).counted_early >= {3, 4}
    assert procedure(JOIN, [1.0] * 6, may_be_cut_short=range(5)).counted_early == frozenset()


@pytest.mark.parametrize(
    ("may_be_cut_short", "excess", "behind"),
    [
        ((), {JE: -2, LEAVE: -2, AB: 1}, {JE: 2, LEAVE: 2}),
        (range(5), {LEAVE: -1}, {LEAVE: 1}),
        (range(5), {JE: -1, LEAVE: -1}, {LEAVE: 1}),
        ((1, 2), {AB: -1, BJ: -1}, {BJ: 1}),
    ],
    ids=["counted early", "counted at the end", "a contradiction before the end", "before the count"],
)
def test_an_edge_may_be_behind_its_path(
    may_be_cut_short: Sequence[int], excess: dict[int, int], behind: dict[int, int]
) -> None:
    made = procedure(JOIN, [1.0] * 6, may_be_cut_short)
    expected = {made.redundant_slots[edge]: times for edge, times in behind.items()}
    assert edge_counters_behind_paths(made, excess) == expected


def test_an_edge_may_be_behind_the_path_that_is_counted_on_it() -> None:
    """Killed right after the path was counted: the edges to the join have counters behind that."""
    made = procedure(JOIN, [1.0] * 6)
    counting = [edge for edge in (AB, AC, BJ, CJ) if made.counts_paths(edge)]
    assert counting
    for edge in counting:
        assert edge_counters_behind_paths(made, {edge: -1}) == {made.redundant_slots[edge]: 1}


@pytest.mark.parametrize(
    ("weight", "measure", "entries"), [(9.0, BlockMeasure(0), 2), (0.0, EdgeMeasure(LOOP), 0)]
)
def test_entries_of_a_root_block_that_is_a_self_loop(
    weight: float, measure: BlockMeasure | EdgeMeasure, entries: int
) -> None:
    """Where the loop is counted on its edge, its second counter is behind it, and nothing was entered."""
    made = procedure(SPIN, [weight, 1.0, 1.0])
    assert made.plan.measures[0] == measure
    assert entries_in_root_loop(made, {LOOP: -2}) == entries
    assert entries_in_root_loop(made, {LOOP: 2}) == entries_in_root_loop(made, {}) == 0


@pytest.mark.parametrize("weight", [0.0, 9.0])
def test_of_two_counters_of_a_self_loop_the_lower_is_behind(weight: float) -> None:
    made = procedure(SPIN, [weight, 1.0, 1.0])
    own, redundant = made.loop_counters[LOOP], made.redundant_slots[LOOP]
    flow = flow_of(made)
    assert self_loop_counters(made, flow, {LOOP: 3}) == {own: 3}
    assert self_loop_counters(made, flow, {LOOP: -3}) == {redundant: 3}
    assert self_loop_counters(made, flow, {LOOP: 0}) == {}


def test_paths_may_be_ahead_of_the_counter_of_their_block() -> None:
    """A path led to the block of a self loop that is counted by its block, and had not been counted there."""
    graph = build("h", ["a", "s", "EXIT"], [(0, 1), (1, 1), (1, 2)])
    made = procedure(graph, [1.0, 9.0, 1.0], checked=False)
    assert made.plan.measures == (BlockMeasure(1),)
    flow = flow_of(made, [0, 1])
    assert flow.edges[1] == -1
    assert self_loop_counters(made, flow, {}) == {0: 1}
