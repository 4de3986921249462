"""A graph with cloned blocks counts the same as the graph without them."""

from __future__ import annotations

import random

from hypothesis import given

from tests.graphs import costs_for, graphs, seeds, walks_for
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.plan.interpret import interpret
from trodden.plan.paths.block_cloning import ClonedGraph, clone_graph
from trodden.plan.paths.path_register import track
from trodden.plan.paths.plan import path_plan
from trodden.plan.probes import Plan

FLOW = [(0, 1), (1, 2), (1, 3), (2, 4), (3, 4), (4, 1), (4, 5)]
LOOP = build("loop", ["A", "B", "C", "D", "E", "EXIT"], FLOW)


def chosen(graph: Graph, plan: Plan, rng: random.Random) -> list[tuple[int, int]]:
    """Some clones for values that the register really takes, and some for values that it may never have."""
    register = track(graph, plan)
    found: set[tuple[int, int]] = set()
    for edge, value in register.along.items():
        block = graph.edges[edge].dst
        known = value is not None and value.base is None and block not in (graph.root, graph.exit)
        if known and value is not None and rng.random() < 0.6:
            found.add((block, value.add))
    for _ in range(rng.randrange(3)):
        block = rng.randrange(graph.exit)
        if block != graph.root:
            found.add((block, rng.randrange(4)))
    return sorted(found)


def followed(made: ClonedGraph, walk: list[int]) -> list[int]:
    """The same walk through the graph with clones."""
    vertex, found = made.graph.root, []
    for edge in walk:
        out_edges = [each for each in made.graph.out_edges[vertex] if each < len(made.edges)]
        (index,) = (each for each in out_edges if made.edges[each] == edge)
        found.append(index)
        vertex = made.graph.edges[index].dst
    return found


def test_a_loop_is_entered_by_its_own_block_and_iterates_in_a_clone() -> None:
    plan = path_plan(LOOP, [1.0] * len(LOOP.edges))
    back = track(LOOP, plan).along[5]
    assert back is not None
    made = clone_graph(LOOP, plan, [(1, back.add)])
    edges = {made.edges[index]: made.graph.edges[index] for index in range(len(made.edges))}
    assert edges[0][:2] == (0, 1)
    assert edges[5][:2] == (4, 5)
    assert made.origins == (0, 1, 2, 3, 4, 1)
    assert {made.graph.edges[each].dst for each in made.graph.out_edges[5]} == {2, 3}


@given(graph=graphs(), seed=seeds())
def test_every_walk_counts_the_same_with_clones(graph: Graph, seed: int) -> None:
    rng = random.Random(seed)
    plan = path_plan(graph, costs_for(graph, seed), limit=rng.choice([None, 4, 16]))
    made = clone_graph(graph, plan, chosen(graph, plan, rng))
    walks = walks_for(graph, seed)
    mirrored = [followed(made, walk) for walk in walks]
    assert interpret(graph, plan, walks) == interpret(made.graph, made.plan, mirrored)


@given(graph=graphs(), seed=seeds())
def test_the_register_is_known_in_clones(graph: Graph, seed: int) -> None:
    rng = random.Random(seed)
    plan = path_plan(graph, costs_for(graph, seed))
    clones = chosen(graph, plan, rng)
    made = clone_graph(graph, plan, clones)
    register = track(made.graph, made.plan)
    for number, (_, value) in enumerate(clones, graph.exit):
        held = register.at[number]
        assert held is None if number not in made.reached else held == (None, value)


@given(graph=graphs(), seed=seeds())
def test_unreachable_blocks_lead_to_exit_only(graph: Graph, seed: int) -> None:
    plan = path_plan(graph, costs_for(graph, seed))
    made = clone_graph(graph, plan, chosen(graph, plan, random.Random(seed)))
    for vertex in set(range(made.graph.exit)) - made.reached:
        out_edges = [made.graph.edges[e] for e in made.graph.out_edges[vertex]]
        assert [edge.dst for edge in out_edges if edge.kind is EdgeKind.FLOW] == [made.graph.exit]
