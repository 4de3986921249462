"""What ``trodden show`` shows of a function: its graph, how often each edge runs, tree and probes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.spanning import live_edges
from trodden.plan.probes import AddTrips, BlockMeasure, EdgeMeasure, Plan, Probe


@dataclass(frozen=True)
class Drawing:
    """A function ready to be drawn.

    ``lines[v]`` says which source lines block ``v`` holds (empty if nobody knows), ``weights[e]`` how often
    edge ``e`` runs: measured if ``measured``, expected otherwise; None if a block profile leaves it open.
    """

    title: str
    graph: Graph
    lines: Sequence[str]
    weights: Sequence[float | None]
    blocks: Sequence[float]
    measured: bool
    plan: Plan

    @cached_property
    def tree(self) -> frozenset[int] | None:
        """The edges of the spanning tree; there is none when blocks are counted instead of edges."""
        if any(isinstance(measure, BlockMeasure) for measure in self.plan.measures):
            return None
        chords = {measure.edge for measure in self.plan.measures if isinstance(measure, EdgeMeasure)}
        return frozenset(live_edges(self.graph)) - chords - self.plan.free

    def edge_role(self, index: int) -> str:
        """What an edge is to the flow law."""
        kind = self.graph.edges[index].kind
        if kind is EdgeKind.ENDLESS:
            return "never taken"
        if index in self.plan.free:
            return "free"
        tree = self.tree
        role = "" if tree is None else "tree" if index in tree else "chord"
        return f"{role}, closing".lstrip(", ") if kind is EdgeKind.CLOSING else role


def probe_text(probe: Probe) -> str:
    """A probe in a few characters: ``+1→c3``, or ``+trips→c3`` when a loop's turns are added at its end."""
    return f"+trips→c{probe.slot}" if isinstance(probe, AddTrips) else f"+1→c{probe.slot}"


def weight_text(weight: float | None) -> str:
    """A count, or an expected frequency with no more digits than it deserves."""
    if weight is None:
        return "?"
    return f"{weight:,.0f}" if weight == int(weight) or weight >= 1000 else f"{weight:.4g}"


def label_of(graph: Graph, vertex: int) -> str:
    """The label of a vertex; EXIT goes by ``exit`` everywhere."""
    return "exit" if vertex == graph.exit else graph.labels[vertex]
