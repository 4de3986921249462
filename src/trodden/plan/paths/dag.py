"""The acyclic graph whose paths from ENTRY to EXIT are the paths of a procedure (BL96 §4, MR98 §7).

Back edges, cut edges and resume edges (after calls that return twice) are *removed*.  Each of them gets a
dummy edge of its own from its source to EXIT, so that a path determines the edge on which it ended; BL96 has
one per vertex, from which the edge profile would not follow where two removed edges leave a vertex.  Each
target of a removed edge gets a dummy edge from ENTRY.  ENTRY is a separate vertex before the root, because
the root can be the header of a loop.  Self loops are not part of this graph (§4.1).

For paths in loop context the header v of a loop with a single entry is split in two, v_a before v_b, with
two edges from one to the other: PASS for control that arrives from outside, SURROGATE (MR98's surrogate edge)
for control that arrives by a back edge and keeps the prefix by which it had reached v_a.

An edge of this graph is called an *arc*, to distinguish it from an edge of the procedure.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.dominators import find_dominators
from trodden.graph.traverse import DepthFirst, depth_first
from trodden.plan.routes import PathStart


class ArcKind(Enum):
    """What an arc stands for."""

    REAL = "real"
    ENTRY = "entry"
    START = "start"
    END = "end"
    CALL = "call"
    PASS = "pass"
    SURROGATE = "surrogate"
    OVERLAP = "overlap"
    AHEAD = "ahead"
    STOP = "stop"


BEHIND = frozenset({ArcKind.OVERLAP, ArcKind.AHEAD, ArcKind.STOP})
"""The arcs of overlaps, which follow a path instead of being part of it (:mod:`trodden.plan.overlapping`)."""


class Arc(NamedTuple):
    """An edge of the acyclic graph.

    ``of`` is the edge of the procedure for REAL, END, OVERLAP and AHEAD; otherwise the vertex that ENTRY,
    START, PASS, SURROGATE, CALL and STOP belong to.  CALL, from a block to EXIT, is only in the graphs of
    regions (:mod:`trodden.plan.trace.region_graph`); OVERLAP, AHEAD and STOP only in those of overlapping
    paths (:mod:`trodden.plan.overlapping.path_graph`).
    """

    src: int
    dst: int
    kind: ArcKind
    of: int


@dataclass(frozen=True)
class Dag:
    """The nodes are the vertices of the graph, then ``entry``, then v_a of every v in ``arrival``.

    ``order`` is topological, without unreachable nodes; EXIT is its last node.  ``arrival[v]`` is the node
    v_a where v is split; v itself is then v_b.  ``first_of[v]`` is the kind of the START arc of v.
    """

    graph: Graph
    arcs: Sequence[Arc]
    outs: Sequence[Sequence[int]]
    ins: Sequence[Sequence[int]]
    order: Sequence[int]
    arrival: dict[int, int]
    first_of: dict[int, PathStart]
    back_edges: frozenset[int]
    removed: frozenset[int]

    @property
    def entry(self) -> int:
        """The node ENTRY."""
        return len(self.graph.labels)

    def into(self, vertex: int) -> int:
        """The node that the arcs into a vertex lead to."""
        return self.arrival.get(vertex, vertex)

    def returns_in_context(self, edge: int) -> bool:
        """Whether a removed edge leads back to a split header, so that the next path starts in context."""
        return edge in self.back_edges and self.graph.edges[edge].dst in self.arrival


def build_dag(
    graph: Graph,
    back_edges: Iterable[int],
    cuts: Iterable[int] = (),
    resume_edges: Iterable[int] = (),
    context: bool = False,
    search: DepthFirst | None = None,
) -> Dag:
    """Remove edges and add the dummy arcs; linear time.

    Arcs are in the order in which equals are numbered: those of the procedure by index, then dummies.
    :class:`ValueError` if an edge cannot be removed, or if the removed edges leave a cycle.
    """
    search = search or depth_first(graph)
    back, cut, resumed = frozenset(back_edges), frozenset(cuts), frozenset(resume_edges)
    _check(graph, back | cut | resumed, resumed)
    live = [
        index
        for index, edge in enumerate(graph.edges)
        if edge.kind is EdgeKind.FLOW and search.enter[edge.src] >= 0
    ]
    removed = frozenset(live) & (back | cut | resumed)
    split = _context_headers(graph, back & removed, cut | resumed) if context else ()
    entry = len(graph.labels)
    arrival = {vertex: entry + 1 + number for number, vertex in enumerate(sorted(split))}
    arcs: list[Arc] = []
    for index in live:
        src, dst, _ = graph.edges[index]
        if index in removed or src == dst:
            continue
        if search.leave[src] < search.leave[dst]:
            raise ValueError(f"{graph.name}: the removed edges leave a cycle")
        arcs.append(Arc(src, arrival.get(dst, dst), ArcKind.REAL, index))
    arcs.append(Arc(entry, arrival.get(graph.root, graph.root), ArcKind.ENTRY, graph.root))
    for vertex in arrival:
        arcs.append(Arc(arrival[vertex], vertex, ArcKind.PASS, vertex))
        arcs.append(Arc(arrival[vertex], vertex, ArcKind.SURROGATE, vertex))
    first_of: dict[int, PathStart] = {}
    for index in sorted(removed):
        src, dst, _ = graph.edges[index]
        arcs.append(Arc(src, graph.exit, ArcKind.END, index))
        if not (dst in arrival and index in back):
            first_of[dst] = _stronger(first_of.get(dst), _start_kind(index, back, resumed))
    arcs += [Arc(entry, arrival.get(dst, dst), ArcKind.START, dst) for dst in sorted(first_of)]
    outs: list[list[int]] = [[] for _ in range(entry + 1 + len(arrival))]
    ins: list[list[int]] = [[] for _ in outs]
    for number, arc in enumerate(arcs):
        outs[arc.src].append(number)
        ins[arc.dst].append(number)
    order = [entry]
    for vertex in reversed(search.postorder):
        if vertex in arrival:
            order.append(arrival[vertex])
        if vertex != graph.exit:
            order.append(vertex)
    order.append(graph.exit)
    return Dag(graph, arcs, outs, ins, order, arrival, first_of, back, removed)


def _check(graph: Graph, removed: Collection[int], resume_edges: Collection[int]) -> None:
    for index in removed:
        if not 0 <= index < len(graph.edges) or graph.edges[index].kind is not EdgeKind.FLOW:
            raise ValueError(f"{graph.name}: there is no edge {index} to end a path on")
        src, dst, _ = graph.edges[index]
        if dst == graph.exit or (src == dst and index not in resume_edges):
            raise ValueError(f"{graph.name}: no path can end on edge {index}")


def _context_headers(graph: Graph, back_edges: Collection[int], others: Collection[int]) -> set[int]:
    """The headers of single-entry loops whose back edges are neither cut nor resume edges."""
    dominators = find_dominators(graph)
    found: set[int] = set()
    barred: set[int] = set()
    for index in back_edges:
        src, dst, _ = graph.edges[index]
        proper = index not in others and dominators.dominates(dst, src)
        (found if proper else barred).add(dst)
    return found - barred


def _start_kind(index: int, back_edges: Collection[int], resume_edges: Collection[int]) -> PathStart:
    if index in resume_edges:
        return PathStart.RESUME
    return PathStart.BACK_EDGE if index in back_edges else PathStart.CUT


_STRENGTH = {PathStart.BACK_EDGE: 0, PathStart.CUT: 1, PathStart.RESUME: 2}


def _stronger(known: PathStart | None, other: PathStart) -> PathStart:
    return other if known is None or _STRENGTH[other] > _STRENGTH[known] else known
