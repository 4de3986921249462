"""Self loops that were iterated by executions of which nothing else was counted."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.recover.killed.executing import Execution
from trodden.errors import BadFile
from trodden.graph.cfg import Graph, build
from trodden.plan.paths.plan import checked_paths, path_plan
from trodden.plan.probes import BlockMeasure, EdgeMeasure, Plan
from trodden.recover import budget
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.killed.paths import CompletedPaths, complete_paths
from trodden.recover.killed.unreached_loops import loop_arrivals
from trodden.recover.paths import PathFlow, recover_paths

SPIN = build("f", ["a", "b", "s", "e", "EXIT"], [(0, 1), (0, 2), (1, 2), (2, 2), (2, 3), (3, 4)])
"""a leads to s at once or by b; s is a self loop."""
AB, AS, BS, LOOP, SE, LEAVE, ENTER = range(7)
ROOT = build("g", ["r", "e", "EXIT"], [(0, 0), (0, 1), (1, 2)])
"""The root block is a self loop."""


def plan_for(
    graph: Graph, heavy: bool, may_be_cut_short: Sequence[int] | None = None, checked: bool = False
) -> Plan:
    """A heavy self loop is counted by its block, another one on its edge."""
    weights = [9.0 if heavy and edge.src == edge.dst else 1.0 for edge in graph.edges]
    if not heavy:
        weights = [0.0 if edge.src == edge.dst else 1.0 for edge in graph.edges]
    plan = path_plan(
        graph, weights, may_be_cut_short=range(graph.exit) if may_be_cut_short is None else may_be_cut_short
    )
    return checked_paths(plan, graph) if checked else plan


def completed(graph: Graph, plan: Plan, counted: FunctionCounts) -> PathFlow:
    missing = complete_paths(graph, plan, counted).missing
    return recover_paths(graph, plan, counted if missing is None else counted + missing)


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize("heavy", [False, True])
def test_what_was_iterated_was_entered(heavy: bool, checked: bool) -> None:
    plan = plan_for(ROOT, heavy, checked=checked)
    assert plan.measures[0] == (BlockMeasure(0) if heavy else EdgeMeasure(0))
    process = Execution(ROOT, plan)
    process.run([0, 0, 0])
    flow = completed(ROOT, plan, process.counted)
    assert (flow.violations, flow.edges, flow.early) == ((), [3, 0, 0, 1], {0: 1})


@pytest.mark.parametrize("heavy", [False, True])
def test_some_edges_led_to_the_loop(heavy: bool) -> None:
    """Which ones is not known, but they are a path from the entry."""
    plan = plan_for(SPIN, heavy)
    process = Execution(SPIN, plan)
    process.run([AB, BS, LOOP, LOOP])
    flow = completed(SPIN, plan, process.counted)
    assert (flow.violations, flow.early, flow.edges[ENTER], flow.edges[LOOP]) == ((), {2: 1}, 1, 2)
    assert flow.edges[AS] + flow.edges[BS] == 1
    assert flow.edges[AB] == flow.edges[BS]


def test_one_execution_explains_all_loops_that_lie_behind_each_other() -> None:
    row = build("f", ["a", "s", "t", "EXIT"], [(0, 1), (1, 1), (1, 2), (2, 2), (2, 3)])
    plan = plan_for(row, heavy=False)
    process = Execution(row, plan)
    process.run([0, 1, 1, 2, 3])
    flow = completed(row, plan, process.counted)
    assert (flow.violations, flow.edges, flow.early) == ((), process.edges, {2: 1})


def test_no_execution_passes_a_counted_block_that_has_no_arrivals_left() -> None:
    """Two loops are counted by their blocks.  The first was never reached, so the edge past it was taken."""
    graph = build("f", ["a", "s", "t", "EXIT"], [(0, 1), (0, 2), (1, 1), (1, 2), (2, 2), (2, 3)])
    plan = plan_for(graph, heavy=True)
    process = Execution(graph, plan)
    process.run([1, 4, 4])
    flow = completed(graph, plan, process.counted)
    assert (flow.violations, flow.edges) == ((), process.edges)


def test_the_loop_in_which_a_forked_child_began_was_reached_by_its_parent() -> None:
    plan = plan_for(SPIN, heavy=False)
    process = Execution(SPIN, plan)
    process.run([AS, LOOP, LOOP], forked=1)
    counted = process.counted
    flow = recover_paths(SPIN, plan, counted)
    assert loop_arrivals(SPIN, plan, counted, flow.edges).unreached == []
    after = completed(SPIN, plan, counted)
    assert (after.violations, after.edges) == ((), [0, 0, 0, 2, 0, 0, 0])


def test_where_the_register_identifies_no_path_that_is_reported() -> None:
    """s is never left and makes no call, so that the register is not maintained there."""
    graph = build("f", ["a", "b", "s", "e", "EXIT"], [(0, 1), (0, 2), (1, 2), (2, 2), (0, 3), (3, 4)])
    plan = plan_for(graph, heavy=False, may_be_cut_short=())
    process = Execution(graph, plan)
    process.run([1, 3, 3])
    flow = completed(graph, plan, process.counted)
    assert flow.violations == ("block s: 1 paths were cut short there, and it is not known which",)


@pytest.mark.parametrize("heavy", [False, True])
def test_a_loop_that_no_execution_can_have_reached_is_reported_and_not_completed(heavy: bool) -> None:
    """The edge to the loop has a counter of its own, and that says that it was never taken."""
    row = build("f", ["a", "s", "e", "EXIT"], [(0, 1), (1, 1), (1, 2), (2, 3)])
    plan = plan_for(row, heavy, checked=True)
    counters = [0] * plan.slots
    for slot, measure in enumerate(plan.measures):
        if measure == BlockMeasure(1) or getattr(measure, "edge", None) == 1:
            counters[slot] = 5
    counted = FunctionCounts(counters)
    assert recover_paths(row, plan, counted).violations == ()
    assert complete_paths(row, plan, counted) == CompletedPaths(None, unreachable=(1,))


def test_the_search_is_bounded_as_all_reading_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty executions in as many loops: each search looks at the edges that the others took."""
    cases = range(1, 51)
    flow = [
        *((0, case) for case in cases),
        *((case, case) for case in cases),
        *((case, 51) for case in cases),
    ]
    graph = build("f", ["a", *(f"s{case}" for case in cases), "EXIT"], flow)
    plan = plan_for(graph, heavy=False)
    counted = FunctionCounts([1] * len(plan.measures) + [0] * (plan.slots - len(plan.measures)))
    assert completed(graph, plan, counted).edges[graph.closing] == 50
    monkeypatch.setattr(budget, "_FIRST", -256 * len(graph.edges) + 100)
    with pytest.raises(BadFile, match="too many and too long"):
        complete_paths(graph, plan, counted)
