"""Degrees are chosen where weights say that they tell most, and within the budget."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import costs_for, graphs, seeds
from trodden.graph.cfg import Graph, build
from trodden.plan.overlap_probes import Overlaps
from trodden.plan.overlapping.degrees import (
    Budget,
    Offer,
    choose_degrees,
    crossed_by_header,
    loop_offers,
    paths_to,
)
from trodden.plan.overlapping.loop_paths import up_to_degree
from trodden.plan.overlapping.loops import LoopNest
from trodden.plan.overlapping.numbering import OverlapNumbering
from trodden.plan.overlapping.plan import overlapping_plan
from trodden.plan.overlapping.region import Ways
from trodden.plan.paths.dag import Dag
from trodden.plan.paths.plan import choose_paths
from trodden.plan.probes import Paths

PLENTY = Budget(math.inf, math.inf)


def offers_of(graph: Graph, weights: list[float]) -> tuple[Paths, Dag, dict[int, list[Offer]]]:
    paths, dag = choose_paths(graph, weights, limit=None)
    nest, ways, before = LoopNest(graph), Ways(dag), paths_to(dag)
    found = {
        header: loop_offers(ways, nest.owner(dag, header, None), crossed, weights, before)
        for header, crossed in crossed_by_header(dag, paths).items()
    }
    return paths, dag, found


@settings(max_examples=200)
@given(graphs(), seeds(), st.floats(0, 60), st.floats(0, 60))
def test_the_budget_is_kept(graph: Graph, seed: int, counters: float, executions: float) -> None:
    weights = costs_for(graph, seed)
    paths, dag, offers = offers_of(graph, weights)
    chosen = choose_degrees(dag, paths, weights, Budget(counters, executions))
    taken = [
        next(offer for offer in offers[header] if offer.degree == degree) for header, degree in chosen.items()
    ]
    assert sum(offer.counters for offer in taken) <= counters
    assert math.fsum(offer.executions for offer in taken) <= executions + 1e-9


@settings(max_examples=200)
@given(graphs(), seeds())
def test_with_plenty_nothing_is_left_open(graph: Graph, seed: int) -> None:
    weights = costs_for(graph, seed)
    paths, dag, offers = offers_of(graph, weights)
    chosen = choose_degrees(dag, paths, weights, PLENTY)
    for header, each in offers.items():
        offer = next(offer for offer in each if offer.degree == chosen.get(header, 0))
        assert offer.open <= 1e-9


@settings(max_examples=200)
@given(graphs(), seeds())
def test_more_predicates_leave_less_open_for_more(graph: Graph, seed: int) -> None:
    for offers in offers_of(graph, costs_for(graph, seed))[2].values():
        for fewer, more in pairwise(offers):
            assert more.open <= fewer.open + 1e-9
            assert more.counters >= fewer.counters


@settings(max_examples=200)
@given(graphs(), seeds())
def test_additional_counters_are_those_of_the_overlaps(graph: Graph, seed: int) -> None:
    weights = costs_for(graph, seed)
    paths, dag, offers = offers_of(graph, weights)
    for header, each in offers.items():
        if len(each) == 1:
            continue
        numbering = OverlapNumbering(graph, replace(paths, number=0), Overlaps(((header, None),)))
        if numbering.number > 500:
            continue
        paths_found = [numbering.overlapping(number) for number in range(numbering.number)]
        for offer in each[1:]:
            owner = numbering.nest.owner(dag, header, offer.degree)
            overlapping = {
                (path.path, up_to_degree(Ways(dag), owner, path.ahead))
                for path in paths_found
                if path.stop is not None
            }
            extended = {path.path for path in paths_found if path.stop is not None}
            assert offer.counters == len(overlapping) - len(extended)


def two_loops() -> tuple[Graph, list[float]]:
    """Two loops of the same shape, the second of which iterates a hundred times as often."""
    flow = []
    for first in (0, 5):
        head, left, right, join, end = range(first, first + 5)
        flow += [(head, left), (head, right), (left, join), (right, join), (join, head), (join, end)]
        flow += [(end, first + 5 if first == 0 else 10)]
    labels = [f"b{number}" for number in range(10)] + ["EXIT"]
    graph = build("two-loops", labels, flow)
    times = [10.0, 1000.0]
    weights = [0.0] * len(graph.edges)
    for loop, often in enumerate(times):
        for position, share in enumerate([0.5, 0.5, 0.5, 0.5]):
            weights[7 * loop + position] = often * share
        weights[7 * loop + 4], weights[7 * loop + 5], weights[7 * loop + 6] = often - 1.0, 1.0, 1.0
    weights[graph.closing] = 1.0
    return graph, weights


def test_the_hot_loop_comes_first() -> None:
    graph, weights = two_loops()
    paths, dag, offers = offers_of(graph, weights)
    assert [offer.degree for offer in offers[5]] == [0, 1]
    cold, hot = offers[0][1].counters, offers[5][1].counters
    assert cold < hot
    assert choose_degrees(dag, paths, weights, Budget(hot, math.inf)) == {5: 1}
    assert choose_degrees(dag, paths, weights, Budget(hot + cold, math.inf)) == {0: 1, 5: 1}
    assert choose_degrees(dag, paths, weights, Budget(cold, math.inf)) == {0: 1}
    assert choose_degrees(dag, paths, weights, Budget(cold - 1, math.inf)) == {}
    assert choose_degrees(dag, paths, weights, Budget(math.inf, 100.0)) == {0: 1}
    plan = overlapping_plan(graph, weights, {5: 1})
    assert plan.overlaps is not None
    assert plan.overlaps.degrees == ((5, None),)
