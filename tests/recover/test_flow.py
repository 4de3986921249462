from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.graphs import costs_for, graphs, leaving_graphs, seeds, walks_for
from tests.programs import chain, nest, random_program
from trodden.errors import OtherBuild
from trodden.graph.cfg import Graph, build
from trodden.graph.cycles import piped_cycles
from trodden.graph.spanning import live_edges
from trodden.plan.counters.edges import count_edges
from trodden.plan.counters.schemes import (
    eprof,
    every_block,
    every_edge,
    hoist,
    vprof_by_blocks,
    vprof_by_edges,
    vprof_by_edges_optimal,
)
from trodden.plan.interpret import Walk, interpret, random_walk, tally
from trodden.plan.probes import BlockMeasure, Plan
from trodden.recover.flow import recover
from trodden.weigh.frequency.nesting import nesting_weights

CROSS = [(1, 3), (1, 4), (2, 3), (2, 4)]


def plans_for(graph: Graph, seed: int) -> list[Plan]:
    costs = costs_for(graph, seed)
    block_costs = costs_for(graph, seed + 1)[: len(graph.labels)]
    block_costs += [1.0] * (len(graph.labels) - len(block_costs))
    return [
        every_block(graph),
        every_edge(graph),
        eprof(graph, costs),
        vprof_by_blocks(graph, block_costs),
        vprof_by_edges(graph, costs),
    ]


def check(graph: Graph, plan: Plan, walks: Sequence[Walk]) -> None:
    truth = tally(graph, walks)
    flow = recover(graph, plan, interpret(graph, plan, walks), truth.early)
    assert flow.violations == ()
    assert flow.blocks == truth.blocks
    if plan.scheme in ("eprof", "every-edge"):
        assert flow.edges == truth.edges
    else:
        assert all(count in (None, truth.edges[index]) for index, count in enumerate(flow.edges))
    assert flow.edges[graph.closing] == len(walks)


@given(graphs(), seeds())
@settings(max_examples=700)
def test_every_placement_gives_back_what_was_walked(graph: Graph, seed: int) -> None:
    walks = walks_for(graph, seed)
    for plan in plans_for(graph, seed):
        check(graph, plan, walks)
        pinned = tally(graph, walks).early
        check(graph, hoist(graph, plan, pinned), walks)


@given(seeds(), st.integers(1, 60))
@settings(max_examples=150)
def test_structured_programs_by_nesting_weights(seed: int, size: int) -> None:
    graph = random_program(seed, size)
    walks = walks_for(graph, seed, max_steps=200)
    for plan in (eprof(graph, nesting_weights(graph)), vprof_by_edges(graph, nesting_weights(graph))):
        check(graph, plan, walks)


@given(graphs(max_blocks=6, max_edges=12), seeds())
@settings(max_examples=60, deadline=None)
def test_the_optimal_placement_gives_back_blocks(graph: Graph, seed: int) -> None:
    check(graph, vprof_by_edges_optimal(graph, costs_for(graph, seed)), walks_for(graph, seed))


@given(leaving_graphs(max_blocks=6, max_edges=12), seeds())
@settings(max_examples=150)
def test_any_sufficient_set_of_edges_will_do(graph: Graph, seed: int) -> None:
    """Figure 8 on sets that no algorithm here would choose."""
    rng = random.Random(seed)
    live = live_edges(graph)
    counted = set(every_edge(graph).on_edges)
    for index in rng.sample(sorted(counted), len(counted)):
        if not list(piped_cycles(graph, [other for other in live if other not in counted or other == index])):
            counted.remove(index)
    check(graph, count_edges("given", sorted(counted)), walks_for(graph, seed))


@given(graphs(), seeds())
@settings(max_examples=200)
def test_block_counts_leave_open_only_what_they_must(graph: Graph, seed: int) -> None:
    """An edge that is left open really has another possible count: a cycle of edges that alternate."""
    walks = walks_for(graph, seed)
    truth = tally(graph, walks)
    plan = every_block(graph)
    flow = recover(graph, plan, interpret(graph, plan, walks), truth.early)
    undecided = [index for index, count in enumerate(flow.edges) if count is None]
    halves = [(graph.edges[index].src, len(graph.labels) + graph.edges[index].dst) for index in undecided]
    for position in range(len(undecided)):
        rest = halves[:position] + halves[position + 1 :]
        near = {halves[position][0]}
        for _ in rest:
            near |= {end for pair in rest for end in pair if near & set(pair)}
        assert halves[position][1] in near


def test_a_block_that_never_ran_decides_about_its_neighbours() -> None:
    graph = build("diamonds", ["P", "A", "B", "C", "D", "EXIT"], [(0, 1), (0, 2), *CROSS, (3, 5), (4, 5)])
    plan = every_block(graph)
    assert recover(graph, plan, [4, 2, 2, 2, 2]).edges == [2, 2, None, None, None, None, 2, 2, 4]
    assert recover(graph, plan, [4, 4, 0, 1, 3]).edges == [4, 0, 1, 3, 0, 0, 1, 3, 4]


