from __future__ import annotations

from hypothesis import given, settings

from tests.graphs import graphs
from tests.programs import chain, nest
from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.postdominators import find_postdominators


def reaches_exit(graph: Graph, banned: int | None) -> set[int]:
    """The vertices from which EXIT is reachable (along endless edges too) without ``banned``."""
    found = {graph.exit} - {banned}
    grown = True
    while grown:
        grown = False
        for edge in graph.edges:
            if edge.kind is EdgeKind.CLOSING or edge.dst not in found:
                continue
            if edge.src not in found and edge.src != banned:
                found.add(edge.src)
                grown = True
    return found


@given(graphs(max_blocks=10, max_edges=24))
@settings(max_examples=300)
def test_postdominators_are_on_every_path_to_exit(graph: Graph) -> None:
    tree = find_postdominators(graph)
    leaving = reaches_exit(graph, None)
    for vertex in range(len(graph.labels)):
        if vertex not in leaving:
            assert tree.idom[vertex] == -1
            assert not tree.dominates(graph.exit, vertex)
            continue
        behind = {after for after in leaving if after == vertex or vertex not in reaches_exit(graph, after)}
        assert {after for after in range(len(graph.labels)) if tree.dominates(after, vertex)} == behind
        if vertex == graph.exit:
            assert tree.idom[vertex] == -1
        else:
            closest = tree.idom[vertex]
            assert closest in behind - {vertex}
            assert all(tree.dominates(after, closest) for after in behind - {vertex})


def test_deep_graphs_need_no_recursion_and_linear_time() -> None:
    deep = chain(100_000)
    assert find_postdominators(deep).dominates(deep.exit, 0)
    deep = nest(50_000)
    assert find_postdominators(deep).dominates(deep.exit, 49_999)
