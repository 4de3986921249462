"""What ``trodden show`` shows of a function: its graph, edge frequencies, spanning tree and probes."""

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
    EmitBits,
    EmitEntry,
    EmitRegion,
    EmitRegionAt,
    EmitTripCount,
    EmitWitness,
    FlushBits,
    Plan,
    Probe,
    Restore,
    Save,
    Set,
    StartClock,
)
from trodden.report.graph.overlap_text import overlap_text, signed_text
from trodden.report.graph.path_plan import PathPlan


@dataclass(frozen=True)
class DrawnEdge:
    """An edge as it is drawn: one of the procedure, or one of the acyclic graph alone (``edge`` is ``None``).

    ``kind`` is the purpose of the latter.  ``marks`` are its values in a path plan (``Val 2``, ``Inc 4``).
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

    ``lines[v]`` are the source lines of block ``v`` (empty if they are unknown), ``weights[e]`` is the
    frequency of edge ``e``: measured if ``measured``, expected otherwise; None if a block profile does not
    determine it.  ``numbered`` is the numbering of a path plan.
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
        """The role of an edge in the flow law, or in the paths."""
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

    def drawn(self, index: int) -> DrawnEdge:
        """An edge of the procedure as it is drawn."""
        marks: tuple[str, ...] = ()
        if self.numbered is not None and index in self.numbered.of_edge:
            marks = self.numbered.marks(self.numbered.of_edge[index])
        target, probes = self.graph.edges[index].dst, self.plan.on_edges.get(index, ())
        return DrawnEdge(target, self.edge_role(index), index, self.weights[index], marks, probes)

    def edges_from(self, vertex: int) -> Iterator[DrawnEdge]:
        """The edges out of a block, each dummy edge to EXIT after the edge that paths end on."""
        for index in self.graph.out_edges[vertex]:
            yield self.drawn(index)
            if self.numbered is not None and index in self.numbered.ending_on:
                yield self._dummy(self.numbered, self.numbered.ending_on[index])

    def entry_edges(self) -> Iterator[DrawnEdge]:
        """The edges into a procedure whose paths are numbered: from ENTRY to where paths start."""
        if self.numbered is not None:
            for number in self.numbered.starts:
                edge = self._dummy(self.numbered, number)
                yield replace(edge, probes=self.plan.on_entry) if edge.kind is ArcKind.ENTRY else edge

    def arrivals(self, vertex: int) -> Iterator[DrawnEdge]:
        """The two edges between the halves of a loop entry that is split for context."""
        if self.numbered is not None:
            for number in self.numbered.arrivals(vertex):
                yield self._dummy(self.numbered, number)

    def _dummy(self, numbered: PathPlan, number: int) -> DrawnEdge:
        arc = numbered.dag.arcs[number]
        target = self.graph.exit if arc.kind is ArcKind.END else arc.of
        return DrawnEdge(target, numbered.arc_role(number), kind=arc.kind, marks=numbered.marks(number))


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
            return f"count[r{signed_text(add)}]++"
        case BumpAt(path):
            return f"count[{path}]++"
        case Save(slot):
            return f"s{slot}=r"
        case Restore(slot, add):
            return f"r=s{slot}{signed_text(add)}"
        case StartClock():
            return "clock"
        case EmitEntry():
            return "write entry"
        case EmitRegion(add):
            return f"write r{signed_text(add)}"
        case EmitRegionAt(number):
            return f"write {number}"
        case EmitWitness(witness):
            return f"write w{witness}"
        case EmitBits(value, bits):
            return f"b+={value:0{bits}b}"
        case FlushBits(forced):
            return "write b" if forced else "write b if long"
        case EmitTripCount():
            return "write trips"
        case _:
            return overlap_text(probe)


def weight_text(weight: float | None) -> str:
    """A count, or an expected frequency with its significant digits."""
    if weight is None:
        return "?"
    return f"{weight:,.0f}" if weight == int(weight) or weight >= 1000 else f"{weight:.4g}"


def label_of(graph: Graph, vertex: int) -> str:
    """The label of a vertex; that of EXIT is ``exit`` everywhere."""
    return "exit" if vertex == graph.exit else graph.labels[vertex]