def test_early_termination_shifts_counts_unless_it_is_told() -> None:
    """Figure 7(a): without the exit counter of A, the edge A -> R gets a count that it never had."""
    (case,) = (case for case in cases("bl94.cfg") if str(case) == "figure-7")
    graph, walks = case.graph, case.walks()
    plan = count_edges("given", case.edges(case.section("given")))
    counters = interpret(graph, plan, walks)
    a, r = case.block("A"), case.block("R")
    (edge,) = (index for index in graph.out_edges[a] if graph.edges[index].dst == r)
    assert recover(graph, plan, counters).edges[edge] == 1
    assert recover(graph, plan, counters, {a: 1}).edges[edge] == 0


def test_a_piped_cycle_without_counters_hides_a_block() -> None:
    """Figure 10: two executions pass x, y and z once each, but only the first passes B."""
    labels = ["A", "B", "C", "D", "E", "J", "EXIT"]
    a, b, c, d, e, j, out = range(7)
    flow = [(a, b), (b, d), (c, d), (c, e), (a, e), (d, j), (e, j), (j, c), (j, out)]
    graph = build("figure-10", labels, flow)
    plan = count_edges("given", [5, 6, 7])
    first, second = [0, 1, 5, 7, 3, 6, 8], [4, 6, 7, 2, 5, 8]
    assert interpret(graph, plan, [first]) == interpret(graph, plan, [second]) == [1, 1, 1]
    assert tally(graph, [first]).blocks[b] == 1
    assert tally(graph, [second]).blocks[b] == 0
    bare = [index for index in live_edges(graph) if index not in plan.on_edges]
    cycles = {frozenset(cycle) for cycle in piped_cycles(graph, bare)}
    assert cycles == {frozenset({0, 1, 2, 3, 4})}
    flow_found = recover(graph, plan, [1, 1, 1])
    assert flow_found.violations == ("the counters do not determine how often block B ran",)


LOOP = build("loop", ["A", "B", "C", "EXIT"], [(0, 1), (1, 2), (2, 1), (1, 3)])


@pytest.mark.parametrize(
    ("plan", "counters", "early", "violations"),
    [
        (
            eprof(LOOP, [1.0, 9.0, 9.0, 1.0, 1.0]),
            [5, -1],
            {},
            (
                "block A would have run -1 times",
                "block EXIT would have run -1 times",
                "edge A -> B would have been taken -1 times",
                "edge B -> EXIT would have been taken -1 times",
                "edge EXIT -> A would have been taken -1 times",
            ),
        ),
        (
            every_edge(LOOP),
            [1, 5, 5, 2],
            {},
            ("block A: 1 more enter it than leave", "block B: 1 more leave it than enter"),
        ),
        (
            every_block(LOOP),
            [2, 7, 4],
            {},
            (
                "blocks around A: 1 more leave them than enter",
                "blocks around B: 1 more enter them than leave",
            ),
        ),
        (
            vprof_by_blocks(LOOP, [1.0, 9.0, 9.0, 1.0]),
            [2, 3],
            {1: 5},
            ("edge B -> EXIT would have been taken -3 times",),
        ),
        (
            Plan("vprof-blocks", (BlockMeasure(1),)),
            [3],
            {},
            tuple(
                f"the counters do not determine how often block {block} ran" for block in ("A", "C", "EXIT")
            ),
        ),
    ],
)
def test_contradictions_are_named(
    plan: Plan, counters: list[int], early: dict[int, int], violations: tuple[str, ...]
) -> None:
    assert recover(LOOP, plan, counters, early).violations == violations


@given(leaving_graphs(), seeds(), st.integers(1, 5))
@settings(max_examples=200)
def test_a_wrong_counter_never_goes_unnoticed_when_there_is_redundancy(
    graph: Graph, seed: int, error: int
) -> None:
    walks = walks_for(graph, seed)
    truth = tally(graph, walks)
    plan = every_edge(graph)
    counters = interpret(graph, plan, walks)
    wrong = seed % len(counters)
    index = list(plan.on_edges)[wrong]
    if graph.edges[index].src == graph.edges[index].dst:
        return
    counters[wrong] += error
    flow = recover(graph, plan, counters, truth.early)
    if graph.edges[index].src == graph.root and graph.edges[index].dst == graph.exit:
        assert flow.blocks != truth.blocks
    else:
        assert flow.violations


def test_an_early_end_in_a_block_that_cannot_be_reached_is_a_violation() -> None:
    graph = build("g", ["A", "B", "EXIT"], [(0, 2), (1, 2)])
    for plan in (eprof(graph, [1.0, 1.0, 1.0]), every_block(graph), vprof_by_blocks(graph, [1.0, 1.0, 1.0])):
        assert recover(graph, plan, [0] * plan.slots, {1: 1}).violations != ()


def test_counters_of_another_build_are_refused() -> None:
    with pytest.raises(OtherBuild, match="loop: 7 counters where the plan has 2"):
        recover(LOOP, eprof(LOOP, [1.0] * 5), [0] * 7)


@pytest.mark.parametrize(("make", "size"), [(chain, 100_000), (nest, 50_000)])
def test_a_hundred_thousand_blocks(make: Callable[[int], Graph], size: int) -> None:
    graph = make(size)
    walks = [random_walk(graph, random.Random(7), 150_000)]
    check(graph, eprof(graph, nesting_weights(graph)), walks)
    check(graph, vprof_by_blocks(graph, [1.0] * len(graph.labels)), walks)
