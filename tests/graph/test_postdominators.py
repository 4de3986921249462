from __future__ import annotations

from hypothesis import given, settings

from tests.graphs import graphs
from tests.programs import chain, nest
from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.postdominators import find_postdominators


def reaches_exit(graph: Graph, banned: int | None) -> set[int]:
    """From where a way leads to EXIT (out of an endless region, too) that does not pass ``banned``."""
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
def test_postdominators_are_what_no_way_out_gets_around(graph: Graph) -> None:
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


def test_deep_graphs_take_neither_recursion_nor_forever() -> None:
    deep = chain(100_000)
    assert find_postdominators(deep).dominates(deep.exit, 0)
    deep = nest(50_000)
    assert find_postdominators(deep).dominates(deep.exit, 49_999)
