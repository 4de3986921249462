"""Every path has one number, every number one path."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest
from hypothesis import assume, given

from tests.graphs import graphs, seeds
from tests.plan.splitting import split_headers
from trodden.graph.cfg import EdgeKind, Graph, build
from trodden.graph.traverse import back_edges
from trodden.plan.paths.numbering import Numbering, Start, Successor, count_paths, numbering_of
from trodden.plan.probes import Paths
from trodden.plan.routes import PathEnd, PathStart, Route

MANY = 3000


@dataclass
class Case:
    graph: Graph
    paths: Paths

    def numbering(self) -> Numbering:
        return Numbering(self.graph, self.paths)


def case_of(graph: Graph, seed: int, context: bool | None = None) -> Case:
    """A graph with some more edges removed than have to be."""
    rng = random.Random(seed)
    share = rng.choice([0.0, 0.2, 0.6])
    inner = [index for index in graph.flow_edges() if graph.edges[index].dst != graph.exit]
    loops = {index for index in inner if graph.edges[index].src == graph.edges[index].dst}
    back = back_edges(graph) - loops
    cuts = [index for index in inner if index not in loops and rng.random() < share]
    resume_edges = [index for index in inner if rng.random() < rng.choice([0.0, 0.2])]
    in_context = rng.random() < 0.5 if context is None else context
    return Case(graph, Paths(0, tuple(sorted(back)), tuple(cuts), tuple(resume_edges), in_context))


def all_routes(case: Case) -> Iterator[Route]:
    """Every possible path, by enumeration from all starts; it ends in a block without successors."""
    graph, paths = case.graph, case.paths
    headers = split_headers(graph, paths)
    removed = {*paths.back_edges, *paths.cuts, *paths.resume_edges}
    seen = {graph.root}
    begin = [Route((graph.root,), (), PathStart.ENTRY, PathEnd.UNWOUND)]
    work = [graph.root]
    behind: dict[int, PathStart] = {}
    rank = [PathStart.BACK_EDGE, PathStart.CUT, PathStart.RESUME]
    while work:
        for edge in graph.out_edges[work.pop()]:
            target = graph.edges[edge].dst
            if graph.edges[edge].kind is not EdgeKind.FLOW:
                continue
            if edge in removed and not (target in headers and edge in paths.back_edges):
                kind = PathStart.CUT if edge not in paths.back_edges else PathStart.BACK_EDGE
                kind = PathStart.RESUME if edge in paths.resume_edges else kind
                behind[target] = max(kind, behind.get(target, kind), key=rank.index)
            if target not in seen:
                seen.add(target)
                work.append(target)
    begin += [Route((vertex,), (), kind, PathEnd.UNWOUND) for vertex, kind in behind.items()]
    growing = [split for route in begin for split in arrive(route, headers)]
    while growing:
        route = growing.pop()
        ways = [
            edge
            for edge in graph.out_edges[route.blocks[-1]]
            if graph.edges[edge].kind is EdgeKind.FLOW
            and (edge in removed or graph.edges[edge].dst != route.blocks[-1])
        ]
        if not ways:
            yield route
        for edge in ways:
            longer = replace(route, edges=(*route.edges, edge))
            target = graph.edges[edge].dst
            if edge in removed:
                yield replace(longer, ends=PathEnd.BACK_EDGE if edge in paths.back_edges else PathEnd.CUT)
            elif target == graph.exit:
                yield replace(longer, ends=PathEnd.EXIT)
            else:
                growing += arrive(replace(longer, blocks=(*route.blocks, target)), headers)


def arrive(route: Route, headers: set[int]) -> list[Route]:
    """Both ways to reach a loop header with context: from outside, and along a back edge."""
    if route.blocks[-1] not in headers:
        return [route]
    place = len(route.blocks) - 1
    context_starts = route.context_starts or route.starts
    reentries = (*route.reentries, place)
    return [
        route,
        replace(
            route,
            starts=PathStart.BACK_EDGE,
            context=place,
            reentries=reentries,
            context_starts=context_starts,
        ),
    ]


@given(graphs(), seeds())
def test_numbers_and_paths_are_one_to_one(graph: Graph, seed: int) -> None:
    case = case_of(graph, seed)
    numbering = case.numbering()
    assume(numbering.number <= MANY)
    routes = [numbering.regenerate(path) for path in range(numbering.number)]
    assert len(set(routes)) == numbering.number
    assert set(routes) == set(all_routes(case))
    assert [numbering.number_of(route) for route in routes] == list(range(numbering.number))
    for path in (-1, numbering.number):
        with pytest.raises(ValueError, match="no path"):
            numbering.regenerate(path)


@given(graphs(), seeds())
def test_prefixes_are_identified_by_block_and_sum(graph: Graph, seed: int) -> None:
    numbering = case_of(graph, seed).numbering()
    assume(numbering.number <= MANY)
    known: dict[tuple[int, int], Route] = {}
    for path in range(numbering.number):
        for block in numbering.regenerate(path).blocks:
            try:
                route = numbering.prefix(block, path)
            except ValueError:
                continue
            known[block, path] = route
    for (block, path), route in known.items():
        assert route.ends is PathEnd.UNWOUND
        assert route.blocks[-1] == block
        whole = not numbering.successors(block)
        number = numbering.number_of(route)
        assert number == (path if whole else numbering.number * (block + 1) + path)
    assert len(set(known.values())) == len(known)
    assert set(known.values()) == {
        short for path in range(numbering.number) for short in prefixes_of(numbering.regenerate(path))
    }


def prefixes_of(route: Route) -> Iterator[Route]:
    """The path cut short in each of its blocks, from its last loop header with context on."""
    for length in range(1, len(route.blocks) + 1):
        reentries = tuple(place for place in route.reentries if place < length)
        starts = PathStart.BACK_EDGE if reentries else route.context_starts or route.starts
        yield Route(
            route.blocks[:length],
            route.edges[: length - 1],
            starts,
            PathEnd.UNWOUND,
            reentries[-1] if reentries else 0,
            reentries,
            route.context_starts if reentries else None,
        )


@given(graphs(), seeds())
def test_successors_and_starts_add_up(graph: Graph, seed: int) -> None:
    numbering = case_of(graph, seed, context=False).numbering()
    assume(numbering.number <= MANY)
    starts = {(start.vertex, start.kind): start.value for start in numbering.starts}
    for path in range(numbering.number):
        route = numbering.regenerate(path)
        total = starts[route.blocks[0], route.starts]
        for block, edge in zip(route.blocks, route.edges, strict=False):
            (way,) = [way for way in numbering.successors(block) if way.edge == edge]
            assert way.target == graph.edges[edge].dst
            total += way.value
            assert (way.ends is not None) == (edge == route.edges[-1] and route.ends is not PathEnd.UNWOUND)
        assert total == path
    assert sum(start.kind is PathStart.ENTRY for start in numbering.starts) == 1


@given(graphs(), seeds())
def test_counting_stops_at_a_limit(graph: Graph, seed: int) -> None:
    paths = case_of(graph, seed).paths
    number = Numbering(graph, paths).number
    removed = paths.back_edges, paths.cuts, paths.resume_edges, paths.context
    assert count_paths(graph, *removed) == number
    assert count_paths(graph, *removed, limit=number) == number
    assert count_paths(graph, *removed, limit=number - 1) == number
    assert count_paths(graph, *removed, limit=number // 2) == number // 2 + 1
    assert numbering_of(graph, *removed, most=number).number == number
    with pytest.raises(ValueError, match="more than"):
        numbering_of(graph, *removed, most=number - 1)


def test_the_successor_with_the_most_paths_is_last() -> None:
    graph = build("order", ["A", "B", "C", "EXIT"], [(0, 1), (0, 2), (0, 3), (1, 3), (1, 2), (2, 3)])
    numbering = numbering_of(graph, [])
    assert numbering.successors(0) == (
        Successor(1, 2, 0, None),
        Successor(2, 3, 1, PathEnd.EXIT),
        Successor(0, 1, 2, None),
    )


def test_two_back_edges_of_one_block_are_two_ends() -> None:
    graph = build("two", ["A", "B", "C", "EXIT"], [(0, 1), (1, 2), (2, 0), (2, 1), (2, 3)])
    numbering = numbering_of(graph, back_edges(graph))
    assert {way.edge: way.ends for way in numbering.successors(2)} == {
        2: PathEnd.BACK_EDGE,
        3: PathEnd.BACK_EDGE,
        4: PathEnd.EXIT,
    }
    assert numbering.starts == (
        Start(0, 0, PathStart.ENTRY),
        Start(0, 3, PathStart.BACK_EDGE),
        Start(1, 6, PathStart.BACK_EDGE),
    )


def test_numbers_of_any_size() -> None:
    steps = 200
    flow = [(step, step + 1) for step in range(steps) for _ in range(2)]
    graph = build("wide", [f"b{step}" for step in range(steps)] + ["EXIT"], flow)
    numbering = numbering_of(graph, [])
    assert numbering.number == 2**steps
    assert numbering.number_of(numbering.regenerate(2**199 + 5)) == 2**199 + 5
    assert count_paths(graph, [], limit=1000) == 1001


def test_an_invalid_path_has_no_number() -> None:
    graph = build("line", ["A", "B", "EXIT"], [(0, 1), (0, 2), (1, 2)])
    numbering = numbering_of(graph, [])
    route = numbering.regenerate(0)
    for other in (
        replace(route, edges=(2,)),
        replace(route, blocks=()),
        replace(route, starts=PathStart.CUT),
        replace(route, ends=PathEnd.CUT),
        replace(route, context=1),
    ):
        with pytest.raises(ValueError, match="this is no path"):
            numbering.number_of(other)
    for block, s in ((1, 5), (1, 1), (0, 1), (2, 0), (-1, 0), (9, 0), (0, -1)):
        with pytest.raises(ValueError, match="no prefix of block"):
            numbering.prefix(block, s)


def test_edges_that_cannot_end_a_path_are_refused() -> None:
    graph = build("loops", ["A", "B", "EXIT"], [(0, 1), (1, 0), (1, 1), (1, 2)])
    with pytest.raises(ValueError, match="leave a cycle"):
        numbering_of(graph, [])
    for edge in (2, 3):
        with pytest.raises(ValueError, match=f"can end on edge {edge}"):
            numbering_of(graph, [1], [edge])
    for edge in (4, 99, -1):
        with pytest.raises(ValueError, match=f"no edge {edge}"):
            numbering_of(graph, [1], [edge])
    assert numbering_of(graph, [1], [], [2]).number == 3 + 3 + 3
