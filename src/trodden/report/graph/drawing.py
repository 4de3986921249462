"""What ``trodden show`` shows of a function: its graph, how often each edge runs, tree and probes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.spanning import live_edges
from trodden.plan.paths.dag import ArcKind
from trodden.plan.probes import (
    Add,
    AddTripCount,
    BlockMeasure,
    Bump,
    BumpAt,
    Count,
    EdgeMeasure,
    Plan,
    Probe,
    Restore,
    Save,
    Set,
    StartClock,
)
from trodden.report.graph.path_plan import PathPlan


@dataclass(frozen=True)
class Way:
    """A way on as it is drawn: an edge, or an edge that only the acyclic graph has (``edge`` is ``None``).

    ``kind`` is what such an edge is there for.  ``marks`` are what a path plan says of it (``Val 2``,
    ``Inc 4``).
    """

    target: int
    role: str
    edge: int | None = None
    weight: float | None = None
    marks: tuple[str, ...] = ()
    probes: Sequence[Probe] = ()
    kind: ArcKind = ArcKind.REAL


@dataclass(frozen=True)
class Drawing:
    """A function ready to be drawn.

    ``lines[v]`` says which source lines block ``v`` holds (empty if nobody knows), ``weights[e]`` how often
    edge ``e`` runs: measured if ``measured``, expected otherwise; None if a block profile leaves it open.
    ``numbered`` is what there is to say of a plan that numbers paths.
    """

    title: str
    graph: Graph
    lines: Sequence[str]
    weights: Sequence[float | None]
    blocks: Sequence[float]
    measured: bool
    plan: Plan
    numbered: PathPlan | None = None

    @cached_property
    def tree(self) -> frozenset[int] | None:
        """The edges of the spanning tree; there is none when blocks are counted instead of edges."""
        if self.numbered is not None:
            return self.numbered.tree
        if any(isinstance(measure, BlockMeasure) for measure in self.plan.measures):
            return None
        chords = {measure.edge for measure in self.plan.measures if isinstance(measure, EdgeMeasure)}
        return frozenset(live_edges(self.graph)) - chords - self.plan.free

    @property
    def summary(self) -> list[str]:
        """The lines below the title."""
        edges = sum(1 for _ in self.graph.flow_edges())
        what = "counts" if self.measured else "expected frequencies"
        counters = f"{self.plan.slots} counters ({self.plan.scheme})"
        found = [f"{self.graph.exit} blocks, {edges} edges, {counters}; {what}"]
        return found if self.numbered is None else [*found, self.numbered.summary]

    def edge_role(self, index: int) -> str:
        """What an edge is to the flow law, or to the paths."""
        if self.numbered is not None:
            return self.numbered.edge_role(index)
        kind = self.graph.edges[index].kind
        if kind is EdgeKind.ENDLESS:
            return "never taken"
        if index in self.plan.free:
            return "free"
        tree = self.tree
        role = "" if tree is None else "tree" if index in tree else "chord"
        return f"{role}, closing".lstrip(", ") if kind is EdgeKind.CLOSING else role

    def way(self, index: int) -> Way:
        """An edge as it is drawn."""
        marks: tuple[str, ...] = ()
        if self.numbered is not None and index in self.numbered.of_edge:
            marks = self.numbered.marks(self.numbered.of_edge[index])
        target, probes = self.graph.edges[index].dst, self.plan.on_edges.get(index, ())
        return Way(target, self.edge_role(index), index, self.weights[index], marks, probes)

    def ways_from(self, vertex: int) -> Iterator[Way]:
        """The ways out of a block, each dummy edge to EXIT behind the edge that paths end on."""
        for index in self.graph.out_edges[vertex]:
            yield self.way(index)
            if self.numbered is not None and index in self.numbered.ending_on:
                yield self._dummy(self.numbered, self.numbered.ending_on[index])

    def ways_in(self) -> Iterator[Way]:
        """The ways into a procedure whose paths are numbered: from ENTRY to where paths start."""
        if self.numbered is not None:
            for number in self.numbered.starts:
                way = self._dummy(self.numbered, number)
                yield replace(way, probes=self.plan.on_entry) if way.kind is ArcKind.ENTRY else way

    def arrivals(self, vertex: int) -> Iterator[Way]:
        """The two ways between the halves of a loop entry that is split for context."""
        if self.numbered is not None:
            for number in self.numbered.arrivals(vertex):
                yield self._dummy(self.numbered, number)

    def _dummy(self, numbered: PathPlan, number: int) -> Way:
        arc = numbered.dag.arcs[number]
        target = self.graph.exit if arc.kind is ArcKind.END else arc.of
        return Way(target, numbered.arc_role(number), kind=arc.kind, marks=numbered.marks(number))


def probe_text(probe: Probe) -> str:
    """A probe in a few characters: ``+1→c3``, or what the papers write: ``r+=3``, ``count[r+2]++``."""
    match probe:
        case Count(slot):
            return f"+1→c{slot}"
        case AddTripCount(slot):
            return f"+trips→c{slot}"
        case Set(value):
            return f"r={value}"
        case Add(value):
            return f"r{'-' if value < 0 else '+'}={abs(value)}"
        case Bump(add):
            return f"count[r{_signed(add)}]++"
        case BumpAt(path):
            return f"count[{path}]++"
        case Save(cell):
            return f"s{cell}=r"
        case Restore(cell, add):
            return f"r=s{cell}{_signed(add)}"
        case StartClock():
            return "clock"


def _signed(value: int) -> str:
    return f"{value:+}" if value else ""


def weight_text(weight: float | None) -> str:
    """A count, or an expected frequency with no more digits than it deserves."""
    if weight is None:
        return "?"
    return f"{weight:,.0f}" if weight == int(weight) or weight >= 1000 else f"{weight:.4g}"


def label_of(graph: Graph, vertex: int) -> str:
    """The label of a vertex; EXIT goes by ``exit`` everywhere."""
    return "exit" if vertex == graph.exit else graph.labels[vertex]
