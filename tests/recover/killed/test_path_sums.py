"""Sums of values along walks are the values of the path register."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings

from tests.graphs import costs_for, graphs, seeds
from trodden.graph.cfg import Graph, build
from trodden.plan.interpret import interpret_paths, random_walk
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.plan import path_plan
from trodden.recover.killed.path_sums import PathSums
from trodden.recover.path_prefix import PrefixDecoder


@given(graphs(), seeds())
@settings(max_examples=300, deadline=None)
def test_a_walk_has_the_sums_of_its_paths(graph: Graph, seed: int) -> None:
    plan = path_plan(graph, costs_for(graph, seed), may_be_cut_short=range(graph.exit), dense=0)
    assert plan.paths is not None
    numbering = Numbering(graph, plan.paths)
    sums, decoder = PathSums(graph, numbering), PrefixDecoder(graph, plan, numbering)
    walk = random_walk(graph, random.Random(seed), 12)
    counted = interpret_paths(graph, plan, [walk])
    found: dict[int, int] = {}
    total: int | None = sums.at_entry()
    for edge in walk:
        assert total is not None
        assert sums.takes(edge) is (graph.edges[edge].src != graph.edges[edge].dst)
        if sums.takes(edge):
            total += sums.along(edge)
        if edge in sums.ends:
            found[total] = found.get(total, 0) + 1
            total = sums.at_start(graph.edges[edge].dst)
    assert found == {path: times for path, (times, _) in counted.sparse.items()}
    for block, register in counted.prefixes:
        assert decoder.sum_of(block, register) == total


@given(graphs(), seeds())
@settings(max_examples=200, deadline=None)
def test_a_path_in_context_takes_the_same_edges_in_any_context(graph: Graph, seed: int) -> None:
    plan = path_plan(graph, costs_for(graph, seed), context=True)
    assert plan.paths is not None
    numbering = Numbering(graph, plan.paths)
    sums = PathSums(graph, numbering)
    rng = random.Random(seed)
    for start in {graph.edges[edge].dst for edge in numbering.dag.removed}:
        total, block, edges = sums.at_start(start), start, list[int]()
        assert total is not None
        while not edges or edges[-1] not in sums.ends:
            leaving = [edge for edge in graph.out_edges[block] if sums.takes(edge)]
            if not leaving:
                break
            edges.append(rng.choice(leaving))
            total += sums.along(edges[-1])
            block = graph.edges[edges[-1]].dst
        ended = edges and edges[-1] in sums.ends
        route = numbering.regenerate(total) if ended else numbering.prefix(block, total)
        assert route.edges[route.context :] == tuple(edges)


@pytest.mark.parametrize(("block", "edge"), [(0, None), (1, 2), (3, 4)])
def test_the_only_edge_out_of_a_block(block: int, edge: int | None) -> None:
    """A self loop is not part of a path."""
    graph = build("f", ["a", "b", "c", "d", "EXIT"], [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 3)])
    plan = path_plan(graph, [1.0] * len(graph.edges))
    assert plan.paths is not None
    assert PathSums(graph, Numbering(graph, plan.paths)).only_edge(block) == edge


def test_no_path_starts_where_none_ended() -> None:
    graph = build("f", ["a", "h", "b", "EXIT"], [(0, 1), (1, 2), (2, 1), (1, 3)])
    plan = path_plan(graph, [1.0] * len(graph.edges))
    assert plan.paths is not None
    sums = PathSums(graph, Numbering(graph, plan.paths))
    assert [sums.at_start(block) is not None for block in range(3)] == [False, True, False]
