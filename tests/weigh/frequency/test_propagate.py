"""Frequencies from branch probabilities: the numbers of WL94, and a direct solution."""

from __future__ import annotations

from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings

from tests.graphs import leaving_graphs, seeds
from trodden.graph.cfg import EdgeKind, Graph
from trodden.weigh.frequency.propagate import propagate


def test_loops_that_share_a_header() -> None:
    """Figure 1b: each of the header's two successors returns to it with 0.88."""
    ends = [(0, 1), (0, 2), (1, 0), (1, 3), (2, 0), (2, 3), (3, 4), (5, 0), (4, 5)]
    probabilities = [0.5, 0.5, 0.88, 0.12, 0.88, 0.12, 1.0, 1.0, 1.0]
    found = propagate(6, ends, probabilities, 5)
    assert found[0] + found[1] == pytest.approx(8.33, abs=5e-3)
    assert found[6] == pytest.approx(1)


def test_nested_loops_that_share_a_header() -> None:
    """Figure 1c: three back edges, one after the other."""
    ends = [(0, 0), (0, 1), (1, 0), (1, 2), (2, 0), (2, 3), (3, 0)]
    probabilities = [0.88, 0.12, 0.88, 0.12, 0.88, 0.12, 1.0]
    assert sum(propagate(4, ends, probabilities, 3)[:2]) == pytest.approx(578.70, abs=5e-3)


def test_atoi() -> None:
    """Appendix A, Figure 6; the paper rounds intermediate results."""
    ends = [(0, 1), (0, 5), (1, 2), (1, 4), (2, 3), (3, 3), (3, 4), (4, 6), (5, 6), (6, 0)]
    probabilities = [0.948, 0.052, 0.885, 0.115, 1.0, 0.88, 0.12, 1.0, 1.0, 1.0]
    found = propagate(7, ends, probabilities, 6)
    assert found[:5] == pytest.approx([0.95, 0.052, 0.84, 0.11, 0.84], abs=5e-3)
    assert found[5] + found[6] == pytest.approx(6.99, abs=5e-3)
    assert sum(found[number] for number in (1, 3, 6)) == pytest.approx(1)


def _probabilities(graph: Graph, seed: int) -> list[Fraction]:
    """Random probabilities of the edges of each block."""
    rng = Random(seed)
    probabilities = [Fraction(0)] * len(graph.edges)
    for out_edges in graph.out_edges:
        ways = [edge for edge in out_edges if graph.edges[edge].kind is not EdgeKind.ENDLESS]
        parts = [rng.choice([1, 1, 2, 1000]) for _ in ways]
        for edge, part in zip(ways, parts, strict=True):
            probabilities[edge] = Fraction(part, sum(parts))
    return probabilities


def _solved(graph: Graph, probabilities: list[Fraction]) -> list[Fraction]:
    """The same by plain Gaussian elimination in fractions, EXIT executed once."""
    size = len(graph.labels)
    rows = [[Fraction(i == j) for j in range(size)] + [Fraction(0)] for i in range(size)]
    for edge, (src, dst, _) in enumerate(graph.edges):
        rows[dst][src] -= probabilities[edge]
    rows[graph.exit] = [Fraction(j == graph.exit) for j in range(size)] + [Fraction(1)]
    for i in range(size):
        pivot = next(k for k in range(i, size) if rows[k][i])
        rows[i], rows[pivot] = rows[pivot], rows[i]
        rows[i] = [value / rows[i][i] for value in rows[i]]
        for k in range(size):
            if k != i and rows[k][i]:
                rows[k] = [a - rows[k][i] * b for a, b in zip(rows[k], rows[i], strict=True)]
    return [rows[edge.src][size] * probabilities[number] for number, edge in enumerate(graph.edges)]


@settings(max_examples=150, deadline=None)
@given(leaving_graphs(), seeds())
def test_any_graph(graph: Graph, seed: int) -> None:
    probabilities = _probabilities(graph, seed)
    ends = [(edge.src, edge.dst) for edge in graph.edges]
    found = propagate(len(graph.labels), ends, [float(each) for each in probabilities], graph.exit)
    assert found == pytest.approx([float(each) for each in _solved(graph, probabilities)], rel=1e-9)


def test_a_loop_that_is_hardly_ever_left() -> None:
    """No precision is lost although the probability of leaving is tiny beside one."""
    ends = [(0, 0), (0, 1), (1, 0)]
    assert propagate(2, ends, [1.0, 1e-18, 1.0], 1)[0] == pytest.approx(1e18)


def test_no_successor() -> None:
    with pytest.raises(ValueError, match="EXIT cannot be reached"):
        propagate(3, [(0, 1), (0, 2), (1, 1), (2, 0)], [0.5, 0.5, 1.0, 1.0], 2)


def test_long_and_deep_graphs() -> None:
    """A hundred thousand blocks in a row, each the header of a loop around all that follow."""
    size = 100_000
    ends = [(v, v + 1) for v in range(size)] + [(size - 1, 0)]
    ends += [(v, v - 2) for v in range(2, size, 2)] + [(size, 0)]
    probabilities = [0.5 if v and v % 2 == 0 else 1.0 for v in range(size)]
    probabilities[size - 1] = 0.5
    probabilities += [0.5] + [0.5] * len(range(2, size, 2)) + [1.0]
    found = propagate(size + 1, ends, probabilities, size)
    assert found[size - 1] == pytest.approx(1)
