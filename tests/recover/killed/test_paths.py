"""Path counts of a process that was killed fit together again."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings

from tests.graphs import costs_for, graphs, leaving_graphs, seeds
from tests.recover.killed.executing import Execution, redundant_first
from trodden.graph.cfg import Graph, build
from trodden.plan.interpret import PathTally, interpret_paths, random_walk, tally
from trodden.plan.paths.plan import checked_paths, path_plan
from trodden.plan.probes import BlockMeasure, EdgeMeasure, Plan, RedundantMeasure
from trodden.plan.routes import PathEnd
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.killed.open_walks import Walk
from trodden.recover.killed.paths import complete_paths, open_paths
from trodden.recover.killed.procedure import Procedure
from trodden.recover.killed.sources import Source
from trodden.recover.paths import PathFlow, recover_paths

Prefixes = Mapping[tuple[int, int | None], int]


def _walks(graph: Graph, seed: int) -> list[list[int]]:
    rng = random.Random(seed)
    return [random_walk(graph, rng, rng.choice([3, 8, 40])) for _ in range(rng.randint(1, 4))]


def _counted(run: PathTally, prefixes: Prefixes) -> FunctionCounts:
    return FunctionCounts(run.counters, {}, prefixes, run.sparse)


def _completed(graph: Graph, plan: Plan, run: PathTally, prefixes: Prefixes) -> PathFlow:
    counted = _counted(run, prefixes)
    missing = complete_paths(graph, plan, counted).missing
    return recover_paths(graph, plan, counted if missing is None else counted + missing)


def _walked(graph: Graph, edges: Sequence[int]) -> list[int]:
    """Without the entries: whether a path in the root block started behind a back edge is not certain."""
    return [count for index, count in enumerate(edges) if index != graph.closing]


def _check(graph: Graph, plan: Plan, walks: Sequence[Sequence[int]]) -> None:
    truth = tally(graph, [list(walk) for walk in walks])
    under_way = sum(truth.early.values())
    flow = _completed(graph, plan, interpret_paths(graph, plan, walks), {})
    assert flow.violations == ()
    for count, real in zip(flow.edges, truth.edges, strict=True):
        assert abs(count - real) <= under_way


@pytest.mark.parametrize("context", [False, True])
@given(graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_paths_under_way_are_found_as_far_as_they_are_known(context: bool, graph: Graph, seed: int) -> None:
    walks = _walks(graph, seed)
    _check(
        graph,
        path_plan(graph, costs_for(graph, seed), context=context, may_be_cut_short=range(graph.exit)),
        walks,
    )


@pytest.mark.parametrize("context", [False, True])
@given(leaving_graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_so_they_are_where_no_block_holds_the_register(context: bool, graph: Graph, seed: int) -> None:
    walks = _walks(graph, seed)
    _check(graph, path_plan(graph, costs_for(graph, seed), context=context), walks)
    _check(graph, path_plan(graph, costs_for(graph, seed), context=context, limit=4), walks)


@pytest.mark.parametrize("context", [False, True])
@given(graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_counters_on_edges_show_how_far_paths_came(context: bool, graph: Graph, seed: int) -> None:
    walks = _walks(graph, seed)
    lean = path_plan(graph, costs_for(graph, seed), context=context, may_be_cut_short=range(graph.exit))
    plan = checked_paths(lean, graph)
    truth = tally(graph, walks)
    flow = _completed(graph, plan, interpret_paths(graph, plan, walks), {})
    assert flow.violations == ()
    assert _walked(graph, flow.edges) == _walked(graph, truth.edges)


@pytest.mark.parametrize("dense", [1 << 18, 0])
@given(graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_an_end_that_one_of_two_counters_has_is_an_end(dense: int, graph: Graph, seed: int) -> None:
    """The path was counted but not its last edge, or the edge but not the path."""
    walks = _walks(graph, seed)
    lean = path_plan(graph, costs_for(graph, seed), may_be_cut_short=range(graph.exit), dense=dense)
    plan = checked_paths(lean, graph)
    whole = interpret_paths(graph, plan, walks)
    back = plan.paths.back_edges if plan.paths is not None else ()
    ends = {edge for edge in graph.flow_edges() if graph.edges[edge].dst == graph.exit or edge in back}
    last = [
        n for n, one in enumerate(plan.measures) if isinstance(one, RedundantMeasure) and one.edge in ends
    ]
    truth = recover_paths(graph, plan, _counted(whole, whole.prefixes))
    assert truth.violations == ()
    for slot in last:
        if whole.counters[slot]:
            counters = [count - (number == slot) for number, count in enumerate(whole.counters)]
            late = PathTally(counters, whole.sparse, whole.prefixes)
            assert _completed(graph, plan, late, whole.prefixes).edges == truth.edges
    for path, times in [(path.id, path.count) for path in truth.paths if path.ends is not PathEnd.UNWOUND]:
        counters, sparse = list(whole.counters), dict(whole.sparse)
        if dense:
            counters[len(plan.measures) + path] -= 1
        else:
            sparse[path] = times - 1, 0
            sparse = {key: counted for key, counted in sparse.items() if counted[0]}
        flow = _completed(graph, plan, PathTally(counters, sparse, whole.prefixes), whole.prefixes)
        assert flow.violations == ()
        assert _walked(graph, flow.edges) == _walked(graph, truth.edges)


@pytest.mark.parametrize("weight", [0.0, 9.0])
@pytest.mark.parametrize("lagging", [0, -1])
def test_an_iteration_that_one_of_two_counters_has(weight: float, lagging: int) -> None:
    """The loop of one block is counted on its edge, or by its block if it is heavy."""
    graph = build("f", ["a", "h", "e", "EXIT"], [(0, 1), (1, 1), (1, 2), (2, 3)])
    plan = checked_paths(path_plan(graph, [1.0, weight, 1.0, 1.0, 1.0], may_be_cut_short=range(3)), graph)
    whole = interpret_paths(graph, plan, [[0, 1, 1, 2, 3]])
    slot = plan.measures.index(RedundantMeasure(1)) if lagging else 0
    assert isinstance(plan.measures[0], BlockMeasure if weight else EdgeMeasure)
    counters = [count - (number == slot) for number, count in enumerate(whole.counters)]
    flow = _completed(graph, plan, PathTally(counters, {}, {}), {})
    assert flow.violations == ()
    assert flow.edges[:4] == [1, 2, 1, 1]


@given(graphs(), seeds())
@settings(max_examples=100, deadline=None)
def test_what_is_consistent_is_never_changed(graph: Graph, seed: int) -> None:
    plan = path_plan(graph, costs_for(graph, seed), may_be_cut_short=range(graph.exit))
    run = interpret_paths(graph, plan, _walks(graph, seed))
    assert complete_paths(graph, plan, _counted(run, run.prefixes)).missing is None


@given(graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_a_forked_child_that_was_killed_at_once_has_executed_nothing(graph: Graph, seed: int) -> None:
    """Its parent's paths are taken away from it, and it has ended none of them."""
    plan = path_plan(graph, costs_for(graph, seed), may_be_cut_short=range(graph.exit))
    began = interpret_paths(graph, plan, _walks(graph, seed)).prefixes
    inherited = {key: -times for key, times in began.items()}
    flow = _completed(graph, plan, PathTally([0] * plan.slots, {}, {}), inherited)
    assert flow.violations == ()
    assert not any(_walked(graph, flow.edges))


