"""How often control passed over a line: arrivals from elsewhere, and iterations of loops on the line."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass

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
    blocks = {graph.block_of[vertex] for vertex in inside}
    count: Count = 0
    for index, flow in arrivals.items():
        if flow and (graph.sources[index] == ENTRY or not _continues(graph, line, blocks, index)):
            count += flow
    subtract_cycles(internal, line.inner)
    count += subtract_cycles(internal, inside)
    return LineCount(count, all(graph.exact[vertex] for vertex in inside))


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


def _continues(graph: LineGraph, line: LineParts, blocks: Set[int], arrival: int) -> bool:
    """Whether another part of a line, which has parts in some blocks, precedes each arrival along an edge.

    In a loop that is the line's own, from its first block to the jump back, another iteration begins there.
    """
    vertex = graph.targets[arrival]
    block = graph.block_of[vertex]
    earlier = any(graph.block_of[each] == block and each < vertex for each in line.parts)
    loops, above = graph.loops, graph.dominators.idom
    loop = loops.innermost[block]
    if not loops.reducible:
        return False
    header = loops.loops[loop].header if loop >= 0 else -1
    here = block
    while not earlier and here not in (header, -1):
        here = above[here]
        earlier = here in blocks
    if not earlier or loop < 0:
        return earlier
    edges = graph.function.facts.graph.edges
    begins = header in blocks or header not in graph.blocks_with_line
    return not (begins and any(edges[e].src in blocks for e in loops.loops[loop].back_edges))
