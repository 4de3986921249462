"""Counters of a process that was killed fit together again."""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings

from tests.graphs import costs_for, graphs, seeds
from tests.programs import chain
from tests.recover.killed.executing import Execution, redundant_first
from trodden.graph.cfg import Graph, build
from trodden.graph.knuth_stevenson import reduce_to_blocks
from trodden.graph.traverse import reachable
from trodden.plan.counters.edges import count_edges
from trodden.plan.counters.schemes import checked, eprof, every_block, every_edge, hoist, vprof_by_blocks
from trodden.plan.interpret import interpret, random_walk, tally
from trodden.plan.probes import (
    AddTripCount,
    BlockMeasure,
    Count,
    CountableLoop,
    EdgeMeasure,
    Plan,
    RedundantMeasure,
)
from trodden.recover.flow import Flow, recover
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.killed.flow import (
    agreed_edge_counts,
    complete_flow,
    edge_balance,
    loops_counted_on_exit,
    stop_preferences,
    stops_in_blocks,
)
from trodden.recover.sparse_counters import SparseCounters
from trodden.weigh.frequency.nesting import nesting_weights


def _walks(graph: Graph, seed: int) -> list[list[int]]:
    rng = random.Random(seed)
    return [random_walk(graph, rng, rng.choice([3, 8, 40])) for _ in range(rng.randint(1, 4))]


def _completed(graph: Graph, plan: Plan, counted: FunctionCounts, found: FunctionCounts | None) -> Flow:
    after = counted if found is None else counted + found
    return recover(graph, plan, list(after.counters), after.early_ends)


def _missing(
    plan: Plan, stops: Mapping[int, int], pending: Mapping[int, int] | None = None
) -> FunctionCounts:
    return FunctionCounts(SparseCounters(plan.slots, pending or {}), stops)


def _fewest(graph: Graph, plan: Plan, counters: Sequence[int], most: int) -> tuple[int, list[Flow]]:
    """The least number of stops, and all that follows from that many, by trying everything."""
    blocks = sorted(reachable(graph) - {graph.exit})
    for number in range(most + 1):
        flows = [
            recover(graph, plan, counters, Counter(stops))
            for stops in combinations_with_replacement(blocks, number)
        ]
        if found := [flow for flow in flows if not flow.violations]:
            return number, found
    return most + 1, []


@given(graphs(), seeds())
@settings(max_examples=400, deadline=None)
def test_edges_fit_together_and_are_off_by_no_more_than_was_under_way(graph: Graph, seed: int) -> None:
    walks = _walks(graph, seed)
    truth = tally(graph, walks)
    under_way = sum(truth.early.values())
    plan = eprof(graph, costs_for(graph, seed))
    for each in (plan, hoist(graph, plan), every_edge(graph), checked(graph, costs_for(graph, seed))):
        counted = FunctionCounts(interpret(graph, each, walks))
        found = complete_flow(graph, each, counted)
        flow = _completed(graph, each, counted, found)
        assert flow.violations == ()
        stops = sum(found.active.values()) if found is not None else 0
        assert stops <= under_way
        for count, real in zip(flow.edges, truth.edges, strict=True):
            assert count is not None
            assert abs(count - real) <= under_way


@given(graphs(max_blocks=5, max_edges=9), seeds())
@settings(max_examples=150, deadline=None)
def test_no_fewer_ends_would_do(graph: Graph, seed: int) -> None:
    walks = _walks(graph, seed)[:3]
    under_way = sum(tally(graph, walks).early.values())
    for plan in (eprof(graph, costs_for(graph, seed)), every_edge(graph), every_block(graph)):
        counters = interpret(graph, plan, walks)
        found = complete_flow(graph, plan, FunctionCounts(counters))
        if found is not None:
            fewest, possible = _fewest(graph, plan, counters, under_way)
            flow = _completed(graph, plan, FunctionCounts(counters), found)
            assert sum(found.active.values()) == fewest
            assert flow in possible
            if all(each.edges == possible[0].edges for each in possible):
                assert flow.edges == possible[0].edges
        else:
            assert plan.scheme == "every-block" or not recover(graph, plan, counters).violations


