from __future__ import annotations

from hypothesis import given

from tests.graphs import graphs
from tests.oracles import reach_without
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.graph.traverse import reachable


@given(graphs())
def test_with_virtual_edges_exit_is_reachable_from_every_reachable_block(graph: Graph) -> None:
    reached = reach_without(graph, None) | {graph.exit}
    assert reachable(graph) == reached
    leaving = {graph.exit}
    for _ in graph.labels:
        leaving |= {
            edge.src for edge in graph.edges if edge.kind is not EdgeKind.CLOSING and edge.dst in leaving
        }
    assert reached <= leaving


@given(graphs())
def test_an_endless_edge_leaves_a_region_without_exits(graph: Graph) -> None:
    stuck = [edge.src for edge in graph.edges if edge.kind is EdgeKind.ENDLESS]
    regions = []
    for vertex in stuck:
        onward = {index for index in range(len(graph.labels)) if vertex in _before(graph, index)}
        assert graph.exit not in onward
        assert all(vertex in _after(graph, other) for other in onward)
        regions.append(frozenset(onward))
    assert len(set(regions)) == len(regions)


def _before(graph: Graph, vertex: int) -> set[int]:
    return reach_without(graph, None, backwards_from=vertex)


def _after(graph: Graph, vertex: int) -> set[int]:
    return {other for other in range(len(graph.labels)) if vertex in _before(graph, other)}


def test_edges_keep_the_order_in_which_they_are_given() -> None:
    graph = build("order", ["A", "B", "EXIT"], [(1, 2), (0, 1), (0, 1)])
    assert [(edge.src, edge.dst) for edge in graph.edges] == [(1, 2), (0, 1), (0, 1), (2, 0)]
    assert graph.edges[graph.closing].kind is EdgeKind.CLOSING
    assert list(graph.flow_edges()) == [0, 1, 2]
