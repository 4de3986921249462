"""Bit tracing (BL94 §6.2): each way of a predicate with N ways appends the fewest bits that can tell N.

The bits of an activation wait in a register until they are written as one record: before calls, so that
nothing is read before it has been written (what blocking witnesses are for does not arise), at EXIT, and
where many are waiting.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from trodden.graph.cfg import Graph
from trodden.graph.components import strong_components
from trodden.graph.reach import sweep
from trodden.graph.traverse import DepthFirst, depth_first
from trodden.plan.probes import EmitBits, EmitEntry, FlushBits, Plan, Probe, Trace
from trodden.plan.trace.activation import MANY_BITS
from trodden.plan.trace.checked import checked_trace
from trodden.plan.trace.paths import countable, trip_counts
from trodden.plan.trace.records import MOST_BITS
from trodden.plan.trace.region_graph import check_trace, flow_out


def bit_plan(
    graph: Graph,
    weights: Sequence[float],
    calls: Mapping[int, int | None],
    *,
    counted: Collection[int] = (),
    resumes: Collection[int] = (),
    landings: Collection[int] = (),
    tails: Collection[int] = (),
    entered: bool = True,
    checked: bool = False,
) -> Plan:
    """Place the bits of a procedure; the arguments are those of
    :func:`~trodden.plan.trace.paths.region_plan`, but no weight makes a difference.
    """
    search = depth_first(graph, calls)
    trace = Trace(
        "bits",
        calls=dict(sorted(calls.items())),
        counted=countable(graph, calls, counted),
        resumes=tuple(sorted(resumes)),
        landings=tuple(sorted(landings)),
        entered=entered,
        tails=tuple(sorted(tails)),
    )
    trace = replace(trace, back_edges=tuple(sorted(search.back_edges.difference(trace.counted))))
    check_trace(graph, trace)
    placement = _Placement(graph, trace, search)
    trips = trip_counts(graph, trace.counted)
    on_edges = {
        edge: (*trips.get(edge, ()), *placement.on_edges.get(edge, ()))
        for edge in sorted({*placement.on_edges, *trips})
    }
    entry = (EmitEntry(),) * entered
    plan = Plan("trace-bits", (), on_edges, placement.on_blocks, on_entry=entry, trace=trace)
    return checked_trace(plan, graph) if checked else plan


def bits_of_ways(graph: Graph, trace: Trace, vertex: int) -> dict[int, EmitBits]:
    """The bits on the edges that leave a predicate; none for other vertices."""
    if vertex in trace.calls:
        return {}
    ways = [index for index in flow_out(graph, vertex) if index not in trace.counted]
    width = (len(ways) - 1).bit_length() if ways else 0
    return {edge: EmitBits(number, width) for number, edge in enumerate(ways) if width}


class _Placement:
    """Where bits are appended, and where they are written."""

    def __init__(self, graph: Graph, trace: Trace, search: DepthFirst) -> None:
        self.graph = graph
        self.trace = trace
        self.order = search.postorder[::-1]
        self.on_edges: dict[int, list[Probe]] = {}
        for vertex in self.order:
            for edge, bits in bits_of_ways(graph, trace, vertex).items():
                self.on_edges[edge] = [bits]
        self.on_blocks: dict[int, tuple[Probe, ...]] = {}
        self._write_at_ends()
        self._write_on_back_edges()
        self._write_before_overflow()

    def _write_at_ends(self) -> None:
        """Before calls and EXIT, where bits may wait or a separator is needed."""
        trace, edges = self.trace, self.graph.edges
        onward: list[list[int]] = [[] for _ in self.graph.labels]
        behind_predicates, behind_calls = set(), set()
        counting = {edges[loop].src for loop in trace.counted}
        for vertex in self.order:
            for index in flow_out(self.graph, vertex):
                target = edges[index].dst
                if vertex not in trace.calls:
                    onward[vertex].append(target)
                    # Only behind these bits is there a check for room, which trip counts take too.
                    if index in self.on_edges or vertex in counting:
                        behind_predicates.add(target)
                elif vertex not in trace.resumes and target not in trace.landings:
                    behind_calls.add(target)
        waiting = sweep(onward, behind_predicates)
        separate = sweep(onward, behind_calls)
        for vertex in self.order:
            if vertex in trace.calls:
                if vertex in waiting or vertex in separate:
                    self.on_blocks[vertex] = (FlushBits(forced=True),)
                continue
            for index in flow_out(self.graph, vertex):
                bits_wait = vertex in waiting or vertex in counting or index in self.on_edges
                if edges[index].dst == self.graph.exit and (
                    bits_wait or (trace.entered and vertex in separate)
                ):
                    self.on_edges.setdefault(index, []).append(FlushBits(forced=True))

    def _write_on_back_edges(self) -> None:
        """On back edges if many are waiting; in any case if nothing else tells how often control came by.

        Also if there are trip counts, which need the check for room behind the bits.
        """
        edges = self.graph.edges
        every = [
            [] if vertex in self.trace.calls else [edges[e].dst for e in flow_out(self.graph, vertex)]
            for vertex in range(len(self.graph.labels))
        ]
        counting = sweep(every, {edges[loop].src for loop in self.trace.counted})
        onward: list[list[int]] = [[] for _ in self.graph.labels]
        for vertex in self.order:
            if vertex not in self.trace.calls:
                silent = [index for index in flow_out(self.graph, vertex) if index not in self.on_edges]
                onward[vertex] = [edges[index].dst for index in silent if index not in self.trace.counted]
        components = strong_components(onward, self.order)
        component_of = {vertex: number for number, members in enumerate(components) for vertex in members}
        for index in self.trace.back_edges:
            src, dst, _ = edges[index]
            untold = index not in self.on_edges and component_of[src] == component_of[dst]
            self.on_edges.setdefault(index, []).append(FlushBits(untold or src in counting))

    def _write_before_overflow(self) -> None:
        """Elsewhere, where more bits would wait than leave space for those of the next predicate.

        They are written behind the bits of an edge, as on back edges, so that a reader that has followed the
        edge knows whether the record ends there.
        """
        most = [0] * len(self.graph.labels)
        for index in self.trace.back_edges:
            most[self.graph.edges[index].dst] = MANY_BITS - 1
        for vertex in self.order:
            if vertex in self.trace.calls:
                continue
            for index in flow_out(self.graph, vertex):
                target = self.graph.edges[index].dst
                waiting = most[vertex] + self._width_of(index)
                if target != self.graph.exit and waiting + self._most_behind(target) > MOST_BITS:
                    probes = self.on_edges.setdefault(index, [])
                    if not any(isinstance(probe, FlushBits) for probe in probes):
                        probes.append(FlushBits(forced=False))
                    waiting = MANY_BITS - 1
                most[target] = max(most[target], waiting)

    def _width_of(self, index: int) -> int:
        return sum(probe.bits for probe in self.on_edges.get(index, ()) if isinstance(probe, EmitBits))

    def _most_behind(self, vertex: int) -> int:
        return max((self._width_of(index) for index in flow_out(self.graph, vertex)), default=0)
