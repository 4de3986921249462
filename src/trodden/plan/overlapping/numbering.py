"""Numbers of overlapping paths, and the way back from numbers to blocks (TZG04 §2.3).

Numbering and chord increments are those of BL96 on the path graph.  A number stands for a path and, if the
path ends on an extended back edge, for the overlap behind it; so there is still one count for every path, and
the path profile follows from the overlapping one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.plan.overlap_probes import Overlaps
from trodden.plan.overlapping.loops import LoopNest, extended_edges
from trodden.plan.overlapping.path_graph import loop_path_graph
from trodden.plan.overlapping.region import Region, Ways, lay_out
from trodden.plan.paths.dag import Arc, ArcKind, Dag, build_dag
from trodden.plan.paths.numbering import Numbering
from trodden.plan.probes import Paths, Plan
from trodden.plan.routes import Route


@dataclass(frozen=True)
class OverlappingPath:
    """A path and the edges of its overlap.

    The overlap of an extended back edge has stopped in the block ``stop``; of a path that is not extended
    there is none.
    """

    path: Route
    ahead: tuple[int, ...] = ()
    stop: int | None = None


class OverlapNumbering(Numbering):
    """The numbers of the overlapping paths of a procedure, and of the paths that are not extended.

    ``regenerate`` gives the path without its overlap, and ``whole`` is the numbering of these paths alone.
    """

    def __init__(
        self, graph: Graph, paths: Paths, overlaps: Overlaps, most: int | None = None, dag: Dag | None = None
    ) -> None:
        """Number the paths; pass ``dag``, that of ``paths`` alone, if it has been built already."""
        self.paths = paths
        self.overlaps = overlaps
        self.nest = LoopNest(graph)
        self.plain = dag or build_dag(graph, paths.back_edges, paths.cuts, paths.resume_edges, paths.context)
        self.whole = Numbering(graph, paths, most, self.plain)
        self.extended = extended_edges(self.plain, [header for header, _ in overlaps.degrees], paths)
        self.region = loop_region(self.plain, self.nest, dict(overlaps.degrees), self.extended)
        super().__init__(graph, paths, most, loop_path_graph(self.region, self.extended))

    def regenerate(self, path: int) -> Route:
        """The path with a number, without its overlap."""
        return self.overlapping(path).path

    def number_of_whole(self, path: int) -> int:
        """The number that the path with a number has without its overlap.

        The arcs of paths are the first ones of both graphs, in the same order.
        """
        whole = self.whole.value
        return sum(whole[arc] for arc, _ in self.follow(self.dag.entry, path) if arc < len(whole))

    def number_at_start(self, path: Route) -> int:
        """The lowest number of a path that is extended: the sum of values where its overlap begins."""
        (node,) = (
            self.dag.arcs[number].dst
            for number in self.dag.outs[path.blocks[-1]]
            if self.dag.arcs[number][2:] == (ArcKind.OVERLAP, path.edges[-1])
        )
        return super().number_of(path) - self.number * (node + 1)

    def overlapping(self, path: int) -> OverlappingPath:
        """The path with a number, and its overlap."""
        if not 0 <= path < self.number:
            raise ValueError(f"{self.graph.name}: there is no path {path}")
        return self.with_overlap([arc for arc, _ in self.follow(self.dag.entry, path)])

    def number_of_overlapping(self, wanted: OverlappingPath) -> int:
        """The number of an overlapping path."""
        total = super().number_of(wanted.path)
        if wanted.stop is None:
            return total
        node = next(
            self.dag.arcs[number].dst
            for number in self.dag.outs[wanted.path.blocks[-1]]
            if self.dag.arcs[number][2:] == (ArcKind.OVERLAP, wanted.path.edges[-1])
        )
        total -= self.number * (node + 1)
        steps = [(ArcKind.AHEAD, edge) for edge in wanted.ahead] + [(ArcKind.STOP, wanted.stop)]
        for step in steps:
            found = [number for number in self.dag.outs[node] if self.dag.arcs[number][2:] == step]
            if not found:
                raise ValueError(f"{self.graph.name}: this is no overlapping path")
            total += self.value[found[0]]
            node = self.dag.arcs[found[0]].dst
        return total

    def with_overlap(self, numbers: Sequence[int]) -> OverlappingPath:
        """The path with these arcs and its overlap."""
        arcs = self.dag.arcs
        own = [number for number in numbers if arcs[number].kind not in (ArcKind.AHEAD, ArcKind.STOP)]
        return OverlappingPath(super()._route(own), *ahead_of(arcs[number] for number in numbers))


def ahead_of(arcs: Iterable[Arc]) -> tuple[tuple[int, ...], int | None]:
    """The edges of an overlap and the block in which it has stopped, ``None`` if there is no overlap."""
    edges: list[int] = []
    stop = None
    for arc in arcs:
        if arc.kind is ArcKind.AHEAD:
            edges.append(arc.of)
        elif arc.kind is ArcKind.STOP:
            stop = arc.of
    return tuple(edges), stop


def loop_region(
    dag: Dag,
    nest: LoopNest,
    degrees: Mapping[int, int | None],
    extended: Mapping[int, int],
) -> Region:
    """The overlapping graphs of the loops that have extended back edges."""
    headers = sorted(set(extended.values()))
    begins = [(nest.owner(dag, header, degrees[header]), {header: 1}) for header in headers]
    return lay_out(Ways(dag), begins)


def numbering_of_plan(graph: Graph, plan: Plan, most: int | None = None) -> Numbering:
    """The numbering of what a plan for paths counts: of paths, or of overlapping ones."""
    assert plan.paths is not None
    if plan.overlaps is None:
        return Numbering(graph, plan.paths, most)
    return OverlapNumbering(graph, plan.paths, plan.overlaps, most)


def whole_paths(numbering: Numbering) -> Numbering:
    """The numbering of paths without overlaps."""
    return numbering.whole if isinstance(numbering, OverlapNumbering) else numbering
