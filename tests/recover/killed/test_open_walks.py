"""Executions under way, taken out of the edges that are ahead of the counted paths."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Sequence

import pytest
from hypothesis import given, settings

from tests.graphs import costs_for, graphs, seeds
from trodden.graph.cfg import Graph, build
from trodden.plan.interpret import random_walk
from trodden.plan.paths.plan import path_plan
from trodden.recover.killed.open_walks import Walk, walks_cut_short, walks_that_ended
from trodden.recover.killed.procedure import Procedure

DIAMONDS = build(
    "f",
    ["a", "b", "c", "d", "e", "f", "g", "EXIT"],
    [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (3, 5), (4, 6), (5, 6), (6, 7)],
)
AB, AC, BD, CD, DE, DF, EG, FG, LEAVE = range(9)


@pytest.mark.parametrize(
    ("excess", "walks", "left"),
    [
        ({}, [], {}),
        ({LEAVE: 2}, [Walk(6, (LEAVE,), 2)], {}),
        ({AB: 1, BD: 1, DE: 1, EG: 1, LEAVE: 1}, [Walk(0, (AB, BD, DE, EG, LEAVE), 1)], {}),
        (
            {EG: 2, FG: 1, LEAVE: 3},
            [Walk(4, (EG, LEAVE), 2), Walk(5, (FG, LEAVE), 1)],
            {},
        ),
        ({AB: 3, FG: 1, LEAVE: 1}, [Walk(5, (FG, LEAVE), 1)], {AB: 3}),
    ],
    ids=["nothing", "from its own block", "the whole path", "two beginnings", "one is still under way"],
)
def test_walks_that_ended(excess: dict[int, int], walks: list[Walk], left: dict[int, int]) -> None:
    found, rest = walks_that_ended(DIAMONDS, excess, {LEAVE})
    assert (found, {edge: times for edge, times in rest.items() if times}) == (walks, left)


@pytest.mark.parametrize(
    ("excess", "starts", "walks"),
    [
        ({}, [(3, 2)], [Walk(3, (), 2)]),
        ({DE: 1}, [(3, 2)], [Walk(3, (DE,), 1), Walk(3, (), 1)]),
        ({AB: 2, BD: 1}, [(0, 2)], [Walk(0, (AB, BD), 1), Walk(0, (AB,), 1)]),
        (
            {AB: 1, BD: 1, DE: 1, DF: 1},
            [(3, 1), (0, 1)],
            [Walk(3, (DE,), 1), Walk(0, (AB, BD, DF), 1)],
        ),
        ({DE: 10**18}, [(3, 10**18)], [Walk(3, (DE,), 10**18)]),
    ],
    ids=["not left", "one of two", "stopped before the end", "first start first", "in one piece"],
)
def test_walks_cut_short(
    excess: dict[int, int], starts: Sequence[tuple[int, int]], walks: list[Walk]
) -> None:
    assert walks_cut_short(DIAMONDS, excess, starts) == walks


def test_the_work_is_reported() -> None:
    spent: list[int] = []
    walks_that_ended(DIAMONDS, {EG: 1, LEAVE: 1}, {LEAVE}, spent.append)
    walks_cut_short(DIAMONDS, {AB: 1, BD: 1}, [(0, 2)], spent.append)
    assert spent == [2, 3, 1]


def _edges(walks: Iterable[Walk]) -> Counter[int]:
    found = Counter[int]()
    for walk in walks:
        for edge in walk.edges:
            found[edge] += walk.times
    return found


def _last(graph: Graph, walk: Walk) -> int:
    return graph.edges[walk.edges[-1]].dst if walk.edges else walk.block


@given(graphs(), seeds())
@settings(max_examples=300, deadline=None)
def test_all_of_a_flow_is_used_up_and_as_many_stop_in_each_block(graph: Graph, seed: int) -> None:
    """Pieces of random walks between edges that end paths, some of them cut short; taken apart again."""
    procedure = Procedure(graph, path_plan(graph, costs_for(graph, seed), may_be_cut_short=range(graph.exit)))
    ends = procedure.sums.ends
    rng = random.Random(seed)
    pieces: list[Walk] = []
    for _ in range(rng.randint(1, 5)):
        taken = [e for e in random_walk(graph, rng, rng.choice([2, 6, 20])) if procedure.sums.takes(e)]
        block, edges, times = graph.root, list[int](), rng.randint(1, 3)
        for edge in taken:
            edges.append(edge)
            if edge in ends:
                pieces.append(Walk(block, tuple(edges), times))
                block, edges = graph.edges[edge].dst, []
        if block != graph.exit:
            pieces.append(Walk(block, tuple(edges), times))
    excess = {edge: _edges(pieces)[edge] for edge in range(len(graph.edges))}
    starts = Counter[int]()
    for piece in pieces:
        starts[piece.block] += piece.times
    ended, left = walks_that_ended(graph, excess, ends)
    for walk in ended:
        starts[walk.block] -= walk.times
    assert min(starts.values()) >= 0
    stopped = walks_cut_short(graph, left, sorted(starts.items()))
    assert len(ended) <= len(graph.edges)
    assert len(stopped) <= len(graph.edges) + len(starts)
    found = [*ended, *stopped]
    for walk in found:
        blocks = [walk.block, *(graph.edges[edge].dst for edge in walk.edges)]
        assert [graph.edges[edge].src for edge in walk.edges] == blocks[:-1]
        assert not ends.intersection(walk.edges[:-1])
    assert _edges(found) == _edges(pieces)

    def where(walks: Iterable[Walk]) -> Counter[tuple[bool, int]]:
        """How many ended on an edge of ``ends``, or stopped, by their last block."""
        found = Counter[tuple[bool, int]]()
        for walk in walks:
            found[bool(walk.edges) and walk.edges[-1] in ends, _last(graph, walk)] += walk.times
        return found

    assert where(found) == where(pieces)
    if len(pieces) == 1:
        assert found == pieces
