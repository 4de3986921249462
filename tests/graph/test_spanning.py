from __future__ import annotations

from hypothesis import given, settings

from tests.graphs import costs_for, graphs, seeds
from tests.oracles import acyclic, spanning_trees
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.graph.spanning import live_edges, maximum_spanning_tree, minimum_spanning_tree
from trodden.graph.traverse import reachable


@given(graphs(max_blocks=4, max_edges=8), seeds())
@settings(max_examples=250)
def test_no_spanning_tree_weighs_more_or_less(graph: Graph, seed: int) -> None:
    weights = costs_for(graph, seed)
    live = live_edges(graph)
    size = len(reachable(graph)) - 1
    costs = [sum(weights[index] for index in tree) for tree in spanning_trees(graph, live, size)]
    for tree, best in (
        (maximum_spanning_tree(graph, weights), max(costs)),
        (minimum_spanning_tree(graph, weights), min(costs)),
    ):
        assert len(tree) == size
        assert acyclic(graph, tree)
        assert sum(weights[index] for index in tree) == best


@given(graphs(), seeds())
def test_the_tree_spans_what_is_reachable_without_endless_edges(graph: Graph, seed: int) -> None:
    tree = maximum_spanning_tree(graph, costs_for(graph, seed), [graph.closing])
    assert graph.closing in tree
    assert len(tree) == len(reachable(graph)) - 1
    assert acyclic(graph, tree)
    assert all(graph.edges[index].kind is not EdgeKind.ENDLESS for index in tree)


def test_of_equal_edges_the_first_is_taken() -> None:
    graph = build("twins", ["A", "EXIT"], [(0, 1), (0, 1), (0, 1)])
    assert maximum_spanning_tree(graph, [1.0, 1.0, 1.0, 1.0]) == {0}
    assert minimum_spanning_tree(graph, [1.0, 1.0, 1.0, 1.0]) == {0}


def test_seeds_are_added_first_unless_they_close_a_cycle() -> None:
    graph = build("seeded", ["A", "B", "EXIT"], [(0, 1), (0, 1), (1, 2), (0, 2)])
    tree = maximum_spanning_tree(graph, [9.0, 0.0, 9.0, 9.0, 0.0], seeds=[1, 0, graph.closing])
    assert tree == {1, graph.closing}


def test_an_infinite_weight_keeps_an_edge_in_the_tree() -> None:
    graph = build("forced", ["A", "EXIT"], [(0, 1), (0, 1)])
    assert maximum_spanning_tree(graph, [1e300, float("inf"), 0.0]) == {1}
