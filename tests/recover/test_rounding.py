"""Whole numbers out of frequencies: the law holds, nothing is lost, and little changes."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import leaving_graphs, seeds, whole_walk
from trodden.graph.cfg import Graph
from trodden.plan.interpret import tally
from trodden.recover.rounding import whole_flow


def _walked(graph: Graph, seed: int) -> tuple[list[tuple[int, int]], list[int], int]:
    """The edges that walks took, how often, and which of them is the closing one."""
    rng = Random(seed)
    counts = tally(graph, [whole_walk(graph, rng, 30) for _ in range(rng.randint(1, 5))]).edges
    taken = [edge for edge, count in enumerate(counts) if count]
    ends = [(graph.edges[edge].src, graph.edges[edge].dst) for edge in taken]
    return ends, [counts[edge] for edge in taken], taken.index(graph.closing)


def _balances(size: int, ends: list[tuple[int, int]], counts: list[int]) -> list[int]:
    found = [0] * size
    for (src, dst), count in zip(ends, counts, strict=True):
        found[src] -= count
        found[dst] += count
    return found


@settings(max_examples=200, deadline=None)
@given(leaving_graphs(), seeds(), st.floats(1e-6, 1e6))
def test_the_law_holds_and_no_edge_is_lost(graph: Graph, seed: int, scale: float) -> None:
    ends, counts, closing = _walked(graph, seed)
    found = whole_flow(len(graph.labels), ends, [count * scale for count in counts], closing)
    assert not any(_balances(len(graph.labels), ends, found))
    assert min(found) >= 1
    for count, new in zip(counts, found, strict=True):
        assert abs(new - count * scale) <= 2 * len(ends)


@settings(max_examples=100, deadline=None)
@given(leaving_graphs(), seeds())
def test_counts_stay_what_they_are(graph: Graph, seed: int) -> None:
    ends, counts, closing = _walked(graph, seed)
    assert whole_flow(len(graph.labels), ends, [count * (1 + 1e-12) for count in counts], closing) == counts


def test_rare_ways_of_a_loop_are_added_inside_of_it() -> None:
    """A switch in a loop: its cases are rare, the function is called once."""
    cases = range(2, 12)
    ends = [(0, 1), *((1, case) for case in cases), *((case, 1) for case in cases), (1, 12), (12, 0)]
    frequencies = [1.0, *[0.2] * 20, 1.0, 1.0]
    found = whole_flow(13, ends, frequencies, len(ends) - 1)
    assert (found[0], found[-1]) == (1, 1)
    assert found[1:21] == [1] * 20


def test_an_edge_without_a_cycle() -> None:
    with pytest.raises(ValueError, match="no cycle"):
        whole_flow(3, [(0, 1), (0, 2), (1, 0)], [1.0, 0.4, 1.0], 2)
