"""Path numbers, and the decoding of numbers to paths (BL96 §3.2, §3.5, §4).

Every path has a number in ``0 .. number - 1``: the sum of the values of its arcs, which Figure 5 assigns.
The successors of a vertex are visited by their number of paths, the largest last, so that large values
are few and small (§5.2).  The numbering depends on nothing but the graph and the removed edges, so the
reader of a profile computes the same numbers as the planner that placed the probes.

A *prefix*, a path that was cut short in a block, is determined by the block and the sum of values up to
there: extended by arcs of value 0 it is a complete path whose number is that sum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from trodden.graph.cfg import Graph
from trodden.plan.paths.arc_values import ArcValues
from trodden.plan.paths.dag import ArcKind, Dag, build_dag
from trodden.plan.probes import Paths
from trodden.plan.routes import PathEnd, PathStart, Route

LARGEST = 2**63 - 1
"""No plan has more paths than this: numbers have to fit a register."""


_ON_PATHS = frozenset({ArcKind.REAL, ArcKind.END, ArcKind.OVERLAP})
"""The arcs that are edges of a path; it ends on those of the other kinds than REAL."""


class Successor(NamedTuple):
    """A successor of a block: edge, target, value, and how the path ends on the edge if it does."""

    edge: int
    target: int
    value: int
    ends: PathEnd | None


class Start(NamedTuple):
    """A block where paths start, with the value that all paths from this start have to begin with."""

    vertex: int
    value: int
    kind: PathStart


def numbering_of(
    graph: Graph,
    back_edges: Iterable[int],
    cuts: Iterable[int] = (),
    resume_edges: Iterable[int] = (),
    context: bool = False,
    most: int | None = None,
) -> Numbering:
    """The numbering of a graph without these edges; see :class:`Numbering`."""
    paths = Paths(0, tuple(back_edges), tuple(cuts), tuple(resume_edges), context)
    return Numbering(graph, paths, most)


def count_paths(
    graph: Graph,
    back_edges: Iterable[int],
    cuts: Iterable[int] = (),
    resume_edges: Iterable[int] = (),
    context: bool = False,
    *,
    limit: int = LARGEST,
) -> int:
    """How many paths there are, or ``limit + 1`` if they are more than ``limit``; cheap in any case."""
    return count_dag_paths(build_dag(graph, back_edges, cuts, resume_edges, context), limit)


def count_dag_paths(dag: Dag, limit: int) -> int:
    """The number of paths from ENTRY to EXIT, or ``limit + 1`` if there are more than ``limit``."""
    paths_from = [1] * len(dag.outs)
    for node in reversed(dag.order):
        if outs := dag.outs[node]:
            paths_from[node] = min(sum(paths_from[dag.arcs[arc].dst] for arc in outs), limit + 1)
    return paths_from[dag.entry]


class Numbering(ArcValues):
    """The values of all arcs, such that the sum over a path is its number.

    ``paths.number`` is not used.  A block without successors counts as an end of paths, or its prefixes could
    not be distinguished; no such path is ever counted as complete.  Numbers may be of any size; if there
    are more than ``most`` paths, :class:`ValueError` is raised before any number grows much larger than that.
    """

    def __init__(self, graph: Graph, paths: Paths, most: int | None = None, dag: Dag | None = None) -> None:
        """Number the paths; pass ``dag`` if the acyclic graph has been built already."""
        super().__init__(
            dag or build_dag(graph, paths.back_edges, paths.cuts, paths.resume_edges, paths.context), most
        )
        self.graph = graph
        self.number = self.paths_from[self.dag.entry]

    def successors(self, vertex: int) -> tuple[Successor, ...]:
        """The successors of a block, smallest value first; none for a block where paths can only stop.

        A path that arrives at a split header from outside (see :mod:`trodden.plan.paths.dag`) adds nothing
        there.
        """
        found = []
        for number in self.sorted_outs[vertex]:
            arc = self.dag.arcs[number]
            found.append(
                Successor(arc.of, self.graph.edges[arc.of].dst, self.value[number], self._ends(number))
            )
        return tuple(found)

    @property
    def starts(self) -> tuple[Start, ...]:
        """Where paths start, smallest value first; for paths in context, where the context starts."""
        return tuple(
            Start(self.dag.arcs[number].of, self.value[number], self._start_kind(number))
            for number in self.sorted_outs[self.dag.entry]
        )

    def regenerate(self, path: int) -> Route:
        """The path with a number (§3.5)."""
        if not 0 <= path < self.number:
            raise ValueError(f"{self.graph.name}: there is no path {path}")
        return self._route([arc for arc, _ in self.follow(self.dag.entry, path)])

    def prefix(self, block: int, s: int) -> Route:
        """The path that was cut short in ``block`` with the sum of values ``s``."""
        if 0 <= s < self.number and 0 <= block < self.graph.exit:
            arcs = []
            for arc, rest in self.follow(self.dag.entry, s):
                arcs.append(arc)
                if self.dag.arcs[arc].dst == block:
                    if rest == 0:
                        return self._route(arcs)
                    break
        raise ValueError(f"{self.graph.name}: no prefix of block {block} has the sum {s}")

    def rest(self, block: int, s: int, end: int | None = None) -> tuple[int, ...]:
        """The edges of a path from a block on: ``s`` is the sum of values from there to its end.

        With ``end``, up to that block, and ``s`` is the sum up to there.
        """
        edges: list[int] = []
        node, left = block, s
        for arc, remaining in self.follow(block, s):
            if node == end:
                break
            node, left = self.dag.arcs[arc].dst, remaining
            edges.append(self.dag.arcs[arc].of)
        if left or node != (self.graph.exit if end is None else end):
            raise ValueError(f"{self.graph.name}: no path goes on so behind block {block}")
        return tuple(edges)

    def number_of(self, route: Route) -> int:
        """The number of a path.

        One that was cut short has ``number * (block + 1) + s``, unless its last block has no successors: then
        ``s`` alone is its number.
        """
        dag = self.dag
        total = 0
        node = dag.entry
        arcs = list(self._arcs_of(route))
        for arc in arcs:
            if dag.arcs[arc].src != node:
                raise ValueError(f"{self.graph.name}: this is no path")
            total += self.value[arc]
            node = dag.arcs[arc].dst
        if not arcs or self._route(arcs) != route:
            raise ValueError(f"{self.graph.name}: this is no path")
        if node == self.graph.exit or not dag.outs[node]:
            return total
        return self.number * (node + 1) + total

    def _route(self, numbers: Sequence[int]) -> Route:
        """The path with these arcs from ENTRY; it is cut short unless it ends in EXIT."""
        dag, last = self.dag, self.graph.exit
        blocks: list[int] = []
        edges: list[int] = []
        reentries: list[int] = []
        for number in numbers:
            arc = dag.arcs[number]
            if arc.kind is ArcKind.SURROGATE:
                reentries.append(len(blocks))
            if arc.kind in _ON_PATHS:
                edges.append(arc.of)
            if arc.dst < last:
                blocks.append(arc.dst)
        first = self._start_kind(numbers[0])
        ends = self._ends(numbers[-1]) or PathEnd.UNWOUND
        if reentries:
            return Route(
                tuple(blocks), tuple(edges), PathStart.BACK_EDGE, ends, reentries[-1], tuple(reentries), first
            )
        return Route(tuple(blocks), tuple(edges), first, ends)

    def _arcs_of(self, route: Route) -> Iterator[int]:
        """The arcs that a route must have, as far as they exist; the caller checks that they join."""
        dag = self.dag
        first = route.context_starts or route.starts
        for number in dag.outs[dag.entry]:
            arc = dag.arcs[number]
            if route.blocks and arc.of == route.blocks[0] and self._start_kind(number) is first:
                yield number
        taken = {dag.arcs[n].of: n for block in route.blocks for n in dag.outs[block]}
        for position, block in enumerate(route.blocks):
            if block in dag.arrival:
                passing, reentries = dag.outs[dag.arrival[block]]
                yield reentries if position in route.reentries else passing
            if position < len(route.edges) and route.edges[position] in taken:
                yield taken[route.edges[position]]

    def _start_kind(self, number: int) -> PathStart:
        arc = self.dag.arcs[number]
        return PathStart.ENTRY if arc.kind is ArcKind.ENTRY else self.dag.first_of[arc.of]

    def _ends(self, number: int) -> PathEnd | None:
        arc = self.dag.arcs[number]
        if arc.kind is not ArcKind.REAL and arc.kind in _ON_PATHS:
            return PathEnd.BACK_EDGE if arc.of in self.dag.back_edges else PathEnd.CUT
        return PathEnd.EXIT if arc.dst == self.graph.exit else None