def test_a_loop_that_was_not_left_is_cut_short_at_its_entry() -> None:
    graph = build("f", ["a", "h", "b", "e", "EXIT"], [(0, 1), (1, 2), (2, 1), (1, 3), (3, 4)])
    plan = path_plan(graph, [1.0] * len(graph.edges), may_be_cut_short=range(graph.exit))
    run = interpret_paths(graph, plan, [[0, 1, 2, 1, 2, 1]])
    flow = _completed(graph, plan, run, {})
    assert flow.early == {1: 1}
    assert flow.edges[:5] == [1, 2, 2, 0, 0]
    assert flow.blocks[1] == 3


@pytest.mark.parametrize("arm", [1, 2])
@pytest.mark.parametrize("dense", [1 << 18, 0])
def test_a_path_that_is_counted_before_its_end_and_was_about_to_be(dense: int, arm: int) -> None:
    """Behind the join one continuation is left, so that paths are counted before it: its edges lag too."""
    names = ["a", "b", "c", "join", "end", "EXIT"]
    graph = build("f", names, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)])
    lean = path_plan(graph, [1.0] * len(graph.edges), may_be_cut_short=[1, 2], dense=dense)
    plan = checked_paths(lean, graph)
    walks = [[0, 2, 4, 5], [1, 3, 4, 5], [1, 3, 4, 5], [arm - 1, arm + 1, 4, 5]]
    whole = interpret_paths(graph, plan, walks)
    truth = recover_paths(graph, plan, _counted(whole, whole.prefixes))
    (path,) = [each.id for each in truth.paths if arm - 1 in each.edges]
    counters, sparse = list(whole.counters), dict(whole.sparse)
    for slot, measure in enumerate(plan.measures):
        counters[slot] -= isinstance(measure, RedundantMeasure) and measure.edge in (4, 5)
    # Both counted edges behind the join lag, whether or not the path itself has been counted.
    counted = _completed(graph, plan, PathTally(counters, sparse, whole.prefixes), whole.prefixes)
    assert (counted.violations, counted.edges) == ((), truth.edges)
    if dense:
        counters[len(plan.measures) + path] -= 1
    else:
        times, _ = sparse[path]
        sparse[path] = times - 1, 0
    flow = _completed(graph, plan, PathTally(counters, sparse, whole.prefixes), whole.prefixes)
    assert (flow.violations, flow.edges) == ((), truth.edges)


