"""The numbers of regions, and which of them need not be written.

The regions with the same start are numbered from 0 (BL96 §3.2 on the graph of
:mod:`trodden.plan.trace.region_graph`); where a region starts is known when it is read, from how the one
before it ended.  A region whose way is certain from its start on is *silent*: it writes nothing, unless

- it ends on a back edge: every cycle has a record for each turn, or nobody could tell how many there were;
- a counted loop is on its way.  Only behind the number of a region is there a check for room, which its trip
  counts take too;
- it starts behind a call and ends before one.  An activation writes something between any two of its calls,
  so whatever is entered has been called by the call that the reader is waiting in;
- it starts behind a call and ends the procedure, which can be called by code without probes: if that enters
  another procedure next, the reader would take it for one that the call before had entered.

A call block whose return is written down in any case (it may return twice, or the call is left for a landing
pad) is no call in this sense.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from trodden.graph.cfg import Graph
from trodden.plan.paths.arc_values import ArcValues
from trodden.plan.paths.dag import ArcKind, Dag
from trodden.plan.probes import Trace
from trodden.plan.trace.records import LARGEST_NUMBER
from trodden.plan.trace.region_graph import build_region_graph


class RegionEnd(Enum):
    """How a region ends; STUCK means never, in a block that nothing leaves."""

    EXIT = "exit"
    BACK_EDGE = "back_edge"
    CUT = "cut"
    CALL = "call"
    STUCK = "stuck"


@dataclass(frozen=True, slots=True)
class Region:
    """The blocks and edges of a region.

    ``blocks`` are vertices, EXIT left out.  ``edges`` are those between them and the one on which the region
    ends: to EXIT, a back edge or a cut.  Before a call it ends in the last block.  ``loops`` are the counted
    self loops on the way, each with a trip count in the trace; their edges are not in ``edges``.
    ``next_start`` is where the next region starts; behind a call that depends on the call.
    """

    blocks: tuple[int, ...]
    edges: tuple[int, ...]
    loops: tuple[int, ...]
    ends: RegionEnd
    next_start: int | None = None


class RegionNumbering(ArcValues):
    """The regions of a graph by start and number; it depends on nothing but the graph and its trace.

    ``starts`` are the vertices where regions start, ``silent_ends`` the arcs to EXIT that write nothing.
    """

    def __init__(self, graph: Graph, trace: Trace, dag: Dag | None = None) -> None:
        """Number the regions; pass ``dag`` if their graph has been built already."""
        super().__init__(dag or build_region_graph(graph, trace), LARGEST_NUMBER + 1, separate_starts=True)
        self.graph = graph
        self.trace = trace
        behind = (graph.edges[edge].dst for edge in self.dag.removed)
        self.starts = tuple(sorted({graph.root, *behind}))
        self._loops = {graph.edges[edge].src: edge for edge in trace.counted}
        self.silent_ends = self._silent_ends()
        self._silent = self._silent_from()

    def paths(self, start: int) -> int:
        """How many regions start at a vertex."""
        return self.paths_from[start]

    def silent(self, start: int) -> bool:
        """Whether no number is written at the end of regions from a start: there is one, and it is silent."""
        return self._silent[start]

    def expand(self, start: int, number: int) -> Region:
        """The region with a number; :class:`ValueError` if there is none."""
        if not 0 <= start < len(self.graph.labels) or not 0 <= number < self.paths_from[start]:
            raise ValueError(f"{self.graph.name}: no region at block {start} has the number {number}")
        if start == self.graph.exit:
            return Region((), (), (), RegionEnd.EXIT)
        arcs = [self.dag.arcs[arc] for arc, _ in self.follow(start, number)]
        blocks = (start, *(arc.dst for arc in arcs if arc.dst != self.graph.exit))
        edges = tuple(arc.of for arc in arcs if arc.kind is not ArcKind.CALL)
        ends, next_start = RegionEnd.STUCK, None
        if arcs and arcs[-1].dst == self.graph.exit:
            last = arcs[-1]
            ends = RegionEnd.EXIT
            if last.kind is ArcKind.CALL:
                ends = RegionEnd.CALL
            elif last.kind is ArcKind.END:
                ends = RegionEnd.BACK_EDGE if last.of in self.dag.back_edges else RegionEnd.CUT
                next_start = self.graph.edges[last.of].dst
        left = blocks if ends is not RegionEnd.STUCK else blocks[:-1]
        loops = tuple(self._loops[block] for block in left if block in self._loops)
        return Region(blocks, edges, loops, ends, next_start)

    def number_of(self, start: int, edges: Sequence[int], before_call: bool = False) -> int:
        """The number of the region that takes ``edges``; ``before_call``: it then ends before a call.

        :class:`ValueError` if there is no such region.
        """
        number, node = 0, start
        for edge in edges:
            arc = self._arc(node, edge, of_call=False)
            number, node = number + self.value[arc], self.dag.arcs[arc].dst
        if before_call:
            number += self.value[self._arc(node, node, of_call=True)]
        elif node != self.graph.exit and self.dag.outs[node]:
            raise ValueError(f"{self.graph.name}: no region ends in block {node}")
        return number

    def _arc(self, node: int, of: int, of_call: bool) -> int:
        """The arc of a node for an edge or for its call."""
        for number in self.dag.outs[node]:
            arc = self.dag.arcs[number]
            if arc.of == of and (arc.kind is ArcKind.CALL) == of_call:
                return number
        raise ValueError(f"{self.graph.name}: there is no such region")

    def _silent_ends(self) -> frozenset[int]:
        """The ends that write nothing: one pass over the nodes, with what is known of the starts above."""
        dag, trace = self.dag, self.trace
        several = [False] * len(dag.outs)
        counting = [node in self._loops for node in range(len(dag.outs))]
        behind = [False] * len(dag.outs)
        for edge in dag.removed:
            src, dst, _ = dag.graph.edges[edge]
            told = src in trace.resumes or dst in trace.landings
            behind[dst] |= src in trace.calls and not told
        for start in self.starts:
            several[start] = self.paths_from[start] > 1
        silent = set()
        for node in dag.order[1:-1]:
            for number in dag.outs[node]:
                arc = dag.arcs[number]
                if arc.dst != dag.graph.exit:
                    several[arc.dst] |= several[node]
                    counting[arc.dst] |= counting[node]
                    behind[arc.dst] |= behind[node]
                elif (
                    not several[node]
                    and not counting[node]
                    and self._may_be_silent(arc.kind, arc.of, behind[node])
                ):
                    silent.add(number)
        return frozenset(silent)

    def _silent_from(self) -> list[bool]:
        """For each node whether what starts there is silent."""
        silent = [True] * len(self.dag.outs)
        for node in reversed(self.dag.order[1:-1]):
            outs = self.dag.outs[node]
            silent[node] = self.paths_from[node] == 1 and all(
                number in self.silent_ends
                if self.dag.arcs[number].dst == self.graph.exit
                else silent[self.dag.arcs[number].dst]
                for number in outs
            )
        return silent

    def _may_be_silent(self, kind: ArcKind, of: int, behind_call: bool) -> bool:
        if kind is ArcKind.END:
            return of not in self.dag.back_edges and not behind_call
        if kind is ArcKind.CALL:
            return not behind_call
        return not (behind_call and self.trace.entered)
