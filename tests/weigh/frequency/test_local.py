"""Algorithm 2 of WL94 against direct solutions of the flow equations; the paper's examples are cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from scipy.sparse import csc_array, identity
from scipy.sparse.linalg import spsolve

from tests.graphs import graphs, leaving_graphs, seeds
from tests.oracles import flow_gap, reach_without
from tests.programs import nest
from trodden.graph.cfg import Edge, EdgeKind, Graph, build
from trodden.graph.loop_nesting import back_edges_by_header, collapse
from trodden.graph.loops import find_loops
from trodden.graph.traverse import depth_first
from trodden.weigh.frequency.local import ENDLESS_ITERATIONS, MAX_ITERATIONS, local_frequencies


def probabilities_for(graph: Graph, seed: int, parts: Sequence[float] = (1, 1, 2, 1000)) -> list[float]:
    """Random branch probabilities; all those of a block may be 0."""
    rng = Random(seed)
    probabilities = [0.0] * len(graph.edges)
    for out_edges in graph.out_edges:
        ways = [edge for edge in out_edges if graph.edges[edge].kind is EdgeKind.FLOW]
        chosen = [rng.choice(parts) for _ in ways]
        for edge, part in zip(ways, chosen, strict=True):
            probabilities[edge] = part / (sum(chosen) or 1)
    return probabilities


def equal_probabilities(graph: Graph) -> list[float]:
    return probabilities_for(graph, 1, (1,))


def solved(graph: Graph, probabilities: Sequence[float]) -> list[float]:
    """(I - P^T) f = e, where the root is entered once and nothing returns from EXIT."""
    size = len(graph.labels)
    flow = [(edge, graph.edges[edge]) for edge in graph.flow_edges()]
    columns = [edge.src for _, edge in flow]
    rows = [edge.dst for _, edge in flow]
    matrix = csc_array(([probabilities[index] for index, _ in flow], (rows, columns)), shape=(size, size))
    right = [float(vertex == graph.root) for vertex in range(size)]
    blocks = spsolve((identity(size) - matrix).tocsc(), right)
    return [float(blocks[edge.src]) * probabilities[index] for index, edge in flow]


def solved_exactly(graph: Graph, probabilities: Sequence[float]) -> list[Fraction]:
    """The same in fractions, by elimination."""
    size = len(graph.labels)
    rows = [[Fraction(i == j) for j in range(size)] + [Fraction(i == graph.root)] for i in range(size)]
    for index in graph.flow_edges():
        edge = graph.edges[index]
        rows[edge.dst][edge.src] -= Fraction(probabilities[index])
    for i in range(size):
        pivot = next(k for k in range(i, size) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(size):
            if k != i and rows[k][i]:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [
        rows[graph.edges[index].src][size] * Fraction(probabilities[index]) for index in graph.flow_edges()
    ]


def check_lawful(graph: Graph, frequencies: Sequence[float]) -> None:
    """The flow law at every vertex, EXIT included; 0 in unreachable code."""
    assert all(0.0 <= frequency < math.inf for frequency in frequencies)
    assert frequencies[graph.closing] == pytest.approx(1)
    assert all(flow_gap(graph, frequencies, vertex) < 1e-9 for vertex in range(len(graph.labels)))
    reached = reach_without(graph, None) | {graph.exit}
    assert not any(frequencies[index] for index, edge in enumerate(graph.edges) if edge.src not in reached)


def iterations(graph: Graph, frequencies: Sequence[float], header: int, members: frozenset[int]) -> float:
    """The number of iterations of a loop each time it is entered."""
    passed = sum(frequencies[index] for index in graph.in_edges[header])
    entered = sum(
        frequencies[index]
        for member in members
        for index in graph.in_edges[member]
        if graph.edges[index].src not in members
    )
    return passed / entered if entered else 0.0


@given(leaving_graphs(12, 30), seeds())
@settings(max_examples=300, deadline=None)
def test_any_graph_against_a_sparse_solution(graph: Graph, seed: int) -> None:
    probabilities = probabilities_for(graph, seed)
    found = local_frequencies(graph, probabilities, max_iterations=math.inf)
    check_lawful(graph, found)
    assert [found[index] for index in graph.flow_edges()] == pytest.approx(
        solved(graph, probabilities), rel=1e-6
    )


@given(leaving_graphs(), seeds())
@settings(max_examples=150, deadline=None)
def test_any_graph_against_an_exact_solution(graph: Graph, seed: int) -> None:
    """Eighths and the like are exact in binary, so that probabilities sum up to one exactly."""
    rng = Random(seed)
    probabilities = [0.0] * len(graph.edges)
    for vertex in range(graph.exit):
        left = 1.0
        for index in graph.out_edges[vertex][:-1]:
            probabilities[index] = left * rng.choice([0.5, 0.25, 2.0**-10])
            left -= probabilities[index]
        probabilities[graph.out_edges[vertex][-1]] = left
    found = local_frequencies(graph, probabilities, max_iterations=math.inf)
    expected = [float(each) for each in solved_exactly(graph, probabilities)]
    assert [found[index] for index in graph.flow_edges()] == pytest.approx(expected, rel=1e-9)


@given(graphs(12, 30), seeds())
@settings(max_examples=500, deadline=None)
def test_the_flow_law_holds_for_all_probabilities(graph: Graph, seed: int) -> None:
    probabilities = probabilities_for(graph, seed, (0, 0, 1, 1, 1e-9, 1e-200))
    check_lawful(graph, local_frequencies(graph, probabilities))


@given(graphs(12, 30), seeds())
@settings(max_examples=300, deadline=None)
def test_no_loop_iterates_more_often_than_the_bound(graph: Graph, seed: int) -> None:
    forest = find_loops(graph)
    if not forest.reducible:
        return
    found = local_frequencies(graph, probabilities_for(graph, seed, (1, 1, 1e-9)), forest, 50.0, 20.0)
    check_lawful(graph, found)
    for number, loop in enumerate(forest.loops):
        assert iterations(graph, found, loop.header, forest.members(number)) <= 50 * (1 + 1e-9)


@given(graphs(12, 30), seeds())
@settings(max_examples=200, deadline=None)
def test_known_loops_make_no_difference(graph: Graph, seed: int) -> None:
    probabilities = probabilities_for(graph, seed, (0, 1, 1, 5, 1e-9))
    forest = find_loops(graph)
    assert local_frequencies(graph, probabilities, forest) == pytest.approx(
        local_frequencies(graph, probabilities), rel=1e-9
    )


@given(graphs(12, 30))
@settings(max_examples=300, deadline=None)
def test_every_cycle_contains_the_header_of_a_loop_around_it(graph: Graph) -> None:
    """Why the order of elimination is right: without its header, what is directly in a loop is acyclic."""
    search = depth_first(graph)
    loops = collapse(graph, search, back_edges_by_header(graph, search))
    speaker = list(range(len(graph.labels)))
    for loop in reversed(loops):
        inside = set(loop.body)
        edges = {
            (speaker[edge.src], speaker[edge.dst])
            for edge in graph.edges
            if edge.kind is EdgeKind.FLOW and speaker[edge.src] != speaker[edge.dst]
        }
        left = set(inside)
        while left:
            free = {v for v in left if not any(src in left for src, dst in edges if dst == v)}
            assert free
            left -= free
        speaker = [loop.header if each in inside else each for each in speaker]
    outer = {(speaker[e.src], speaker[e.dst]) for e in graph.edges if e.kind is EdgeKind.FLOW}
    left = {speaker[vertex] for vertex in search.preorder}
    while left:
        free = {v for v in left if not any(src in left and src != v for src, dst in outer if dst == v)}
        assert free
        left -= free


def loop(*edges: tuple[int, int], blocks: int) -> Graph:
    return build("g", [f"b{number}" for number in range(blocks)] + ["EXIT"], edges)


def test_a_loop_that_hardly_ends() -> None:
    graph = loop((0, 0), (0, 1), blocks=1)
    assert local_frequencies(graph, [1 - 1e-9, 1e-9, 0])[0] == pytest.approx(MAX_ITERATIONS - 1)
    assert local_frequencies(graph, [1 - 1e-5, 1e-5, 0])[0] == pytest.approx(1e5 - 1)


def test_exits_are_raised_in_proportion() -> None:
    """Of two exits, both in a rare branch, one is taken three times as often as the other."""
    graph = loop((0, 1), (0, 2), (1, 3), (1, 2), (2, 3), (2, 0), (3, 4), blocks=4)
    rare = 1e-9
    probabilities = [1e-3, 1 - 1e-3, 3e3 * rare, 1 - 3e3 * rare, rare, 1 - rare, 1.0, 0.0]
    found = local_frequencies(graph, probabilities)
    check_lawful(graph, found)
    assert found[0] + found[1] == pytest.approx(MAX_ITERATIONS)
    assert found[2] == pytest.approx(3 * found[4], rel=1e-5)
    assert found[6] == pytest.approx(1)


def test_bounding_an_outer_loop_does_not_change_the_inner_one() -> None:
    """The inner loop is left to the outer one or to EXIT; only the frequency of the latter changes."""
    graph = loop((0, 1), (1, 1), (1, 0), (1, 2), blocks=2)
    found = local_frequencies(graph, [1.0, 0.75, 0.25 - 1e-12, 1e-12, 0.0], max_iterations=100.0)
    assert found[0] == pytest.approx(100)
    assert found[1] == pytest.approx(300)
    assert found[2:4] == pytest.approx([99, 1])


def test_an_endless_edge_carries_what_enters_an_endless_loop() -> None:
    graph = loop((0, 1), (0, 3), (1, 2), (2, 1), blocks=3)
    endless = graph.edges.index(Edge(1, 3, EdgeKind.ENDLESS))
    found = local_frequencies(graph, [0.25, 0.75, 1.0, 1.0, 0.0, 0.0])
    check_lawful(graph, found)
    assert found[endless] == pytest.approx(0.25)
    assert found[3] == pytest.approx(0.25 * (ENDLESS_ITERATIONS - 1))


def test_a_block_without_successors() -> None:
    graph = loop((0, 1), (0, 2), blocks=2)
    assert local_frequencies(graph, [0.25, 0.75, 0.0, 0.0]) == pytest.approx([0.25, 0.75, 0.25, 1.0])


def test_the_edges_of_a_block_without_probabilities_are_equally_likely() -> None:
    graph = loop((0, 1), (0, 2), (1, 2), blocks=2)
    assert local_frequencies(graph, [0.0] * 4) == pytest.approx([0.5, 0.5, 0.5, 1.0])


def test_a_sole_exit_with_probability_zero() -> None:
    """It is the only exit, so the loop iterates as often as the bound allows."""
    graph = loop((0, 0), (0, 1), blocks=1)
    assert local_frequencies(graph, [1.0, 0.0, 0.0]) == pytest.approx([MAX_ITERATIONS - 1, 1.0, 1.0])


def test_an_irreducible_region_that_hardly_ends() -> None:
    graph = loop((0, 1), (0, 2), (1, 2), (2, 1), (2, 3), blocks=3)
    found = local_frequencies(graph, [0.5, 0.5, 1.0, 1 - 1e-12, 1e-12, 0.0])
    check_lawful(graph, found)
    assert found[2] == pytest.approx(MAX_ITERATIONS, rel=1e-3)


def test_an_exit_whose_probability_underflows() -> None:
    """Five thousand branches in a row, each with a back edge: 2^-5000 underflows to 0."""
    size = 5000
    edges = [(v, v + 1) for v in range(size)] + [(v, 0) for v in range(size)]
    graph = loop(*edges, blocks=size)
    found = local_frequencies(graph, [0.5] * (2 * size) + [0.0])
    check_lawful(graph, found)
    assert sum(found[index] for index in graph.in_edges[0]) == pytest.approx(MAX_ITERATIONS)


@pytest.mark.parametrize("turning", [0.5, 0.88, 1 - 1e-12])
def test_a_thousand_loops_inside_each_other(turning: float) -> None:
    graph = nest(1000)
    probabilities = equal_probabilities(graph)
    back = depth_first(graph).back_edges
    for vertex in range(graph.exit):
        ways = [index for index in graph.out_edges[vertex] if graph.edges[index].kind is EdgeKind.FLOW]
        if len(ways) == 2 and back & set(graph.in_edges[vertex]):
            probabilities[ways[0]], probabilities[ways[1]] = turning, 1 - turning
    found = local_frequencies(graph, probabilities)
    assert all(frequency < math.inf for frequency in found)
    assert all(flow_gap(graph, found, vertex) < 1e-9 for vertex in range(len(graph.labels)))


def test_a_hundred_thousand_blocks() -> None:
    """Loops fifty deep in a row, every other nest with a second entry in its middle."""
    depth, flow, start = 50, [], 0
    while start < 100_000:
        heads = range(start, start + depth)
        flow += [(head, head + 1) for head in heads] + [(head, head - 1) for head in heads[1:]]
        flow += [(start + depth, start + depth - 1), (start, start + depth + 1)]
        if start % 4:
            flow.append((start, start + depth // 2))
        start += depth + 1
    graph = loop(*flow, blocks=start)
    found = local_frequencies(graph, equal_probabilities(graph))
    assert all(flow_gap(graph, found, vertex) < 1e-9 for vertex in range(len(graph.labels)))
    assert found[graph.closing] == pytest.approx(1)
