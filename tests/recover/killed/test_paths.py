"""Path counts of a process that was killed fit together again."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import pytest
from hypothesis import given, settings

from tests.graphs import graphs, leaving_graphs, prices_for, seeds
from trodden.graph.cfg import Graph, build
from trodden.plan.interpret import PathTally, interpret_paths, random_walk, tally
from trodden.plan.paths.plan import checked_paths, path_plan
from trodden.plan.probes import BlockMeasure, EdgeMeasure, Plan, SecondOpinion
from trodden.plan.routes import PathEnd
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.killed.paths import complete_paths
from trodden.recover.paths import PathFlow, recover_paths

Prefixes = Mapping[tuple[int, int | None], int]


def _walks(graph: Graph, seed: int) -> list[list[int]]:
    rng = random.Random(seed)
    return [random_walk(graph, rng, rng.choice([3, 8, 40])) for _ in range(rng.randint(1, 4))]


def _counted(told: PathTally, prefixes: Prefixes) -> FunctionCounts:
    return FunctionCounts(told.counters, {}, prefixes, told.sparse)


def _completed(graph: Graph, plan: Plan, told: PathTally, prefixes: Prefixes) -> PathFlow:
    counted = _counted(told, prefixes)
    missing = complete_paths(graph, plan, counted)
    return recover_paths(graph, plan, counted if missing is None else counted + missing)


def _walked(graph: Graph, edges: Sequence[int]) -> list[int]:
    """Without the entries: whether a path in the first block came by a back edge cannot always be told."""
    return [count for index, count in enumerate(edges) if index != graph.closing]


def _check(graph: Graph, plan: Plan, walks: Sequence[Sequence[int]]) -> None:
    truth = tally(graph, [list(walk) for walk in walks])
    under_way = sum(truth.early.values())
    flow = _completed(graph, plan, interpret_paths(graph, plan, walks), {})
    assert flow.violations == ()
    for told, real in zip(flow.edges, truth.edges, strict=True):
        assert abs(told - real) <= under_way


@pytest.mark.parametrize("context", [False, True])
@given(graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_paths_under_way_are_told_as_far_as_they_are_known(context: bool, graph: Graph, seed: int) -> None:
    walks = _walks(graph, seed)
    _check(graph, path_plan(graph, prices_for(graph, seed), context=context, holds=range(graph.exit)), walks)


@pytest.mark.parametrize("context", [False, True])
@given(leaving_graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_so_they_are_where_no_register_is_kept_for_it(context: bool, graph: Graph, seed: int) -> None:
    walks = _walks(graph, seed)
    _check(graph, path_plan(graph, prices_for(graph, seed), context=context), walks)
    _check(graph, path_plan(graph, prices_for(graph, seed), context=context, limit=4), walks)


@pytest.mark.parametrize("context", [False, True])
@given(graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_second_opinions_tell_how_far(context: bool, graph: Graph, seed: int) -> None:
    walks = _walks(graph, seed)
    lean = path_plan(graph, prices_for(graph, seed), context=context, holds=range(graph.exit))
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
    lean = path_plan(graph, prices_for(graph, seed), holds=range(graph.exit), dense=dense)
    plan = checked_paths(lean, graph)
    whole = interpret_paths(graph, plan, walks)
    back = plan.paths.back_edges if plan.paths is not None else ()
    ends = {edge for edge in graph.flow_edges() if graph.edges[edge].dst == graph.exit or edge in back}
    last = [n for n, one in enumerate(plan.measures) if isinstance(one, SecondOpinion) and one.edge in ends]
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
def test_a_turn_of_a_loop_that_one_of_two_counters_has(weight: float, lagging: int) -> None:
    """The loop of one block is counted on its edge, or by its block if it is heavy."""
    graph = build("f", ["a", "h", "e", "EXIT"], [(0, 1), (1, 1), (1, 2), (2, 3)])
    plan = checked_paths(path_plan(graph, [1.0, weight, 1.0, 1.0, 1.0], holds=range(3)), graph)
    whole = interpret_paths(graph, plan, [[0, 1, 1, 2, 3]])
    slot = plan.measures.index(SecondOpinion(1)) if lagging else 0
    assert isinstance(plan.measures[0], BlockMeasure if weight else EdgeMeasure)
    counters = [count - (number == slot) for number, count in enumerate(whole.counters)]
    flow = _completed(graph, plan, PathTally(counters, {}, {}), {})
    assert flow.violations == ()
    assert flow.edges[:4] == [1, 2, 1, 1]


@given(graphs(), seeds())
@settings(max_examples=100, deadline=None)
def test_what_is_consistent_is_never_changed(graph: Graph, seed: int) -> None:
    plan = path_plan(graph, prices_for(graph, seed), holds=range(graph.exit))
    told = interpret_paths(graph, plan, _walks(graph, seed))
    assert complete_paths(graph, plan, _counted(told, told.prefixes)) is None


@given(graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_a_forked_child_that_was_killed_at_once_has_walked_nothing(graph: Graph, seed: int) -> None:
    """Its parent's paths are taken away from it, and it has ended none of them."""
    plan = path_plan(graph, prices_for(graph, seed), holds=range(graph.exit))
    began = interpret_paths(graph, plan, _walks(graph, seed)).prefixes
    inherited = {key: -times for key, times in began.items()}
    flow = _completed(graph, plan, PathTally([0] * plan.slots, {}, {}), inherited)
    assert flow.violations == ()
    assert not any(_walked(graph, flow.edges))


def test_a_loop_that_was_not_left_is_cut_short_at_its_entry() -> None:
    graph = build("f", ["a", "h", "b", "e", "EXIT"], [(0, 1), (1, 2), (2, 1), (1, 3), (3, 4)])
    plan = path_plan(graph, [1.0] * len(graph.edges), holds=range(graph.exit))
    told = interpret_paths(graph, plan, [[0, 1, 2, 1, 2, 1]])
    flow = _completed(graph, plan, told, {})
    assert flow.early == {1: 1}
    assert flow.edges[:5] == [1, 2, 2, 0, 0]
    assert flow.blocks[1] == 3


@pytest.mark.parametrize("way", [1, 2])
@pytest.mark.parametrize("dense", [1 << 18, 0])
def test_a_path_that_is_counted_before_its_end_and_was_about_to_be(dense: int, way: int) -> None:
    """Behind the join there is one way on, so that paths are counted before it: its edges have lagged too."""
    names = ["a", "b", "c", "join", "end", "EXIT"]
    graph = build("f", names, [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 5)])
    lean = path_plan(graph, [1.0] * len(graph.edges), holds=[1, 2], dense=dense)
    plan = checked_paths(lean, graph)
    walks = [[0, 2, 4, 5], [1, 3, 4, 5], [1, 3, 4, 5], [way - 1, way + 1, 4, 5]]
    whole = interpret_paths(graph, plan, walks)
    truth = recover_paths(graph, plan, _counted(whole, whole.prefixes))
    (path,) = [each.id for each in truth.paths if way - 1 in each.edges]
    counters, sparse = list(whole.counters), dict(whole.sparse)
    for slot, measure in enumerate(plan.measures):
        counters[slot] -= isinstance(measure, SecondOpinion) and measure.edge in (4, 5)
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
