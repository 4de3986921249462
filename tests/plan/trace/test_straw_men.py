"""Blocks that record themselves: sufficient, and never cheaper than witnesses on edges."""

from __future__ import annotations

from hypothesis import given, settings

from tests.graphs import graphs, leaving_graphs
from tests.plan.trace.test_predicates import executions
from trodden.graph.cfg import Graph, build
from trodden.plan.probes import Trace
from trodden.plan.trace.predicates import disjoint_witness_sets
from trodden.plan.trace.straw_men import every_block, targets_of_predicates, witnesses_in
from trodden.plan.trace.witnesses import outside_tree
from trodden.weigh.frequency.nesting import nesting_weights


@settings(max_examples=150)
@given(graphs())
def test_every_block_is_sufficient(graph: Graph) -> None:
    """Parallel edges aside, between which blocks do not tell; endings without a block are told by EOF."""
    assert disjoint_witness_sets(graph, witnesses_in(graph, every_block(graph)))
    assert targets_of_predicates(graph) <= every_block(graph)


@settings(max_examples=150)
@given(leaving_graphs())
def test_targets_of_predicates_are_sufficient(graph: Graph) -> None:
    """Where EXIT can be reached from everywhere, as the paper assumes."""
    assert disjoint_witness_sets(graph, witnesses_in(graph, targets_of_predicates(graph)))


@settings(max_examples=100)
@given(leaving_graphs(max_blocks=4, max_edges=8))
def test_they_tell_executions_apart(graph: Graph) -> None:
    for blocks in (every_block(graph), targets_of_predicates(graph)):
        written = witnesses_in(graph, blocks)
        told: dict[tuple[int, ...], list[int]] = {}
        for run in executions(graph, 60, 9):
            walked = [graph.edges[edge].dst for edge in run]
            assert told.setdefault(tuple(written[e] for e in run if e in written), walked) == walked


def test_a_diamond_needs_one_witness() -> None:
    """Where both sides would record themselves."""
    graph = build("diamond", ["A", "B", "C", "D", "EXIT"], [(0, 1), (0, 2), (1, 3), (2, 3), (3, 4)])
    assert every_block(graph) == {0, 1, 2, 3}
    assert targets_of_predicates(graph) == {1, 2}
    assert len(outside_tree(graph, nesting_weights(graph), Trace("witnesses"), ())) == 1
