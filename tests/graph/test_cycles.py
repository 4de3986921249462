from __future__ import annotations

from hypothesis import given, settings

from tests.graphs import graphs
from tests.oracles import has_pipe, simple_cycles
from trodden.graph.cfg import Graph
from trodden.graph.cycles import biconnected_components, piped_cycles
from trodden.graph.spanning import live_edges


@given(graphs(max_blocks=5, max_edges=8))
@settings(max_examples=300)
def test_piped_cycles_are_found_if_there_are_any(graph: Graph) -> None:
    live = live_edges(graph)
    all_cycles = [cycle for cycle in simple_cycles(graph, live) if has_pipe(cycle)]
    known = {frozenset(index for index, _ in cycle): len(cycle) for cycle in all_cycles}
    found = [frozenset(cycle) for cycle in piped_cycles(graph, live)]
    assert all(cycle in known for cycle in found)
    pipes = {
        graph.edges[cycle[position][0]].src if cycle[position][1] else graph.edges[cycle[position][0]].dst
        for cycle in all_cycles
        for position in range(len(cycle))
        if cycle[position - 1][1] == cycle[position][1]
    }
    assert {vertex for cycle in found for index in cycle for vertex in graph.edges[index][:2]} >= pipes


@given(graphs(max_blocks=5, max_edges=8))
@settings(max_examples=200)
def test_two_edges_share_a_component_exactly_when_they_share_a_simple_cycle(graph: Graph) -> None:
    live = live_edges(graph)
    components = biconnected_components(graph, live)
    assert sorted(index for component in components for index in component) == live
    together = {frozenset((index,)) for index in live}
    for cycle in simple_cycles(graph, live):
        together |= {frozenset((first, second)) for first, _ in cycle for second, _ in cycle}
    assert together == {
        frozenset((first, second)) for component in components for first in component for second in component
    }
