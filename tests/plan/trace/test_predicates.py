"""Both ways to tell whether witnesses suffice, against each other and against all executions."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import graphs, labels, leaving_graphs, seeds
from tests.oracles import simple_cycles
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.graph.directed_cycles import diamonds, directed_cycle
from trodden.plan.trace.predicates import (
    disjoint_witness_sets,
    is_predicate,
    solves_trace,
    traced_edges,
    unblocked,
)


def some_edges(graph: Graph, seed: int) -> list[int]:
    rng = random.Random(seed)
    share = rng.choice([0.2, 0.5, 0.7, 0.9])
    return [index for index in graph.flow_edges() if rng.random() < share]


def changes_of_direction(cycle: list[tuple[int, bool]]) -> int:
    return sum(cycle[place - 1][1] != cycle[place][1] for place in range(len(cycle)))


@settings(max_examples=250)
@given(graphs(), seeds(), st.booleans())
def test_the_definition_and_the_theorem_agree(graph: Graph, seed: int, strict: bool) -> None:
    witnessed = some_edges(graph, seed)
    by_sets = disjoint_witness_sets(graph, {edge: edge for edge in witnessed}, strict)
    assert solves_trace(graph, set(witnessed), strict) == by_sets


@settings(max_examples=150)
@given(graphs(max_blocks=6, max_edges=12), seeds(), st.booleans())
def test_cycles_by_enumeration(graph: Graph, seed: int, strict: bool) -> None:
    witnessed = set(some_edges(graph, seed))
    free = [index for index in traced_edges(graph) if index not in witnessed]
    found = list(simple_cycles(graph, free))
    directed = [cycle for cycle in found if changes_of_direction(cycle) == 0]
    forked = [cycle for cycle in found if changes_of_direction(cycle) == 2 and (strict or len(cycle) > 2)]
    cycle = directed_cycle(graph, free)
    if cycle is not None:
        assert sorted(cycle) in [sorted(edge for edge, _ in each) for each in directed]
        return
    assert not directed
    broken = list(diamonds(graph, free, strict))
    assert bool(broken) == bool(forked)
    ends = [sorted((graph.edges[e].src, graph.edges[e].dst) for e, _ in each) for each in forked]
    for diamond in broken:
        assert sorted((graph.edges[e].src, graph.edges[e].dst) for e in diamond) in ends


def executions(graph: Graph, most: int, length: int) -> list[list[int]]:
    """Some executions, shortest first."""
    found: list[list[int]] = []
    work: list[tuple[int, list[int]]] = [(graph.root, [])]
    for vertex, path in work:
        if len(found) >= most or len(work) > 20 * most:
            break
        if vertex == graph.exit:
            found.append(path)
        elif len(path) < length:
            work += [
                (graph.edges[index].dst, [*path, index])
                for index in graph.out_edges[vertex]
                if graph.edges[index].kind is EdgeKind.FLOW
            ]
    return found


@settings(max_examples=200)
@given(leaving_graphs(max_blocks=4, max_edges=8), seeds())
def test_different_executions_have_different_traces(graph: Graph, seed: int) -> None:
    witnessed = set(some_edges(graph, seed))
    if solves_trace(graph, witnessed, strict=True):
        runs = executions(graph, 60, 9)
        traces = {tuple(edge for edge in run if edge in witnessed) for run in runs}
        assert len(traces) == len(runs)


@settings(max_examples=150)
@given(graphs(), seeds(), st.booleans())
def test_the_blocking_property(graph: Graph, seed: int, strict: bool) -> None:
    witnessed = set(some_edges(graph, seed))
    rng = random.Random(seed)
    calls = {
        block for block in range(graph.exit) if not is_predicate(graph, block, strict) and rng.random() < 0.4
    }

    def leads_on(vertex: int, seen: frozenset[int]) -> bool:
        if vertex in calls or vertex == graph.exit:
            return True
        return any(
            leads_on(graph.edges[index].dst, seen | {vertex})
            for index in graph.out_edges[vertex]
            if graph.edges[index].kind is EdgeKind.FLOW
            if index not in witnessed and graph.edges[index].dst not in seen
        )

    reached = {graph.edges[index].src for index in traced_edges(graph)}
    expected = [
        vertex
        for vertex in sorted(reached - {graph.exit})
        if is_predicate(graph, vertex, strict) and leads_on(vertex, frozenset())
    ]
    assert unblocked(graph, witnessed, calls, strict) == expected


def test_parallel_edges_make_a_predicate_only_strictly() -> None:
    graph = build("two", labels(2), [(0, 1), (0, 1), (1, 2)])
    assert not is_predicate(graph, 0)
    assert is_predicate(graph, 0, strict=True)
    assert solves_trace(graph, ())
    assert not solves_trace(graph, (), strict=True)
    assert solves_trace(graph, {0}, strict=True)


def test_a_large_graph_takes_no_recursion() -> None:
    size = 100_000
    flow = [(block, block + 1) for block in range(size)]
    flow += [(block, block + 2) for block in range(0, size - 2, 2)]
    graph = build("ladder", labels(size), flow)
    assert solves_trace(graph, set(range(size, len(flow))))
    assert not solves_trace(graph, set(range(size, len(flow) - 1)))
    assert not disjoint_witness_sets(graph, {})
