"""The numbers of program locations and probes."""

from __future__ import annotations

import pytest

from trodden.graph.cfg import build
from trodden.plan.paths.locations import Holder, Locations, Mark


def test_locations_and_probes_have_numbers_of_their_own() -> None:
    graph = build("f", ["a", "b", "c", "EXIT"], [(0, 1), (0, 2), (1, 2), (2, 3)])
    numbers = Locations.of(graph)
    on_edges = [numbers.on_edge(edge) for edge in range(len(graph.edges))]
    places = [*range(graph.exit), *on_edges]
    assert len({*places}) == graph.exit + len(on_edges)
    assert [place for place in range(-1, max(places) + 2) if numbers.has(place)] == sorted(places)
    assert [numbers.edge_of(place) for place in on_edges] == list(range(len(graph.edges)))
    assert [numbers.edge_of(place) for place in (0, graph.exit - 1, max(places) + 1)] == [None] * 3
    marks = [
        Mark(holder, index, number)
        for holder in Holder
        for index in range(len(graph.edges) if holder is Holder.EDGE else graph.exit)
        for number in (0, 1, 15)
    ]
    codes = [numbers.mark(mark) for mark in marks]
    assert len(set(codes)) == len(marks)
    assert [numbers.mark_of(code) for code in codes if code is not None] == marks
    assert numbers.mark(Mark(Holder.EDGE, 0, 16)) is None
    assert numbers.mark_of(0) is None


@pytest.mark.parametrize(
    ("mark", "code"),
    [
        (Mark(Holder.EDGE, 0, 0), 1),
        (Mark(Holder.EDGE, 0, 15), 16),
        (Mark(Holder.EDGE, 4, 2), 67),
        (Mark(Holder.BLOCK, 0, 0), 81),
        (Mark(Holder.BLOCK, 2, 1), 114),
        (Mark(Holder.MERGED, 0, 0), 129),
        (Mark(Holder.MERGED, 1, 0), 145),
        (Mark(Holder.SLOT, 0, 0), 177),
        (Mark(Holder.SLOT, 2, 0), 209),
    ],
)
def test_the_numbers_in_programs_that_were_built_already_do_not_change(mark: Mark, code: int) -> None:
    """Three blocks and five edges, of which one leads from EXIT back to the entry."""
    graph = build("f", ["a", "b", "c", "EXIT"], [(0, 1), (0, 2), (1, 2), (2, 3)])
    numbers = Locations.of(graph)
    assert (numbers.blocks, numbers.edges, numbers.on_edge(1)) == (3, 5, 4)
    assert numbers.mark(mark) == code
    assert numbers.mark_of(code) == mark
