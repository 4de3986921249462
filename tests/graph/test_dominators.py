from __future__ import annotations

from hypothesis import given, settings

from tests.graphs import graphs
from tests.oracles import dominates, reach_without
from tests.programs import chain, nest
from trodden.graph.cfg import Graph
from trodden.graph.dominators import find_dominators


@given(graphs(max_blocks=10, max_edges=24))
@settings(max_examples=300)
def test_dominators_are_on_every_path_from_the_root(graph: Graph) -> None:
    tree = find_dominators(graph)
    reached = reach_without(graph, None)
    for lower in range(len(graph.labels)):
        if lower not in reached:
            assert tree.idom[lower] == -1
            assert not tree.dominates(graph.root, lower)
            continue
        above = {upper for upper in reached if dominates(graph, upper, lower)}
        assert {upper for upper in range(len(graph.labels)) if tree.dominates(upper, lower)} == above
        if lower == graph.root:
            assert tree.idom[lower] == -1
        else:
            closest = tree.idom[lower]
            assert closest in above - {lower}
            assert all(dominates(graph, upper, closest) for upper in above - {lower})


def test_deep_graphs_need_no_recursion_and_linear_time() -> None:
    assert find_dominators(chain(100_000)).idom[99_999] == 99_998
    assert find_dominators(nest(50_000)).idom[49_999] == 49_998
