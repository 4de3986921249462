"""What ``trodden show`` shows of a path plan: values, chords, increments, and the paths.

Values follow from the graph and the edges that paths end on, so they are those that the probes were made
from.  Chords also depend on weights, which a plan does not keep: they are computed again and shown only if
the path register agrees with them in every block.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from trodden.graph.cfg import EdgeKind, Graph
from trodden.plan.paths.chords import Increments, chord_increments
from trodden.plan.paths.dag import ArcKind, Dag
from trodden.plan.paths.numbering import Numbering
from trodden.plan.paths.placement import signed
from trodden.plan.paths.prefixes import RegisterOffset, register_offsets
from trodden.plan.probes import Bump, Paths, Plan, Probe, Restore, Save, Set
from trodden.plan.routes import PathEnd, PathStart, Route
from trodden.report.fields import counted

MOST_LISTED = 64
"""The most paths that are listed."""

_STARTS = {
    PathStart.ENTRY: "entry",
    PathStart.BACK_EDGE: "back edge",
    PathStart.CUT: "cut",
    PathStart.RESUME: "setjmp",
}


@dataclass(frozen=True)
class PathPlan:
    """The numbering of a graph's paths with its chords, if these are known.

    ``counts`` are the counts of the paths by number; ``None`` if nothing was measured.
    """

    paths: Paths
    numbering: Numbering
    increments: Increments | None
    counts: Mapping[int, int] | None = None

    @staticmethod
    def of(
        graph: Graph,
        plan: Plan,
        weights: Iterable[Sequence[float]],
        counts: Mapping[int, int] | None = None,
    ) -> PathPlan | None:
        """The numbering of a plan, if it numbers paths; its chords were chosen with one of ``weights``."""
        if plan.paths is None:
            return None
        numbering = Numbering(graph, plan.paths)
        offsets = register_offsets(graph, plan, numbering)
        known = {
            vertex: offset.amount
            for vertex in _where_the_register_is_live(numbering.dag, plan)
            if isinstance(offset := offsets[vertex], RegisterOffset)
        }
        for each in weights:
            found = chord_increments(numbering, each)
            if all(signed(amount + found.potential[vertex]) == 0 for vertex, amount in known.items()):
                return PathPlan(plan.paths, numbering, found, counts)
        return PathPlan(plan.paths, numbering, None, counts)

    @property
    def dag(self) -> Dag:
        """The acyclic graph whose paths from ENTRY to EXIT are numbered."""
        return self.numbering.dag

    @cached_property
    def of_edge(self) -> dict[int, int]:
        """The arcs that are edges of the procedure, by edge."""
        return {arc.of: number for number, arc in enumerate(self.dag.arcs) if arc.kind is ArcKind.REAL}

    @cached_property
    def ending_on(self) -> dict[int, int]:
        """The dummy arcs to EXIT, by the removed edge that each replaces."""
        return {arc.of: number for number, arc in enumerate(self.dag.arcs) if arc.kind is ArcKind.END}

    @cached_property
    def tree(self) -> frozenset[int] | None:
        """The edges of the procedure in the spanning tree; ``None`` if the chords are not known."""
        if self.increments is None:
            return None
        chords = self.increments.chords
        return frozenset(edge for edge, number in self.of_edge.items() if number not in chords)

    @property
    def starts(self) -> Sequence[int]:
        """The arcs from ENTRY: to the root, and the dummy arcs to where paths start anew."""
        return self.dag.outs[self.dag.entry]

    def arrivals(self, vertex: int) -> Sequence[int]:
        """The two arcs between the halves of a loop entry that is split for context (MR98 §7)."""
        return self.dag.outs[self.dag.arrival[vertex]] if vertex in self.dag.arrival else ()

    def edge_role(self, index: int) -> str:
        """The role of an edge of the procedure in the paths."""
        source, target, kind = self.numbering.graph.edges[index]
        if kind is EdgeKind.ENDLESS:
            return "never taken"
        if kind is EdgeKind.CLOSING:
            return "closing"
        if index in self.paths.resume_edges:
            return "setjmp"
        if index in self.paths.cuts:
            return "cut"
        if index in self.dag.removed:
            return "back edge"
        if source == target:
            return "self loop"
        return self.arc_role(self.of_edge[index]) if index in self.of_edge else "unreachable"

    def arc_role(self, number: int) -> str:
        """Whether an arc is in the tree."""
        if self.increments is None:
            return ""
        return "chord" if number in self.increments.chords else "tree"

    def marks(self, number: int) -> tuple[str, ...]:
        """``Val`` of an arc, and ``Inc`` if it is a chord."""
        value = f"Val {self.numbering.value[number]}"
        if self.increments is None or number not in self.increments.chords:
            return (value,)
        return value, f"Inc {signed(self.increments.chords[number])}"

    @property
    def summary(self) -> str:
        """How many paths there are, and what they end on."""
        paths = self.paths
        parts = [counted(paths.number, "path"), counted(len(paths.back_edges), "back edge")]
        parts.append(counted(len(paths.cuts), "cut"))
        resumed = counted(len(paths.resume_edges), "resume edge")
        parts += [f"{resumed} after setjmp"] if paths.resume_edges else []
        parts += ["in context"] if paths.context else []
        parts += [] if paths.dense else ["in a sparse table"]
        parts += ["timed"] if paths.timed else []
        words = ", ".join(parts)
        return words if self.increments else f"{words}; chords not shown: other weights chose them"

    def table(self) -> list[tuple[str, ...]]:
        """The paths, if they are few: number, count if there is one, start, blocks, end."""
        if self.numbering.number > MOST_LISTED:
            return []
        rows = []
        for number in range(self.numbering.number):
            route = self.numbering.regenerate(number)
            count = () if self.counts is None else (f"{self.counts.get(number, 0):,}",)
            rows.append((str(number), *count, _STARTS[route.starts], self._blocks(route), self._end(route)))
        return rows

    def _blocks(self, route: Route) -> str:
        names = [self.numbering.graph.labels[block] for block in route.blocks]
        if route.context:
            names.insert(route.context, "|")
        return " ".join(names)

    def _end(self, route: Route) -> str:
        graph = self.numbering.graph
        if route.ends is PathEnd.EXIT:
            return "exit"
        if route.ends is PathEnd.UNWOUND:
            return "no successor"
        edge = route.edges[-1]
        return f"{self.edge_role(edge)} to {graph.labels[graph.edges[edge].dst]}"


def _where_the_register_is_live(dag: Dag, plan: Plan) -> set[int]:
    """The vertices where the path register is live: it is read before it is set again."""
    found: set[int] = set()
    for vertex in reversed(dag.order):
        for index in dag.graph.out_edges[vertex] if vertex < dag.graph.exit else ():
            used = _uses(plan.on_edges.get(index, ()))
            if used or (used is None and dag.graph.edges[index].dst in found):
                found.add(vertex)
    return found


def _uses(probes: Sequence[Probe]) -> bool | None:
    """Whether probes read the register before it is set again; ``None`` if they do neither."""
    for probe in probes:
        match probe:
            case Bump() | Save():
                return True
            case Set() | Restore():
                return False
    return None
