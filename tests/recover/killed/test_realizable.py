"""Completed path counts are such as some execution leaves behind, beside trying all executions."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import combinations_with_replacement

import pytest
from hypothesis import example, given, settings

from tests.graphs import costs_for, graphs, leaving_graph, leaving_graphs, seeds
from tests.recover.killed.executing import Execution, redundant_first
from tests.recover.killed.realizing import can_have_happened
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.plan.interpret import random_walk
from trodden.plan.paths.plan import checked_paths, path_plan
from trodden.plan.probes import CountableLoop, Plan
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.killed.paths import complete_paths
from trodden.recover.killed.procedure import Procedure
from trodden.recover.paths import PathFlow, recover_paths

NOT_KNOWN = "paths were cut short there, and it is not known which"


def _completed(graph: Graph, plan: Plan, counted: FunctionCounts) -> tuple[FunctionCounts, PathFlow]:
    missing = complete_paths(graph, plan, counted).missing
    completed = counted if missing is None else counted + missing
    return completed, recover_paths(graph, plan, completed)


def _killed(graph: Graph, plan: Plan, seed: int) -> Execution:
    rng = random.Random(seed)
    process = Execution(graph, plan)
    for _ in range(rng.choice([1, 1, 2])):
        process.run(random_walk(graph, rng, rng.randint(0, 5)), rng.choice([None, rng.randint(0, 14)]))
    return process


def _check(graph: Graph, plan: Plan, seed: int) -> None:
    """Counters only grow, and some execution leaves them as they are found, with the edges and entries.

    Counters on the edges show that a path ended, but not where it had started: at the entry or behind
    a back edge to the root block, and in which loop context.  Then the edges are compared without the table
    of the paths, and the entries may have been more.
    """
    chosen = bool(Procedure(graph, plan).redundant_slots)
    compared = len(plan.measures) if chosen else plan.slots
    for number in range(4):
        counters = _killed(graph, plan, seed + number).counters
        completed, flow = _completed(graph, plan, FunctionCounts(counters))
        assert flow.violations == ()
        assert all(a <= b for a, b in zip(counters, completed.counters, strict=True))
        found = list(completed.counters)[:compared]
        possible = []
        for more in range(3 if chosen else 1):
            edges = [count + more * (edge == graph.closing) for edge, count in enumerate(flow.edges)]
            possible.append(can_have_happened(graph, plan, found, edges))
        assert any(possible)


@pytest.mark.parametrize("limit", [1 << 18, 2], ids=["whole", "cut"])
@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize("checked", [False, True])
@given(graphs(max_blocks=4, max_edges=6), seeds())
@settings(max_examples=60)
def test_some_execution_takes_the_edges_that_are_found(
    checked: bool, context: bool, limit: int, graph: Graph, seed: int
) -> None:
    prices = costs_for(graph, seed)
    plan = path_plan(graph, prices, context=context, limit=limit, may_be_cut_short=range(graph.exit))
    _check(graph, redundant_first(checked_paths(plan, graph)) if checked else plan, seed)


@pytest.mark.parametrize("context", [False, True])
@pytest.mark.parametrize("checked", [False, True])
@given(leaving_graphs(max_blocks=3, max_edges=6), seeds())
@settings(max_examples=60)
def test_so_it_does_where_paths_are_counted_before_their_ends(
    checked: bool, context: bool, graph: Graph, seed: int
) -> None:
    plan = path_plan(graph, costs_for(graph, seed), context=context)
    _check(graph, checked_paths(plan, graph) if checked else plan, seed)


@given(graphs(max_blocks=4, max_edges=6), seeds())
@settings(max_examples=100)
def test_where_the_register_is_not_maintained_it_does_or_that_is_reported(graph: Graph, seed: int) -> None:
    """Only some blocks have calls; in regions that are never left, nothing else needs the register."""
    rng = random.Random(seed)
    chosen = [block for block in range(graph.exit) if rng.random() < 0.4]
    plan = path_plan(graph, costs_for(graph, seed), may_be_cut_short=chosen)
    completed, flow = _completed(graph, plan, FunctionCounts(_killed(graph, plan, seed).counters))
    assert all(message.endswith(NOT_KNOWN) for message in flow.violations)
    if not flow.violations:
        assert can_have_happened(graph, plan, list(completed.counters), flow.edges)


def _countable(graph: Graph) -> list[CountableLoop]:
    """All self loops that can be left, and are the only ones of their block."""
    found = []
    for block in range(graph.exit):
        leaving = [edge for edge in graph.out_edges[block] if graph.edges[edge].kind is EdgeKind.FLOW]
        loops = [edge for edge in leaving if graph.edges[edge].dst == block]
        exits = tuple(edge for edge in leaving if edge not in loops)
        found += [CountableLoop(loops[0], exits, 0.0)] if len(loops) == 1 and exits else []
    return found


@pytest.mark.parametrize("may_be_cut_short", [False, True])
@example(leaving_graph(1104, 3, 6), 10856).via("a loop that was left by a back edge")
@given(leaving_graphs(max_blocks=3, max_edges=6), seeds())
@settings(max_examples=60)
def test_so_it_does_where_trip_counts_are_added_when_loops_are_left(
    may_be_cut_short: bool, graph: Graph, seed: int
) -> None:
    held = range(graph.exit) if may_be_cut_short else ()
    _check(
        graph,
        path_plan(graph, costs_for(graph, seed), may_be_cut_short=held, countable_loops=_countable(graph)),
        seed,
    )


def test_several_edges_to_a_loop_that_is_never_left() -> None:
    """Each of two executions ended a path and stopped behind it: nothing shows that they continued."""
    graph = build("f", ["b0", "b1", "EXIT"], [(0, 1), (0, 1), (0, 1), (1, 0), (1, 0)])
    plan = path_plan(graph, costs_for(graph, 1), may_be_cut_short=range(graph.exit))
    process = Execution(graph, plan)
    process.run([0, 4])
    process.run([1, 3])
    completed, flow = _completed(graph, plan, process.counted)
    assert (flow.violations, flow.edges[:5], flow.early) == ((), [1, 1, 0, 1, 1], {0: 2})
    assert flow.edges == process.edges
    assert can_have_happened(graph, plan, list(completed.counters), flow.edges)


def _executions(graph: Graph, plan: Plan, steps: int) -> Iterator[Execution]:
    """Every execution of at most so many edges, stopped between any two probes."""
    work: list[tuple[int, ...]] = [()]
    for walk in work:
        last = graph.edges[walk[-1]].dst if walk else graph.root
        leaving = [e for e in graph.out_edges[last] if graph.edges[e].kind is EdgeKind.FLOW]
        if len(walk) < steps:
            work += [(*walk, edge) for edge in leaving]
        probes = 0
        while True:
            process = Execution(graph, plan)
            if not process.run(walk, probes):
                break
            yield process
            probes += 1
        yield process


def _possible(graph: Graph, plan: Plan, steps: int, seed: int) -> dict[tuple[int, ...], set[tuple[int, ...]]]:
    """By what the counters hold: the edges that up to two executions can have taken."""
    zero = (0,) * plan.slots, (0,) * len(graph.edges)
    one = {(tuple(each.counters), tuple(each.edges)) for each in _executions(graph, plan, steps)} | {zero}
    states = sorted(one)
    if len(states) > 60:
        states = random.Random(seed).sample(states, 60)
    found: dict[tuple[int, ...], set[tuple[int, ...]]] = {}
    for (counters, edges), (more, further) in combinations_with_replacement([*states, zero], 2):
        total = tuple(a + b for a, b in zip(counters, more, strict=True))
        found.setdefault(total, set()).add(tuple(a + b for a, b in zip(edges, further, strict=True)))
    return found


@given(graphs(max_blocks=4, max_edges=6), seeds())
@settings(max_examples=25)
def test_with_counters_on_all_edges_nothing_else_can_have_happened(graph: Graph, seed: int) -> None:
    """Of all that up to two executions can have done, whatever leaves the same counters took the same edges.

    The entries alone may have been more.
    """
    plan = checked_paths(path_plan(graph, costs_for(graph, seed), may_be_cut_short=range(graph.exit)), graph)
    possible = _possible(graph, plan, 4, seed)
    for counters in random.Random(seed).sample(sorted(possible), min(len(possible), 60)):
        _, flow = _completed(graph, plan, FunctionCounts(list(counters)))
        assert flow.violations == ()
        truths = {_walked(graph, edges) for edges in possible[counters]}
        assert truths == {_walked(graph, flow.edges)}


def _walked(graph: Graph, edges: Iterable[int]) -> tuple[int, ...]:
    return tuple(count for index, count in enumerate(edges) if index != graph.closing)
