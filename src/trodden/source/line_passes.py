"""How often control passed over a line: arrivals from elsewhere, and iterations of loops on the line."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from trodden.graph.precedence import Preceding
from trodden.profile.model import Count
from trodden.source.cycles import Flow, subtract_cycles
from trodden.source.line_graph import ENTRY, LineGraph, LineParts


@dataclass(frozen=True, slots=True)
class LineCount:
    """How often a line was executed.

    It is not ``exact`` if only block counts are known, or if it is not known how often a call before the line
    in the same block did not return.  It is not ``known`` if an optimised program has executed the function
    of the line without having code of the line there.
    """

    count: Count
    exact: bool = True
    known: bool = True

    @property
    def missed(self) -> bool:
        """Whether it is certain that the line was never executed."""
        return not self.count and self.exact and self.known

    @property
    def doubtful(self) -> bool:
        """Whether it is not known if the line was ever executed."""
        return not self.count and not self.missed


def count_line(graph: LineGraph, line: LineParts) -> LineCount:
    """How often control reached one inlined instance of a line."""
    inside = line.parts
    arrivals: dict[int, Count] = {}
    internal: Flow = {}
    for vertex in inside:
        for index in graph.into[vertex]:
            flow = graph.flow[index]
            if flow is None:
                outer = inside - line.inner or inside
                most = max(graph.counts[v] for v in outer)
                return LineCount(most, exact=not most and all(graph.exact[v] for v in inside))
            if graph.sources[index] not in inside:
                arrivals[index] = flow
            elif flow > 0:
                internal[graph.sources[index], vertex, index] = flow
    _keep_on_line(graph, line, arrivals, internal)
    blocks = _Blocks(graph, line)
    count: Count = 0
    for index, flow in arrivals.items():
        if flow and (graph.sources[index] == ENTRY or not blocks.precede(graph.targets[index])):
            count += flow
    subtract_cycles(internal, line.inner)
    count += subtract_cycles(internal, inside)
    return LineCount(count, blocks.certain and all(graph.exact[vertex] for vertex in inside))


def _keep_on_line(graph: LineGraph, line: LineParts, arrivals: dict[int, Count], internal: Flow) -> None:
    """Make arrivals from a block without a line flow inside the line, as far as they came from the line.

    Such a block may have predecessors on the line and others.  Of what leads from it to the line, as much as
    came from the line is taken to have stayed there.
    """
    left: dict[int, list[tuple[int, Count]]] = {}
    for index in arrivals:
        source, target = graph.sources[index], graph.targets[index]
        if source == ENTRY or source in graph.has_line:
            continue
        if source not in left:
            before = (i for i in graph.into[source] if graph.sources[i] in line.parts)
            left[source] = [(i, flow) for i in before if (flow := graph.flow[i])]
        while left[source] and arrivals[index]:
            entering, flow = left[source].pop()
            stayed = min(flow, arrivals[index])
            arrivals[index] -= stayed
            edge = graph.sources[entering], target, index
            internal[edge] = internal.get(edge, 0) + stayed
            if flow > stayed:
                left[source].append((entering, flow - stayed))


_FARTHEST = 1000
"""Blocks that are looked at to learn what precedes one of them in a loop with several entries."""


class _Blocks:
    """The blocks that hold parts of a line.

    They are ``certain`` unless a loop with several entries was too large to learn what precedes its blocks.
    """

    def __init__(self, graph: LineGraph, line: LineParts) -> None:
        self._graph, self._line = graph, line
        self._iterates: dict[int, bool] = {}
        self.certain = True

    @cached_property
    def _first(self) -> dict[int, int]:
        """The first part of the line in each block."""
        found: dict[int, int] = {}
        for vertex in sorted(self._line.parts):
            found.setdefault(self._graph.block_of[vertex], vertex)
        return found

    @cached_property
    def _others(self) -> Preceding:
        return Preceding(self._first, self._graph.dominators, self._graph.loops)

    def precede(self, vertex: int) -> bool:
        """Whether another part of the line always precedes an arrival at one of them.

        In a loop that is the line's own, from its first block to the jump back, another iteration begins
        there.
        """
        if vertex in self._graph.copied and vertex not in self._line.inner:
            return False
        block = self._graph.block_of[vertex]
        loop = self._graph.loops.innermost[block]
        if self._first[block] == vertex and not self._precede_block(block):
            return False
        return loop < 0 or not self._iterates_in(loop)

    def _precede_block(self, block: int) -> bool:
        return self._others.precede(block) if self._graph.loops.reducible else self._are_behind(block)

    def _are_behind(self, block: int) -> bool:
        """Whether all ways back from a block lead to others, before the entry or the block itself.

        A header of a loop with several entries need not be on them, so that dominators do not tell.
        """
        graph = self._graph.function.facts.graph
        seen, waiting = {block}, [block] if len(self._first) > 1 else []
        while waiting and graph.root not in seen and len(seen) <= _FARTHEST:
            for index in graph.in_edges[waiting.pop()]:
                source = graph.edges[index].src
                if source == block:
                    return False
                if source not in seen and source not in self._first:
                    seen.add(source)
                    waiting.append(source)
        self.certain = self.certain and len(seen) <= _FARTHEST
        return len(self._first) > 1 and graph.root not in seen and len(seen) <= _FARTHEST

    def _iterates_in(self, loop: int) -> bool:
        """Whether a loop is the line's own."""
        if loop not in self._iterates:
            edges, found = self._graph.function.facts.graph.edges, self._graph.loops.loops[loop]
            begins = found.header in self._first or found.header not in self._graph.blocks_with_line
            jumps = any(edges[each].src in self._first for each in found.back_edges)
            self._iterates[loop] = begins and (jumps or self._returns_to(found.header))
        return self._iterates[loop]

    def _returns_to(self, header: int) -> bool:
        """Whether control comes from the line back to a loop's header, past blocks that only jump."""
        graph = self._graph
        if header not in self._first:
            return False
        sources = (graph.sources[index] for index in graph.into[self._first[header]])
        return any(
            source in self._line.parts and graph.dominators.dominates(header, graph.block_of[source])
            for source in sources
            if source != ENTRY
        )