# Killed between any two probes


def _killed(graph: Graph, plan: Plan, seed: int) -> Execution:
    """Some executions that reached their ends, or were stopped between any two of their probes."""
    rng = random.Random(seed)
    process = Execution(graph, plan)
    for _ in range(rng.randint(1, 4)):
        walk = random_walk(graph, rng, rng.choice([1, 3, 8, 30]))
        process.run(walk, rng.choice([None, rng.randint(0, 60)]))
    return process


def _flow(graph: Graph, plan: Plan, counted: FunctionCounts) -> PathFlow:
    missing = complete_paths(graph, plan, counted).missing
    return recover_paths(graph, plan, counted if missing is None else counted + missing)


ORDERS = {"path first": lambda plan: plan, "edge first": redundant_first}
"""Which of the two counters is incremented first where a path ends."""


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize("dense", [1 << 18, 0])
@given(graphs(), seeds())
@settings(max_examples=150, deadline=None)
def test_counters_on_all_edges_show_every_edge_that_was_taken(
    dense: int, context: bool, order: str, graph: Graph, seed: int
) -> None:
    lean = path_plan(
        graph, costs_for(graph, seed), context=context, may_be_cut_short=range(graph.exit), dense=dense
    )
    plan = ORDERS[order](checked_paths(lean, graph))
    process = _killed(graph, plan, seed)
    flow = _flow(graph, plan, process.counted)
    assert flow.violations == ()
    assert _walked(graph, flow.edges) == _walked(graph, process.edges)
    assert flow.edges[graph.closing] <= process.edges[graph.closing]
    entered = any(count for edge, count in zip(graph.edges, flow.edges, strict=True) if edge.src != edge.dst)
    assert flow.edges[graph.closing] >= entered


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("context", [False, True])
@given(leaving_graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_so_they_do_where_paths_are_counted_before_their_ends(
    context: bool, order: str, graph: Graph, seed: int
) -> None:
    """A path that was counted, or about to be, is taken to have reached its end; no other edge is wrong."""
    lean = path_plan(graph, costs_for(graph, seed), context=context)
    plan = ORDERS[order](checked_paths(lean, graph))
    process = _killed(graph, plan, seed)
    flow = _flow(graph, plan, process.counted)
    assert flow.violations == ()
    early = Procedure(graph, plan).counted_early
    for edge, (count, real) in enumerate(zip(flow.edges, process.edges, strict=True)):
        if graph.edges[edge].src not in early and edge != graph.closing:
            assert count == real
        assert abs(count - real) <= process.under_way


@pytest.mark.parametrize("context", [False, True])
@given(graphs(), seeds())
@settings(max_examples=300, deadline=None)
def test_without_such_counters_the_law_is_kept(context: bool, graph: Graph, seed: int) -> None:
    plan = path_plan(graph, costs_for(graph, seed), context=context, may_be_cut_short=range(graph.exit))
    process = _killed(graph, plan, seed)
    flow = _flow(graph, plan, process.counted)
    assert flow.violations == ()
    for count, real in zip(flow.edges, process.edges, strict=True):
        assert abs(count - real) <= process.under_way


@pytest.mark.parametrize("checked", [False, True])
@pytest.mark.parametrize("context", [False, True])
@given(graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_a_forked_child_that_was_killed_later(context: bool, checked: bool, graph: Graph, seed: int) -> None:
    """It continues the path of its parent, and may have ended it or not when it is killed."""
    plan = path_plan(graph, costs_for(graph, seed), context=context, may_be_cut_short=range(graph.exit))
    plan = checked_paths(plan, graph) if checked else plan
    rng = random.Random(seed)
    process = Execution(graph, plan)
    walk = random_walk(graph, rng, rng.choice([1, 3, 8, 30]))
    ended = bool(walk) and graph.edges[walk[-1]].dst == graph.exit
    process.run(walk, rng.choice([None, rng.randint(0, 60)]), forked=rng.randint(0, len(walk) - ended))
    for _ in range(rng.randint(0, 2)):
        process.run(random_walk(graph, rng, rng.choice([1, 3, 8, 30])), rng.choice([None, 20, 60]))
    flow = _flow(graph, plan, process.counted)
    assert flow.violations == ()
    if checked:
        assert _walked(graph, flow.edges) == _walked(graph, process.edges)


# What used to be bounded, or to stop too soon


@pytest.mark.parametrize("order", ORDERS)
def test_any_number_of_threads_may_be_between_two_counters(order: str) -> None:
    graph = build("f", ["a", "b", "c", "EXIT"], [(0, 1), (0, 2), (1, 3), (2, 3)])
    lean = path_plan(graph, [1.0] * len(graph.edges), may_be_cut_short=range(graph.exit))
    plan = ORDERS[order](checked_paths(lean, graph))
    process = Execution(graph, plan)
    for walk in ([0, 2], [1, 3]):
        between = _probes_of(graph, plan, walk) - 1
        for _ in range(1_000):
            process.run(walk, between)
    assert recover_paths(graph, plan, process.counted).violations
    flow = _flow(graph, plan, process.counted)
    assert (flow.violations, flow.edges[:4]) == ((), [1_000] * 4)


def _probes_of(graph: Graph, plan: Plan, walk: Sequence[int]) -> int:
    """How many steps a walk has whose last one is its last probe."""
    steps = 0
    while Execution(graph, plan).run(walk, steps):
        steps += 1
    return steps - 2


def test_a_walk_without_a_source_does_not_hide_the_others() -> None:
    """Nothing led to the first of two edges that end paths; the path over the second is found."""
    graph = build("f", ["a", "b", "c", "EXIT"], [(0, 1), (0, 2), (1, 3), (2, 3)])
    plan = checked_paths(
        path_plan(graph, [1.0] * len(graph.edges), may_be_cut_short=range(graph.exit)), graph
    )
    procedure = Procedure(graph, plan)
    entry = Source(0, procedure.sums.at_entry(), 1)
    (found,) = open_paths(procedure, {2: 1, 1: 1, 3: 1}, [entry])
    assert found == (entry.total, Walk(0, (1, 3), 1))


def test_a_contradiction_that_no_kill_explains_is_left_to_be_reported() -> None:
    graph = build("f", ["a", "b", "c", "EXIT"], [(0, 1), (0, 2), (1, 3), (2, 3)])
    plan = checked_paths(
        path_plan(graph, [1.0] * len(graph.edges), may_be_cut_short=range(graph.exit)), graph
    )
    counted = interpret_paths(graph, plan, [[0, 2]])
    counted.counters[plan.measures.index(RedundantMeasure(2))] += 1
    assert complete_paths(graph, plan, FunctionCounts(counted.counters)).missing is None
