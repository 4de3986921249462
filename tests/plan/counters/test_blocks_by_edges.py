from __future__ import annotations

import time
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import costs_for, graphs, leaving_graphs, seeds
from tests.oracles import has_pipe, simple_cycles, solves_vprof
from tests.programs import PLAIN, random_program
from trodden.errors import UsageError
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.graph.cycles import piped_cycles
from trodden.graph.spanning import live_edges
from trodden.plan.counters.schemes import OptimumError, eprof, vprof_by_edges, vprof_by_edges_optimal
from trodden.plan.probes import EdgeMeasure, Plan
from trodden.weigh.frequency.nesting import nesting_weights


def cost(plan: Plan, costs: list[float]) -> float:
    return sum(costs[measure.edge] for measure in plan.measures if isinstance(measure, EdgeMeasure))


def sufficient(graph: Graph, plan: Plan) -> bool:
    return not list(piped_cycles(graph, [index for index in live_edges(graph) if index not in plan.on_edges]))


@given(graphs(), seeds())
@settings(max_examples=300)
def test_the_heuristic_is_sufficient_and_costs_no_more_than_an_edge_profile(graph: Graph, seed: int) -> None:
    costs = costs_for(graph, seed)
    plan, edge_profile = vprof_by_edges(graph, costs), eprof(graph, costs)
    assert sufficient(graph, plan)
    assert cost(plan, costs) <= cost(edge_profile, costs)
    assert set(plan.on_edges) | plan.free == set(edge_profile.on_edges)
    assert not set(plan.on_edges) & plan.free


@given(graphs(max_blocks=5, max_edges=8), seeds())
@settings(max_examples=150)
def test_sufficiency_is_that_of_the_theorem(graph: Graph, seed: int) -> None:
    costs = costs_for(graph, seed)
    for plan in (vprof_by_edges(graph, costs), eprof(graph, costs)):
        assert solves_vprof(graph, live_edges(graph), plan.on_edges)


@given(leaving_graphs(max_blocks=5, max_edges=9), seeds())
@settings(max_examples=60, deadline=None)
def test_the_optimum_costs_least_of_all_sets(graph: Graph, seed: int) -> None:
    costs = costs_for(graph, seed)
    plan = vprof_by_edges_optimal(graph, costs)
    assert sufficient(graph, plan)
    live = live_edges(graph)
    flow = [index for index in live if graph.edges[index].kind is EdgeKind.FLOW]
    enough = (
        sum(costs[index] for index in subset)
        for size in range(len(flow) + 1)
        for subset in combinations(flow, size)
        if not list(piped_cycles(graph, [index for index in live if index not in subset]))
    )
    assert cost(plan, costs) == min(enough)


@given(graphs(max_blocks=9, max_edges=22), seeds())
@settings(max_examples=60, deadline=None)
def test_the_optimum_is_sufficient_and_costs_no_more_than_the_heuristic(graph: Graph, seed: int) -> None:
    costs = costs_for(graph, seed)
    plan = vprof_by_edges_optimal(graph, costs)
    assert sufficient(graph, plan)
    assert cost(plan, costs) <= cost(vprof_by_edges(graph, costs), costs)


@given(seeds(), st.integers(1, 14), st.booleans())
@settings(max_examples=60, deadline=None)
def test_plain_structured_programs_need_an_edge_profile_for_a_block_profile(
    seed: int, size: int, by_nesting: bool
) -> None:
    """BL94 §3.3.2: in these graphs every cycle has a pipe, so the spanning tree is optimal for blocks too."""
    graph = random_program(seed, size, PLAIN)
    costs = nesting_weights(graph) if by_nesting else costs_for(graph, seed)
    best = cost(vprof_by_edges_optimal(graph, costs), costs)
    assert cost(eprof(graph, costs), costs) == pytest.approx(best, rel=1e-5)
    assert vprof_by_edges(graph, costs).free == frozenset()


def figure_11(graph: Graph, costs: list[float]) -> set[int]:
    """The edges whose counters the algorithm of the paper removes, marks and all."""
    chords = set(eprof(graph, costs).on_edges)
    tree = [index for index in live_edges(graph) if index not in chords]
    marked: set[int] = set()
    removed = set()
    for chord in sorted(chords, key=lambda index: (-costs[index], index)):
        (cycle,) = (cycle for cycle in simple_cycles(graph, [*tree, chord]))
        vertices = {vertex for index, _ in cycle for vertex in graph.edges[index][:2]}
        if not has_pipe(cycle) and not vertices & marked:
            marked |= vertices
            removed.add(chord)
    return removed


@given(graphs(max_blocks=6, max_edges=12), seeds())
@settings(max_examples=200)
def test_at_least_what_the_paper_removes_is_removed(graph: Graph, seed: int) -> None:
    costs = costs_for(graph, seed)
    assert vprof_by_edges(graph, costs).free >= figure_11(graph, costs)


def test_cases_of_a_switch_that_lead_to_one_block_need_no_counters_of_their_own() -> None:
    graph = build("switch", ["S", "A", "B", "EXIT"], [(0, 1)] * 5 + [(0, 2)] * 4 + [(1, 3), (2, 3)])
    costs = [3.0] * 9 + [1.0, 1.0, 9.0]
    assert len(figure_11(graph, costs)) == 1
    assert vprof_by_edges(graph, costs).slots == 2
    assert vprof_by_edges_optimal(graph, costs).slots == 2


def test_the_heuristic_can_miss_the_optimum() -> None:
    """The spanning tree of an edge profile may leave no chord that closes a pipeless cycle."""
    flow = [
        (0, 1),
        (0, 2),
        (1, 3),
        (1, 4),
        (2, 3),
        (2, 4),
        (3, 6),
        (3, 7),
        (4, 5),
        (5, 6),
        (5, 7),
        (6, 8),
        (7, 8),
    ]
    labels = ["P", "s1", "s2", "grey", "x", "y", "t1", "t2", "EXIT"]
    graph = build("shared", labels, flow)
    costs = [1.0] * len(graph.edges)
    assert vprof_by_edges(graph, costs).slots > 4
    optimum = vprof_by_edges_optimal(graph, costs)
    assert optimum.slots == 4
    assert len(optimum.free) == 2


def test_an_edge_with_an_infinite_cost_is_counted_only_if_necessary() -> None:
    graph = build("forced", ["A", "B", "EXIT"], [(0, 0), (0, 1), (0, 1), (0, 2), (1, 2)])
    costs = [float("inf"), float("inf"), 1.0, 1.0, 1.0, 0.0]
    for plan in (eprof(graph, costs), vprof_by_edges(graph, costs), vprof_by_edges_optimal(graph, costs)):
        assert 0 in plan.on_edges
        assert 1 not in plan.on_edges


def test_a_timeout_is_reported() -> None:
    graph = random_program(1, 60)
    started = time.monotonic()
    with pytest.raises(OptimumError, match="no proven optimum in the time allowed"):
        vprof_by_edges_optimal(graph, nesting_weights(graph), time_limit=0.0)
    assert time.monotonic() - started < 10


def test_without_the_solver_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "highspy", None)
    graph = build("g", ["A", "EXIT"], [(0, 1)])
    with pytest.raises(UsageError, match="pip install 'trodden\\[optimum\\]'"):
        vprof_by_edges_optimal(graph, [1.0, 1.0])
