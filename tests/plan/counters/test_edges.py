from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.cases import cases
from tests.graphs import costs_for, graphs, leaving_graphs, seeds, whole_walk
from tests.oracles import acyclic, spanning_trees
from tests.programs import random_program
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.graph.loops import find_loops
from trodden.graph.spanning import live_edges, minimum_spanning_tree
from trodden.graph.traverse import depth_first, reachable
from trodden.plan.counters.schemes import eprof, every_edge
from trodden.plan.interpret import interpret, tally
from trodden.plan.probes import AddTripCount, Count, CountableLoop, EdgeMeasure, Plan
from trodden.recover.flow import recover
from trodden.weigh.frequency.nesting import nesting_weights


def counted(plan: Plan) -> list[int]:
    return [measure.edge for measure in plan.measures if isinstance(measure, EdgeMeasure)]


@given(graphs(), seeds())
@settings(max_examples=300)
def test_the_number_of_counters_is_edges_minus_tree(graph: Graph, seed: int) -> None:
    plan = eprof(graph, costs_for(graph, seed))
    edges = [
        edge for edge in graph.edges if edge.kind is not EdgeKind.ENDLESS and (edge.src in reachable(graph))
    ]
    assert plan.slots == len(edges) - (len(reachable(graph)) - 1)
    assert acyclic(graph, set(live_edges(graph)) - set(counted(plan)))
    assert all(graph.edges[index].kind is EdgeKind.FLOW for index in counted(plan))
    assert plan.on_edges == {edge: (Count(slot),) for slot, edge in enumerate(counted(plan))}


@given(graphs(max_blocks=4, max_edges=7), seeds())
@settings(max_examples=150)
def test_no_set_of_counters_is_cheaper(graph: Graph, seed: int) -> None:
    costs = costs_for(graph, seed)
    costs[graph.closing] = 0.0
    live = live_edges(graph)
    cost = sum(costs[index] for index in counted(eprof(graph, costs)))
    total = sum(costs[index] for index in live)
    trees = spanning_trees(graph, live, len(reachable(graph)) - 1)
    assert cost == min(total - sum(costs[index] for index in tree) for tree in trees if graph.closing in tree)


@given(graphs())
def test_every_edge_counts_what_can_be_taken(graph: Graph) -> None:
    assert counted(every_edge(graph)) == [index for index in live_edges(graph) if index != graph.closing]


def test_the_worst_tree_and_a_numbering_by_postorder_cost_more_than_nesting() -> None:
    """BL94 §6.4 (a minimum spanning tree) and Figure 17(b) (weights by post-order number of the source)."""
    (case,) = (case for case in cases("bl94.cfg") if str(case) == "figure-17")
    graph, weights = case.graph, nesting_weights(case.graph)
    postorder = [float(depth_first(graph).leave[edge.src]) for edge in graph.edges]
    by_postorder = sum(weights[index] for index in counted(eprof(graph, postorder)))
    worst = sum(weights) - sum(
        weights[index] for index in minimum_spanning_tree(graph, weights, [graph.closing])
    )
    assert sum(weights[index] for index in counted(eprof(graph, weights))) == 1.0
    assert by_postorder == 1.75
    assert worst == 1.75


def some_countable_loops(graph: Graph, rng: random.Random) -> list[CountableLoop]:
    """Some of the loops whose trip count can be added at their exits: one back edge, left by edges."""
    return [
        CountableLoop(loop.back_edges[0], loop.exits, float(rng.randint(0, 3)))
        for loop in find_loops(graph).loops
        if len(loop.back_edges) == 1 and loop.exits and rng.random() < 0.8
    ]


@given(
    st.one_of(
        leaving_graphs(),
        st.builds(random_program, seeds(), st.integers(1, 20), st.just(("block", "if", "while", "do"))),
    ),
    seeds(),
)
@settings(max_examples=300)
def test_trip_counts_replace_counters_in_loops_and_lose_nothing(graph: Graph, seed: int) -> None:
    if not find_loops(graph).reducible:
        return
    rng = random.Random(seed)
    costs = costs_for(graph, seed)
    countable_loops = some_countable_loops(graph, rng)
    plan = eprof(graph, costs, countable_loops)
    known = {trip.back_edge for trip in countable_loops}
    for edge, probes in plan.on_edges.items():
        assert not any(isinstance(probe, Count) and edge in known for probe in probes)
    walks = [whole_walk(graph, rng, 40) for _ in range(3)]
    truth = tally(graph, walks)
    counters = interpret(graph, plan, walks)
    assert counters == [truth.edges[edge] for edge in counted(plan)]
    assert recover(graph, plan, counters).edges == truth.edges
    assert plan.slots == eprof(graph, costs).slots


def test_a_trip_count_is_used_only_if_it_is_cheaper() -> None:
    graph = build("loop", ["A", "B", "C", "EXIT"], [(0, 1), (1, 2), (2, 1), (1, 3)])
    weights = nesting_weights(graph)
    cheap = eprof(graph, weights, [CountableLoop(2, (3,), 1.0)])
    assert cheap.measures == (EdgeMeasure(2), EdgeMeasure(3))
    assert cheap.on_edges == {3: (AddTripCount(0, 2), Count(1))}
    dear = eprof(graph, weights, [CountableLoop(2, (3,), 100.0)])
    assert dear.measures == (EdgeMeasure(1), EdgeMeasure(3))
    assert dear.on_edges == {1: (Count(0),), 3: (Count(1),)}


def test_trip_counts_are_not_used_for_a_loop_without_exits() -> None:
    graph = build("stuck", ["A", "EXIT"], [(0, 0)])
    assert eprof(graph, [1.0, 0.0, 0.0], [CountableLoop(0, (), 0.0)]).on_edges == {0: (Count(0),)}