@given(graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_block_counts_fit_together_or_are_left_alone(graph: Graph, seed: int) -> None:
    walks = _walks(graph, seed)
    under_way = sum(tally(graph, walks).early.values())
    for plan in (every_block(graph), vprof_by_blocks(graph, [1.0] * len(graph.labels))):
        counters = interpret(graph, plan, walks)
        found = complete_flow(graph, plan, FunctionCounts(counters))
        if found is not None:
            assert _completed(graph, plan, FunctionCounts(counters), found).violations == ()
            assert sum(found.active.values()) <= under_way


@given(graphs(), seeds())
@settings(max_examples=100, deadline=None)
def test_what_is_consistent_is_never_changed(graph: Graph, seed: int) -> None:
    walks = _walks(graph, seed)
    truth = tally(graph, walks)
    for plan in (eprof(graph, costs_for(graph, seed)), every_edge(graph), every_block(graph)):
        assert complete_flow(graph, plan, FunctionCounts(interpret(graph, plan, walks), truth.early)) is None


def _diamond() -> Graph:
    """a branches to b and c, which meet in d."""
    return build("f", ["a", "b", "c", "d", "EXIT"], [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])


def test_a_block_that_calls_is_preferred_and_then_the_furthest_on() -> None:
    """a went to b three times and d was left twice: one walk ended in b or in d."""
    graph = _diamond()
    plan = count_edges("eprof", [0, 4])
    assert complete_flow(graph, plan, FunctionCounts([3, 2])) == _missing(plan, {3: 1})
    assert complete_flow(graph, plan, FunctionCounts([3, 2]), calls={1}) == _missing(plan, {1: 1})
    assert complete_flow(graph, plan, FunctionCounts([3, 2]), calls={0}) == _missing(plan, {3: 1})
    assert complete_flow(graph, plan, FunctionCounts([5, 2]), calls={1, 3}) == _missing(plan, {3: 3})
    every = every_edge(graph)
    assert complete_flow(graph, every, FunctionCounts([3, 0, 3, 0, 2]), calls={1}) == _missing(every, {3: 1})


def test_inherited_calls_that_are_still_active_are_found() -> None:
    """A forked child began in d and was killed there: nothing was counted at all."""
    graph = _diamond()
    plan = every_edge(graph)
    found = complete_flow(graph, plan, FunctionCounts([0] * 5, {3: -1}))
    assert found == _missing(plan, {3: 1})


def test_a_counter_that_lags_behind_its_second_has_increments_pending() -> None:
    graph = _diamond()
    plan = checked(graph, nesting_weights(graph))
    walks = [[0, 2, 4]]
    counters = interpret(graph, plan, walks)
    first = next(slot for slot, count in enumerate(counters) if count)
    lagging = [count - (slot == first) for slot, count in enumerate(counters)]
    assert complete_flow(graph, plan, FunctionCounts(lagging)) == _missing(plan, {}, {first: 1})


def test_iterations_of_a_loop_that_was_never_left_are_added() -> None:
    """The loop of h, a | b, l was killed after some iterations, which are counted only where it is left."""
    graph = build("f", ["s", "h", "a", "b", "l", "e", "EXIT"], _LOOP)
    trip = CountableLoop(6, (7,), 1.0)
    plan = eprof(
        graph, [1.0, 5.0, 1.0, 5.0, 1.0, 5.0, 1.0, 5.0, 5.0, 9.0][: len(graph.edges)], countable_loops=[trip]
    )
    walk = [0, *[1, 3, 5, 6] * 3, *[1, 2, 4, 6] * 2, 1]
    counters = interpret(graph, plan, [walk])
    assert recover(graph, plan, counters).violations
    found = complete_flow(graph, plan, FunctionCounts(counters))
    assert found is not None
    assert sum(found.counters) >= 1
    assert sum(found.active.values()) <= 1
    assert _completed(graph, plan, FunctionCounts(counters), found).violations == ()


_LOOP = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 5), (4, 1), (5, 6)]


def test_what_no_end_explains_is_left_to_be_reported() -> None:
    graph = _diamond()
    assert complete_flow(graph, every_edge(graph), FunctionCounts([1, 0, 0, 5, 1])) is None


