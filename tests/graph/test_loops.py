from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import graphs, seeds
from tests.oracles import dominates, natural_loop
from tests.programs import nest, random_program, repeat_nest
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.graph.loop_forest import LoopForest
from trodden.graph.loops import find_loops, find_nested_loops
from trodden.graph.traverse import back_edges, depth_first


def check_against_the_definition(graph: Graph) -> LoopForest:
    forest = find_loops(graph)
    latches: dict[int, list[int]] = {}
    for index in sorted(back_edges(graph)):
        latches.setdefault(graph.edges[index].dst, []).append(index)
    assert sorted(latches) == sorted(loop.header for loop in forest.loops)
    members = [natural_loop(graph, latches[loop.header], loop.header) for loop in forest.loops]
    for number, loop in enumerate(forest.loops):
        assert forest.of_header[loop.header] == number
        assert list(loop.back_edges) == latches[loop.header]
        assert forest.members(number) == members[number]
        assert list(loop.exits) == [
            index
            for index, edge in enumerate(graph.edges)
            if edge.kind is EdgeKind.FLOW and edge.src in members[number] and edge.dst not in members[number]
        ]
        containing = [outer for outer in range(len(members)) if members[outer] > members[number]]
        if not containing:
            assert (loop.parent, loop.depth) == (-1, 1)
        else:
            assert loop.parent in containing
            assert len(members[loop.parent]) == min(len(members[outer]) for outer in containing)
            assert loop.depth == forest.loops[loop.parent].depth + 1
    for vertex in range(len(graph.labels)):
        around = [number for number in range(len(members)) if vertex in members[number]]
        inner = forest.innermost[vertex]
        if not around:
            assert inner == -1
            assert forest.depth(vertex) == 0
        else:
            assert inner in around
            assert len(members[inner]) == min(len(members[number]) for number in around)
            assert forest.depth(vertex) == forest.loops[inner].depth
    assert forest.reducible == all(
        dominates(graph, graph.edges[index].dst, graph.edges[index].src) for index in back_edges(graph)
    )
    return forest


@given(graphs())
@settings(max_examples=600)
def test_loops_are_those_of_the_definition(graph: Graph) -> None:
    check_against_the_definition(graph)


@given(seeds(), st.integers(1, 25))
@settings(max_examples=150)
def test_loops_of_structured_programs_nest(seed: int, size: int) -> None:
    forest = check_against_the_definition(random_program(seed, size))
    assert forest.reducible
    for number, loop in enumerate(forest.loops):
        assert loop.parent < number
        for other in range(number):
            inner, outer = forest.members(number), forest.members(other)
            assert inner < outer or not inner & outer


@given(graphs())
@settings(max_examples=200)
def test_nested_loops_are_strongly_connected_and_nest(graph: Graph) -> None:
    natural, forest = find_loops(graph), find_nested_loops(graph)
    assert forest.reducible == natural.reducible
    assert not natural.reducible or forest == natural
    search = depth_first(graph)
    members = [forest.members(loop) for loop in range(len(forest.loops))]
    for number, loop in enumerate(forest.loops):
        below = {vertex for vertex in search.preorder if search.descends(vertex, loop.header)}
        assert members[number] == {
            vertex
            for vertex in below
            if loop.header in reached(graph, vertex, below) and vertex in reached(graph, loop.header, below)
        }
        for other in range(number):
            assert members[number] < members[other] or not members[number] & members[other]
        assert loop.parent < number
        assert loop.exits == tuple(
            index
            for index, edge in enumerate(graph.edges)
            if edge.kind is EdgeKind.FLOW and edge.src in members[number] and edge.dst not in members[number]
        )


def reached(graph: Graph, start: int, within: set[int]) -> set[int]:
    """What one or more edges lead to, without leaving some vertices."""
    found: set[int] = set()
    work = [start]
    while work:
        for index in graph.out_edges[work.pop()]:
            edge = graph.edges[index]
            if edge.kind is EdgeKind.FLOW and edge.dst in within and edge.dst not in found:
                found.add(edge.dst)
                work.append(edge.dst)
    return found


def test_a_proper_loop_inside_an_irreducible_region() -> None:
    flow = [(0, 1), (0, 2), (1, 2), (2, 3), (3, 3), (3, 1), (3, 4)]
    forest = check_against_the_definition(build("mixed", ["A", "B", "C", "D", "EXIT"], flow))
    assert not forest.reducible


@pytest.mark.parametrize("make", [nest, repeat_nest])
def test_fifty_thousand_loops_inside_each_other(make: Callable[[int], Graph]) -> None:
    forest = find_loops(make(50_000))
    assert forest.reducible
    assert max(loop.depth for loop in forest.loops) == 50_000
    assert all(len(loop.exits) == 1 for loop in forest.loops)
    assert len(forest.members(0)) == 100_000
