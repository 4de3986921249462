from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given, settings

from tests.graphs import graphs, leaving_graphs, seeds
from trodden.graph.cfg import Graph, build
from trodden.graph.spanning import live_edges
from trodden.graph.traverse import reachable
from trodden.plan.counters.schemes import every_block, vprof_by_blocks
from trodden.plan.probes import BlockMeasure, Count


def determined(graph: Graph, counted: set[int]) -> set[int]:
    """The vertices whose counts follow from those of others: row reduction of the flow equations."""
    live = live_edges(graph)
    rows = []
    for vertex in range(len(graph.labels)):
        into = [1.0 if graph.edges[index].dst == vertex else 0.0 for index in live]
        out = [1.0 if graph.edges[index].src == vertex else 0.0 for index in live]
        rows.append([a - b for a, b in zip(into, out, strict=True)])
        if vertex in counted:
            rows.append(into)
    return {
        vertex
        for vertex in reachable(graph)
        if _rank([*rows, [float(graph.edges[index].dst == vertex) for index in live]]) == _rank(rows)
    }


def _rank(rows: list[list[float]]) -> int:
    rows = [list(row) for row in rows]
    rank = 0
    for column in range(len(rows[0]) if rows else 0):
        pivot = next((row for row in rows[rank:] if abs(row[column]) > 1e-9), None)
        if pivot is None:
            continue
        rows.remove(pivot)
        rows = [
            [a - b * row[column] / pivot[column] for a, b in zip(row, pivot, strict=True)]
            if index >= rank
            else row
            for index, row in enumerate(rows)
        ]
        rows.insert(rank, pivot)
        rank += 1
    return rank


@given(leaving_graphs(max_blocks=5, max_edges=9), seeds())
@settings(max_examples=120)
def test_knuth_and_stevenson_is_optimal(graph: Graph, seed: int) -> None:
    rng = random.Random(seed)
    costs = [float(rng.randint(0, 9)) for _ in graph.labels]
    costs[graph.exit] = 1000.0
    chosen = {
        measure.block
        for measure in vprof_by_blocks(graph, costs).measures
        if isinstance(measure, BlockMeasure)
    }
    everything = reachable(graph)
    assert determined(graph, chosen) == everything
    enough = [
        sum(costs[vertex] for vertex in subset)
        for size in range(len(everything) + 1)
        for subset in combinations(sorted(everything), size)
        if determined(graph, set(subset)) == everything
    ]
    assert sum(costs[vertex] for vertex in chosen) == min(enough)


@given(graphs())
def test_every_block_has_a_counter_and_exit_only_where_needed(graph: Graph) -> None:
    plan = every_block(graph)
    blocks = reachable(graph) - {graph.exit}
    assert set(plan.on_blocks) == blocks
    measured = {measure.block for measure in plan.measures if isinstance(measure, BlockMeasure)}
    assert measured - {graph.exit} == blocks
    assert (graph.exit in measured) == (graph.exit not in determined(graph, blocks))


@pytest.mark.parametrize("plan_for", [every_block, lambda graph: vprof_by_blocks(graph, [1.0, 1.0])])
def test_edges_into_exit_are_counted_where_blocks_do_not_distinguish_entries_from_iterations(
    plan_for: object,
) -> None:
    graph = build("again", ["A", "EXIT"], [(0, 0), (0, 1), (0, 1)])
    assert callable(plan_for)
    plan = plan_for(graph)
    assert plan.measures == (BlockMeasure(0), BlockMeasure(1))
    assert plan.on_blocks == {0: (Count(0),)}
    assert plan.on_edges == {1: (Count(1),), 2: (Count(1),)}