@pytest.mark.parametrize("blocks", [50_000])
def test_long_functions_take_linear_time(blocks: int) -> None:
    graph = chain(blocks)
    plan = every_edge(graph)
    flow = list(graph.flow_edges())
    counters = [int(index < len(flow) // 2) for index in range(plan.slots)]
    begin = time.process_time()
    found = complete_flow(graph, plan, FunctionCounts(counters))
    assert time.process_time() - begin < 20
    assert found is not None
    assert sum(found.active.values()) == 1


@given(graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_killed_between_any_two_probes(graph: Graph, seed: int) -> None:
    costs = costs_for(graph, seed)
    both = checked(graph, costs)
    rng = random.Random(seed)
    for plan in (eprof(graph, costs), hoist(graph, eprof(graph, costs)), both, redundant_first(both)):
        process = Execution(graph, plan)
        for walk in _walks(graph, seed):
            process.run(walk, rng.choice([None, rng.randint(0, 60)]))
        counted = process.counted
        flow = _completed(graph, plan, counted, complete_flow(graph, plan, counted))
        assert flow.violations == ()
        for count, real in zip(flow.edges, process.edges, strict=True):
            assert count is not None
            assert abs(count - real) <= process.under_way


# The steps


def test_of_two_counters_of_an_edge_the_larger_is_right() -> None:
    measures = (EdgeMeasure(3), RedundantMeasure(3), EdgeMeasure(5), RedundantMeasure(4), RedundantMeasure(5))
    plan = Plan("checked", measures)
    assert agreed_edge_counts(plan, [7, 9, 4, 2, 4]) == ({3: 9, 5: 4, 4: 2}, {0: 2})


def test_what_known_counts_leave_open() -> None:
    """a was left for b three times and d was left twice: b -> d and c -> d are open, and the entries."""
    graph = _diamond()
    balance = edge_balance(graph, {0: 3, 4: 2}, {})
    assert balance.totals == [3, -3, 0, 2, -2]
    assert balance.unknown == [(0, 2), (1, 3), (2, 3), (4, 0)]
    assert edge_balance(graph, {0: 3, 4: 2}, {1: 1}).totals == [3, -2, 0, 2, -3]


@pytest.mark.parametrize("second", [False, True])
def test_loops_that_are_counted_when_they_are_left(second: bool) -> None:
    """A second counter on the back edge counts the iterations at once."""
    measures = (EdgeMeasure(0), EdgeMeasure(6), RedundantMeasure(6) if second else RedundantMeasure(2))
    plan = Plan("edges", measures, {7: (AddTripCount(1, 6),), 0: (Count(0),)})
    assert loops_counted_on_exit(plan) == ({} if second else {1: 6})


def test_a_stop_is_preferred_in_a_block_that_calls_and_then_in_the_last() -> None:
    graph = build("f", ["a", "b", "c", "dead", "EXIT"], [(0, 1), (0, 2), (1, 4), (2, 4), (3, 4)])
    preferences = stop_preferences(graph, {1})
    assert preferences[3] is None
    assert preferences[4] is None
    ranked = sorted((p, block) for block, p in enumerate(preferences) if p is not None)
    assert [block for _, block in ranked] == [0, 2, 1]


def test_a_block_takes_no_more_stops_than_it_ran() -> None:
    """b ran once and c twice, and d never: three walks stopped, one of them at most in b."""
    graph = _diamond()
    plan = every_block(graph)
    counted = FunctionCounts(
        [{0: 3, 1: 1, 2: 2}.get(each.block, 0) for each in plan.measures if isinstance(each, BlockMeasure)]
    )
    reduced = reduce_to_blocks(graph)
    stops = [0] * reduced.classes
    stops[reduced.leaving[1]] = 3
    preferences = stop_preferences(graph, {1})
    assert reduced.leaving[1] == reduced.leaving[2]
    assert stops_in_blocks(graph, plan, counted, reduced, stops, preferences) == {1: 1, 2: 2}
    stops[reduced.leaving[1]] = 4
    assert stops_in_blocks(graph, plan, counted, reduced, stops, preferences) is None
