"""The least number of stops that makes no edge negative, beside trying everything."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from itertools import combinations_with_replacement

import pytest
from hypothesis import given, settings

from tests.graphs import seeds
from trodden.recover.forest import solve
from trodden.recover.killed.least_stops import least_stops, raise_back_edges, root_forest
from trodden.recover.killed.room import Preference

Ends = list[tuple[int, int]]
MOST = 4


def _negative(totals: list[int], ends: Ends, sink: int, stops: tuple[int, ...]) -> bool:
    """Whether some edge would have to carry less than nothing, or the equations cannot be met."""
    after = list(totals)
    for node in stops:
        after[node] += 1
        after[sink] -= 1
    solution = solve(after, ends, -1)
    certain = zip(solution.values, solution.certain, strict=True)
    return bool(solution.residues) or any(sure and value < 0 for value, sure in certain)


def _minimal(totals: list[int], ends: Ends, sink: int, allowed: list[int], most: int) -> set[tuple[int, ...]]:
    """All placements of as few stops as possible, by trying everything."""
    for number in range(most + 1):
        found = {
            stops
            for stops in combinations_with_replacement(allowed, number)
            if not _negative(totals, ends, sink, stops)
        }
        if found:
            return found
    return set()


def _problem(seed: int) -> tuple[list[int], Ends, int, list[Preference | None]]:
    """A random forest, sometimes with a cycle; the totals of a flow of which some walks stopped."""
    rng = random.Random(seed)
    nodes = rng.randint(2, 6)
    ends: Ends = []
    for node in range(1, nodes):
        if rng.random() < 0.85:
            other = rng.randrange(node)
            ends.append((node, other) if rng.random() < 0.5 else (other, node))
    if rng.random() < 0.3:
        ends.append((rng.randrange(nodes), rng.randrange(nodes)))
    sink = rng.randrange(nodes)
    totals = [0] * nodes
    for tail, head in ends:
        carried = rng.randint(0, 3)
        totals[head] += carried
        totals[tail] -= carried
    for _ in range(rng.randint(0, 3)):
        totals[rng.randrange(nodes)] -= 1
        totals[sink] += 1
    if rng.random() < 0.1:
        totals[rng.randrange(nodes)] += 1
        totals[rng.randrange(nodes)] -= 1
    preferences: list[Preference | None] = [
        (rng.randint(0, 1), node) if node != sink and rng.random() < 0.9 else None for node in range(nodes)
    ]
    return totals, ends, sink, preferences


def _ranked(stops: tuple[int, ...], preferences: list[Preference | None]) -> list[Preference]:
    return sorted((found for node in stops if (found := preferences[node]) is not None), reverse=True)


@given(seeds())
@settings(max_examples=1500)
def test_no_fewer_stops_would_do_and_none_are_found_where_there_are_none(seed: int) -> None:
    totals, ends, sink, preferences = _problem(seed)
    allowed = [node for node, preference in enumerate(preferences) if preference is not None]
    expected = _minimal(totals, ends, sink, allowed, MOST)
    found = least_stops(totals, ends, sink, preferences)
    if found is None:
        assert not expected
        return
    stops = tuple(node for node, times in enumerate(found[0]) for _ in range(times))
    if len(stops) <= MOST:
        assert stops in expected
        assert _ranked(stops, preferences) == max(_ranked(each, preferences) for each in expected)
    else:
        assert not expected
        assert not _negative(totals, ends, sink, stops)


CHAIN: Ends = [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("preferences", "stops"),
    [
        ([(0, 0), (0, 1), (0, 2), None], [0, 0, 2, 0]),
        ([(0, 0), (1, 1), (0, 2), None], [0, 2, 0, 0]),
        ([(0, 0), (1, 1), None, None], [0, 2, 0, 0]),
        ([None, None, None, None], None),
    ],
    ids=["the last", "one that is preferred", "where walks can stop", "nowhere"],
)
def test_of_several_nodes_the_preferred_one(
    preferences: list[Preference | None], stops: list[int] | None
) -> None:
    """Two walks reached node 0, none left node 2 for the sink, which is node 3."""
    found = least_stops([-2, 0, 0, 2], CHAIN, 3, preferences)
    assert found == (None if stops is None else (stops, []))


def test_no_more_stop_at_a_node_than_reached_it() -> None:
    """Two walks reached node 0 and one node 1, which leads to node 0; nothing left that for the sink."""
    found = least_stops([-2, -1, 3], [(1, 0)], 2, [(0, 0), (9, 9), None])
    assert found == ([2, 1, 0], [])


def test_a_subtree_has_room_for_no_more_stops_than_its_nodes() -> None:
    """Two walks stopped in the tree of node 1: node 5 is preferred, but only one walk reached it."""
    ends: Ends = [(1, 0), (2, 1), (4, 2), (5, 0)]
    preferences: list[Preference | None] = [None, (1, 1), (0, 2), None, (0, 4), (1, 5)]
    found = least_stops([2, -1, 2, 2, -4, -1], ends, 3, preferences)
    assert found == ([0, 1, 0, 0, 0, 1], [])


PARENTS: dict[str, Callable[[int], int]] = {
    "chain": lambda node: node - 1,
    "star": lambda node: 0,
    "caterpillar": lambda node: node - 1 - node % 2,
}


@pytest.mark.parametrize("nodes", [100_000])
@pytest.mark.parametrize("shape", PARENTS)
def test_large_forests(shape: str, nodes: int) -> None:
    """Each node but the sink, which is node 0, demands a stop of its own; it takes seconds at most."""
    ends = [(max(PARENTS[shape](node), 0), node) for node in range(1, nodes)]
    totals = [nodes - 1, *[-1] * (nodes - 1)]
    preferences: list[Preference | None] = [None, *((node % 2, node) for node in range(1, nodes))]
    begin = time.process_time()
    found = least_stops(totals, ends, 0, preferences)
    assert time.process_time() - begin < 20
    assert found is not None
    assert sum(found[0]) == nodes - 1


def test_a_back_edge_is_raised_before_walks_are_taken_to_have_stopped() -> None:
    """The loop 1 -> 2 -> 1 was iterated three times, which is counted only when it is left."""
    ends: Ends = [(0, 1), (1, 2), (2, 3)]
    totals = [0, 0, 0, 0]
    forest = root_forest([0, 3, -3, 0], ends, 3)
    assert [forest.flow[edge] for edge in range(3)] == [0, -3, 0]
    raised, amounts = raise_back_edges(forest, ends, [(2, 1)])
    assert (amounts, raised.flow, forest.flow) == ([3], [0, 0, 0], [0, -3, 0])
    found = least_stops([0, 3, -3, 0], ends, 3, [(0, 0), (0, 1), (0, 2), None], [(2, 1)])
    assert found == (totals, [3])


def test_an_edge_is_raised_no_further_than_others_can_give() -> None:
    ends: Ends = [(0, 1), (2, 1), (2, 3)]
    _, amounts = raise_back_edges(root_forest([-1, 2, 0, -1], ends, 3), ends, [(3, 3), (1, 1)])
    assert amounts == [0, 0]


@given(seeds())
@settings(max_examples=500, deadline=None)
def test_raising_edges_leaves_the_flow_law_alone(seed: int) -> None:
    """What an edge carries more, others carry along its cycle: each node keeps its balance."""
    totals, ends, sink, _ = _problem(seed)
    rng = random.Random(seed)
    back_edges = [(rng.randrange(len(totals)), rng.randrange(len(totals))) for _ in range(2)]
    forest = root_forest(totals, ends, sink)
    raised, amounts = raise_back_edges(forest, ends, back_edges)
    change = [0] * len(totals)
    for (tail, head), before, after in zip(ends, forest.flow, raised.flow, strict=True):
        change[head] += after - before
        change[tail] -= after - before
        assert after >= min(before, 0)
    for (tail, head), amount in zip(back_edges, amounts, strict=True):
        change[head] += amount
        change[tail] -= amount
    assert not any(change)
