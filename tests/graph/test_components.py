from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from trodden.graph.components import strong_components
from trodden.graph.reach import sweep


@st.composite
def successor_lists(draw: st.DrawFn) -> list[list[int]]:
    size = draw(st.integers(1, 9))
    return [draw(st.lists(st.integers(0, size - 1), max_size=3)) for _ in range(size)]


@given(successor_lists())
def test_components_by_definition(successors: list[list[int]]) -> None:
    found = strong_components(successors, range(len(successors)))
    reach = [sweep(successors, [vertex]) for vertex in range(len(successors))]
    expected = {
        frozenset(other for other in reach[vertex] if vertex in reach[other])
        for vertex in range(len(successors))
    }
    assert {frozenset(members) for members in found} == expected
    assert sum(map(len, found)) == len(successors)


@given(successor_lists())
def test_components_follow_their_successors(successors: list[list[int]]) -> None:
    found = strong_components(successors, range(len(successors)))
    number = {vertex: place for place, members in enumerate(found) for vertex in members}
    assert all(number[target] <= number[vertex] for vertex in number for target in successors[vertex])


@given(successor_lists())
def test_forward_edges_of_a_component_are_acyclic(
    successors: list[list[int]],
) -> None:
    """Forward edges span the component: all of it is reachable along them from its first member."""
    for members in strong_components(successors, range(len(successors))):
        place = {vertex: number for number, vertex in enumerate(members)}
        forward = [
            [target for target in targets if place.get(target, -1) > place.get(vertex, len(members))]
            for vertex, targets in enumerate(successors)
        ]
        assert sweep(forward, [members[0]]) == set(members)


def test_a_long_cycle() -> None:
    size = 100_000
    successors = [[(vertex + 1) % size] for vertex in range(size)]
    assert strong_components(successors, range(size)) == [list(range(size))]
