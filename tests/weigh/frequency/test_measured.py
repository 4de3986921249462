from __future__ import annotations

import pytest
from hypothesis import given

from tests.graphs import graphs, seeds, walks_for
from trodden.errors import UsageError
from trodden.graph.cfg import Graph, build
from trodden.plan.interpret import tally
from trodden.weigh.frequency.measured import measured_weights


@given(graphs(), seeds())
def test_counts_become_weights(graph: Graph, seed: int) -> None:
    truth = tally(graph, walks_for(graph, seed))
    assert measured_weights(graph, truth.edges) == truth.edges


def test_undetermined_edges_share_what_is_left_of_their_block() -> None:
    graph = build("g", ["A", "B", "EXIT"], [(0, 1), (0, 1), (0, 2), (1, 2)])
    weights = measured_weights(graph, [None, None, 4, 6, 10], block_counts=[10, 6, 10])
    assert weights == [3.0, 3.0, 4.0, 6.0, 10.0]


def test_undetermined_edges_without_block_counts_are_refused() -> None:
    graph = build("g", ["A", "EXIT"], [(0, 1), (0, 1)])
    with pytest.raises(UsageError, match="g: the profile has no count for some edges"):
        measured_weights(graph, [None, None, 4])


def test_a_profile_of_another_build_is_refused() -> None:
    graph = build("g", ["A", "EXIT"], [(0, 1)])
    with pytest.raises(UsageError, match="g: the profile has 5 edges, the function 2"):
        measured_weights(graph, [1, 2, 3, 4, 5])
