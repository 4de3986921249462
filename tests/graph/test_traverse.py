from __future__ import annotations

from hypothesis import given, settings

from tests.graphs import graphs
from tests.oracles import reach_without
from tests.programs import chain
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.graph.traverse import back_edges, depth_first, topological_order


@given(graphs())
@settings(max_examples=300)
def test_a_topological_order_leads_forward_except_along_back_edges(graph: Graph) -> None:
    order = topological_order(graph)
    assert set(order) == reach_without(graph, None)
    position = {vertex: number for number, vertex in enumerate(order)}
    back = back_edges(graph)
    for index, edge in enumerate(graph.edges):
        if edge.kind is not EdgeKind.FLOW or edge.src not in position:
            assert index not in back
        elif index in back:
            assert position[edge.dst] <= position[edge.src]
        else:
            assert position[edge.dst] > position[edge.src]


@given(graphs())
def test_a_back_edge_leads_to_an_ancestor_in_the_search_tree(graph: Graph) -> None:
    search = depth_first(graph)
    for index in search.back_edges:
        ancestors = {graph.edges[index].src}
        vertex = graph.edges[index].src
        while vertex != graph.root:
            vertex = graph.edges[search.parent_edge[vertex]].src
            ancestors.add(vertex)
        assert graph.edges[index].dst in ancestors
        assert search.descends(graph.edges[index].src, graph.edges[index].dst)


def test_the_closing_edge_is_no_back_edge_and_endless_edges_are_not_followed() -> None:
    graph = build("stuck", ["A", "B", "EXIT"], [(0, 1), (1, 1)])
    assert back_edges(graph) == {1}
    assert topological_order(graph) == (0, 1)


def test_a_hundred_thousand_blocks_in_a_row() -> None:
    assert topological_order(chain(100_000))[:3] == (0, 1, 2)
