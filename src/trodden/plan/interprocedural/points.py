"""One procedure of the graph that is numbered: MR98's Transformations 0, 1 and 2, and its part of 3.

A block with calls is a chain of *points*: before its first call, between two calls, behind the last.  MR98
has call vertices and return vertices instead; the point before a call is the one, that behind it the other.

Of its special vertices Entry_P is the node ``entry``, separate from the root, because the root can be the
header of a loop.  Exit_P is EXIT, GExit_P is ``end``, and GEntry_P, where the pieces of a piecewise profile
start that begin inside of the procedure, is ``inside`` (Transformation 0).

*Landing pads.*  An exception that is thrown in a kept call arrives on an edge of the caller.  What was
executed before has been recorded where the exception left the callee.  MR98 §9.2.2 starts a new path at
Entry_P, which forgets how the caller had come to the call.  Here a PAD arc leads from the point before the
call to the landing pad: a surrogate arc, behind which the active suffix begins, but with the caller's path as
its context.  Pieces have no context, so there PAD_START does as MR98 says, with an arc for each edge.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from trodden.graph.traverse import depth_first
from trodden.plan.interprocedural.program import Procedure
from trodden.plan.paths.dag import ArcKind, Dag, build_dag


class Kind(Enum):
    """What an arc stands for.

    REAL and PAD are edges on which a path goes on, END and PAD_END edges on which it ends, START and
    PAD_START the surrogate edges behind them.  A CALL leads through the callee, a SUMMARY past it.  CALL_END
    and CALL_START are there instead of it where paths are split at cut calls (§9.2.1).
    """

    ENTRY = "entry"
    REAL = "real"
    END = "end"
    START = "start"
    CALL = "call"
    SUMMARY = "summary"
    CALL_END = "call end"
    CALL_START = "call start"
    PAD = "pad"
    PAD_END = "pad end"
    PAD_START = "pad start"


SURROGATES = frozenset({Kind.START, Kind.CALL_START, Kind.PAD, Kind.PAD_END, Kind.PAD_START})
"""The active suffix of a path begins with the last of these."""

EDGES = frozenset({Kind.REAL, Kind.END, Kind.PAD, Kind.PAD_END, Kind.PAD_START})
"""The arcs that are edges of the procedure; ``of`` is its index."""

ENDS = frozenset({Kind.END, Kind.CALL_END, Kind.PAD_END})
"""A path ends here."""


class Arc(NamedTuple):
    """An edge of the graph that is numbered.

    ``of`` is the edge for ``EDGES``, the block for ENTRY and START, the point before the call for the rest.
    """

    src: int
    dst: int
    kind: Kind
    of: int


@dataclass(frozen=True)
class Points:
    """The nodes are the points, with EXIT as the last of them, then ``entry``, ``inside`` and ``end``.

    ``first[b]`` is the point at the start of a block, ``block[n]`` the block of a point.  ``outs`` are in the
    order of the numbering.  ``order`` is topological, from ``entry`` and ``inside`` on, without what cannot
    be reached.  ``dag`` is the graph of the procedure's own paths.
    """

    procedure: Procedure
    dag: Dag
    first: list[int]
    block: list[int]
    arcs: list[Arc]
    outs: list[list[int]]
    order: list[int]

    @property
    def exit(self) -> int:
        """Exit_P."""
        return self.first[-1]

    @property
    def entry(self) -> int:
        """Entry_P."""
        return len(self.block)

    @property
    def inside(self) -> int:
        """GEntry_P."""
        return len(self.block) + 1

    @property
    def end(self) -> int:
        """GExit_P."""
        return len(self.block) + 2

    def before_call(self, block: int, index: int) -> int:
        """The point before a call."""
        return self.first[block] + index


def dag_of(procedure: Procedure, split: bool = False) -> Dag:
    """The acyclic graph of the own paths of a procedure.

    With ``split`` a self loop of a block with calls ends paths, which it does not otherwise.
    """
    graph = procedure.graph
    if procedure.pads & procedure.resume_edges:
        raise ValueError(f"{graph.name}: an edge to a landing pad cannot be a resume edge")
    search = depth_first(graph)
    back = [edge for edge in search.back_edges if graph.edges[edge].src != graph.edges[edge].dst]
    ending = set(procedure.resume_edges)
    if split:
        ending |= {
            edge
            for edge in graph.flow_edges()
            if graph.edges[edge].src == graph.edges[edge].dst in procedure.calls
        }
    return build_dag(graph, back, procedure.cuts, ending, search=search)


def lay_out(
    procedure: Procedure,
    kept: Collection[tuple[int, int]],
    piecewise: bool,
    split: bool = False,
    dag: Dag | None = None,
) -> Points:
    """Build the graph of a procedure; ``kept`` are the calls that are kept, by block and index.

    ``split``: paths end before a cut call and start again behind it, so that none is pending while the callee
    is active (§9.2.1); otherwise the caller's path goes on past it (Transformation 3).  ``dag`` is that of
    the procedure, if it has been built already.
    """
    dag = dag or dag_of(procedure, split)
    graph = procedure.graph
    first: list[int] = []
    block: list[int] = []
    for vertex in range(len(graph.labels)):
        first.append(len(block))
        block += [vertex] * (1 + len(procedure.calls.get(vertex, ())))
    arcs = _Arcs(procedure, dag, first, block, frozenset(kept), piecewise, split).arcs
    outs: list[list[int]] = [[] for _ in range(len(block) + 3)]
    for number, arc in enumerate(arcs):
        outs[arc.src].append(number)
    order = [len(block), len(block) + 1]
    for vertex in dag.order[1:]:
        order += range(first[vertex], first[vertex] + 1 + len(procedure.calls.get(vertex, ())))
    return Points(procedure, dag, first, block, arcs, outs, [*order, len(block) + 2])


class _Arcs:
    """The arcs in the order of the numbering: calls, edges of the procedure by index, dummies."""

    def __init__(
        self,
        procedure: Procedure,
        dag: Dag,
        first: list[int],
        block: list[int],
        kept: Collection[tuple[int, int]],
        piecewise: bool,
        split: bool,
    ) -> None:
        self._procedure = procedure
        self._dag = dag
        self._first = first
        self._kept = kept
        self._split = split
        self._piecewise = piecewise
        self._entry, self._inside, self._end = (len(block) + number for number in range(3))
        self._surrogate = self._inside if piecewise else self._entry
        self.arcs: list[Arc] = []
        self._add_calls()
        self._add_edges()

    def _add_calls(self) -> None:
        calls = self._procedure.calls
        self.arcs.append(
            Arc(self._entry, self._first[self._dag.graph.root], Kind.ENTRY, self._dag.graph.root)
        )
        for vertex in self._dag.order:
            for index in range(len(calls.get(vertex, ())) if vertex != self._dag.entry else 0):
                point = self._first[vertex] + index
                if (vertex, index) in self._kept:
                    self.arcs.append(Arc(point, point + 1, Kind.CALL, point))
                elif self._split:
                    self.arcs.append(Arc(point, self._end, Kind.CALL_END, point))
                    self.arcs.append(Arc(self._surrogate, point + 1, Kind.CALL_START, point))
                else:
                    self.arcs.append(Arc(point, point + 1, Kind.SUMMARY, point))

    def _add_edges(self) -> None:
        edges = self._dag.graph.edges
        started: set[int] = set()
        pads: list[Arc] = []
        for arc in self._dag.arcs:
            if arc.kind not in (ArcKind.REAL, ArcKind.END):
                continue
            vertex, target = arc.src, self._first[edges[arc.of].dst]
            ends = arc.kind is ArcKind.END
            last = len(self._procedure.calls.get(vertex, ())) - 1
            if arc.of not in self._procedure.pads or last < 0:
                source = self._first[vertex] + last + 1
                self.arcs.append(
                    Arc(source, self._end if ends else target, Kind.END if ends else Kind.REAL, arc.of)
                )
                started |= {edges[arc.of].dst} if ends else set()
                continue
            source, caught = self._first[vertex] + last, (vertex, last) in self._kept
            if (caught and self._piecewise) or (not caught and self._split):
                pads.append(Arc(self._surrogate, target, Kind.PAD_START, arc.of))
            elif ends:
                kind = Kind.PAD_END if caught else Kind.END
                self.arcs.append(Arc(source, self._end, kind, arc.of))
                started.add(edges[arc.of].dst)
            else:
                self.arcs.append(Arc(source, target, Kind.PAD if caught else Kind.REAL, arc.of))
        for vertex in sorted(started):
            self.arcs.append(Arc(self._surrogate, self._first[vertex], Kind.START, vertex))
        self.arcs += pads
