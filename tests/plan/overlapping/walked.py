"""Overlapping paths found in walks by their definition (TZG04 §2.1): what every plan for them has to
count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from tests.plan.splitting import split
from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.loops import find_nested_loops
from trodden.plan.overlap_probes import Overlaps
from trodden.plan.overlapping.numbering import OverlappingPath
from trodden.plan.probes import Paths
from trodden.plan.routes import PathEnd, Route

Stays = Callable[[int], bool]


class Definitions:
    """The words of the paper for one graph and the edges on which its paths end."""

    def __init__(self, graph: Graph, paths: Paths) -> None:
        self.graph = graph
        self.paths = paths
        self.removed = {*paths.back_edges, *paths.cuts, *paths.resume_edges}
        forest = find_nested_loops(graph)
        self.bodies = {loop.header: forest.members(number) for number, loop in enumerate(forest.loops)}

    def ways(self, block: int) -> list[int]:
        """The edges that lead on, without self loops that are part of no path."""
        edges = self.graph.edges
        return [
            index
            for index in self.graph.out_edges[block]
            if edges[index].kind is EdgeKind.FLOW and (edges[index].dst != block or index in self.removed)
        ]

    def ends_paths(self, edge: int) -> bool:
        return edge in self.removed or self.graph.edges[edge].dst == self.graph.exit

    def predicate(self, block: int) -> bool:
        ways = self.ways(block)
        return len(ways) >= 2 or all(self.ends_paths(edge) for edge in ways)

    def inside(self, header: int) -> Stays:
        return lambda edge: self.graph.edges[edge].dst in self.bodies[header]

    def extends(self, edge: int) -> bool:
        return edge in self.paths.back_edges and edge not in {*self.paths.cuts, *self.paths.resume_edges}

    def first_part(self, route: Route, degree: int | None, stays: Stays) -> tuple[tuple[int, ...], int]:
        """The edges of a path up to its (k + 1)th predicate, or to where it leaves, and the block there."""
        passed = 0
        ahead: list[int] = []
        for position, block in enumerate(route.blocks):
            passed += self.predicate(block)
            stopped = degree is not None and passed == degree + 1
            if stopped or position == len(route.edges):
                return tuple(ahead), block
            edge = route.edges[position]
            if self.ends_paths(edge) or not stays(edge):
                return tuple(ahead), block
            ahead.append(edge)
        raise AssertionError("a path has a last block")


def overlapping_paths(
    graph: Graph, paths: Paths, overlaps: Overlaps, walks: Iterable[Sequence[int]]
) -> Counter[OverlappingPath]:
    """How often each overlapping path was executed, and each whole path that is not extended."""
    words = Definitions(graph, paths)
    degrees = dict(overlaps.degrees)
    found: Counter[OverlappingPath] = Counter()
    for sequence in split(graph, paths, walks).sequences:
        for path, after in pairwise([*sequence, None]):
            assert path is not None
            if path.ends is PathEnd.UNWOUND:
                continue
            header = graph.edges[path.edges[-1]].dst
            if header in degrees and words.extends(path.edges[-1]):
                assert after is not None
                part = words.first_part(after, degrees[header], words.inside(header))
                found[OverlappingPath(path, *part)] += 1
            else:
                found[OverlappingPath(path)] += 1
    return found


def successive_paths(
    graph: Graph, paths: Paths, walks: Iterable[Sequence[int]]
) -> Counter[tuple[Route, Route]]:
    """How often each path was followed over a back edge by each other one, whole or cut short."""
    words = Definitions(graph, paths)
    return Counter(
        (path, after)
        for sequence in split(graph, paths, walks).sequences
        for path, after in pairwise(sequence)
        if path.ends is not PathEnd.UNWOUND and words.extends(path.edges[-1])
    )
