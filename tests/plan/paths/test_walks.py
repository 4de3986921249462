"""Whatever the plan, its counters determine which paths were executed."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass

from hypothesis import given, settings

from tests.graphs import costs_for, graphs, seeds
from tests.plan.splitting import dead_ends, decoded_prefixes, jumping_walk, split
from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.spanning import live_edges
from trodden.plan.interpret import interpret_paths, tally
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.plan import checked_paths, path_plan
from trodden.plan.paths.prefixes import register_offsets
from trodden.plan.probes import BlockMeasure, Plan, RedundantMeasure
from trodden.plan.routes import Route


@dataclass
class Trial:
    """A random plan, and walks."""

    graph: Graph
    plan: Plan
    may_be_cut_short: set[int]
    walks: list[list[int]]


def trial(graph: Graph, seed: int, **asked: object) -> Trial:
    rng = random.Random(seed)
    fraction = rng.choice([0.0, 0.3, 1.0])
    may_be_cut_short = dead_ends(graph) | {block for block in range(graph.exit) if rng.random() < fraction}
    may_return_twice = [
        index
        for index in graph.flow_edges()
        if graph.edges[index].dst != graph.exit and rng.random() < rng.choice([0.0, 0.0, 0.2])
    ]
    options: dict[str, object] = {
        "limit": rng.choice([None, None, 0, 5, 20]),
        "dense": rng.choice([0, 10**9]),
        "resume_edges": may_return_twice,
        "context": rng.random() < 0.4,
        "timed": rng.random() < 0.3,
        "rule": rng.choice(["cheapest", "cheapest", "loops", "node"]),
        "stack_slots": rng.random() < 0.7,
    } | asked
    plan = path_plan(graph, costs_for(graph, seed), may_be_cut_short=may_be_cut_short, **options)  # type: ignore[arg-type]
    found = [
        jumping_walk(graph, rng, rng.choice([3, 30]), may_be_cut_short, may_return_twice) for _ in range(8)
    ]
    return Trial(graph, plan, may_be_cut_short, [walk for walk in found if walk is not None])


def counted(numbering: Numbering, plan: Plan, counters: list[int]) -> dict[Route, tuple[int, int]]:
    """The counts of the dense table, by path."""
    assert plan.paths is not None
    number, first = plan.paths.number, len(plan.measures)
    table = {}
    for path in range(number):
        if counters[first + path]:
            time = counters[first + number + path] if plan.paths.timed else 0
            table[numbering.regenerate(path)] = counters[first + path], time
    return table


def check(case: Trial) -> None:
    plan, graph = case.plan, case.graph
    assert plan.paths is not None
    numbering = Numbering(graph, plan.paths)
    assert numbering.number == plan.paths.number
    truth = split(graph, plan.paths, case.walks)
    told = interpret_paths(graph, plan, case.walks)
    if plan.paths.dense:
        assert not told.sparse
        found = counted(numbering, plan, told.counters)
    else:
        assert plan.slots == len(plan.measures)
        found = {numbering.regenerate(path): both for path, both in told.sparse.items()}
    assert {route: count for route, (count, _) in found.items()} == truth.whole
    if plan.paths.timed:
        assert {route: ticks for route, (_, ticks) in found.items()} == truth.ticks
    check_prefixes(case, numbering, told.prefixes, truth.short)
    walked = tally(graph, case.walks)
    for measure, count in zip(plan.measures, told.counters, strict=False):
        if isinstance(measure, BlockMeasure):
            assert count == walked.blocks[measure.block]
        else:
            assert count == walked.edges[measure.edge]


def check_prefixes(
    case: Trial,
    numbering: Numbering,
    told: dict[tuple[int, int | None], int],
    truth: Counter[Route],
) -> None:
    offsets = register_offsets(case.graph, case.plan)
    assert decoded_prefixes(told, offsets, numbering.prefix) == truth


@settings(max_examples=400)
@given(graphs(), seeds())
def test_the_counters_determine_the_paths(graph: Graph, seed: int) -> None:
    check(trial(graph, seed))


@settings(max_examples=200)
@given(graphs(), seeds())
def test_in_context(graph: Graph, seed: int) -> None:
    check(trial(graph, seed, context=True))


@given(graphs(), seeds())
def test_beside_a_counter_on_every_edge(graph: Graph, seed: int) -> None:
    case = trial(graph, seed)
    case.plan = checked_paths(case.plan, graph)
    check(case)
    counted_twice = [measure.edge for measure in case.plan.measures if isinstance(measure, RedundantMeasure)]
    assert counted_twice == [edge for edge in live_edges(graph) if graph.edges[edge].kind is EdgeKind.FLOW]
