"""What a process that was killed has left unfinished: counts that fit together again.

A killed process cannot say which of its functions were active, and where.  In each of them the counters are
those of walks that end nowhere: BL94 §3.2 wants an exit counter for the block where such a walk stands.  Here
these are found from the counters alone: as few ends as make every count possible, in blocks that call
something rather than in others, since most active functions stand at a call, and of those in the furthest on.

What fits together already is left alone, so is what no number of ends can explain.  The truth may be other
ends than these: then the count of an edge is off by at most the number of walks that were under way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from trodden.graph.cfg import Graph
from trodden.graph.knuth_stevenson import reduce_to_blocks
from trodden.graph.spanning import live_edges
from trodden.graph.traverse import depth_first, reachable
from trodden.plan.probes import AddTrips, BlockMeasure, EdgeMeasure, Plan, SecondOpinion
from trodden.recover.flow import recover
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.killed.least_stops import Rank, least_stops
from trodden.recover.narrow import Ends
from trodden.recover.sparse_counters import SparseCounters


@dataclass(frozen=True)
class Completion:
    """What is missing: walks that end in a block, and what the counters in some slots should have more."""

    stops: Mapping[int, int] = field(default_factory=dict)
    owed: Mapping[int, int] = field(default_factory=dict)


def complete_flow(
    graph: Graph, plan: Plan, counted: FunctionCounts, calls: Collection[int] = ()
) -> FunctionCounts | None:
    """The least that is missing in the counters of a procedure, if they contradict each other.

    ``early`` are the ends that are known, ``calls`` the blocks that call something.  The answer is ``None``
    if nothing is missing, or nothing that is missing would explain the contradiction.
    """
    counters, early = list(counted.counters), counted.early_ends
    if not recover(graph, plan, counters, early).violations:
        return None
    completing = _Completing(graph, plan, counters, early, _ranks(graph, calls))
    blocks = any(isinstance(measure, BlockMeasure) for measure in plan.measures)
    found = completing.by_blocks() if blocks else completing.by_edges()
    if found is None or not (found.stops or found.owed):
        return None
    after = [count + found.owed.get(slot, 0) for slot, count in enumerate(counters)]
    ends = Counter(early)
    ends.update(found.stops)
    if recover(graph, plan, after, ends).violations:
        return None
    return FunctionCounts(SparseCounters(plan.slots, found.owed), found.stops)


def _ranks(graph: Graph, calls: Collection[int]) -> list[Rank | None]:
    """The claim of each block to an end: that it calls something, then how far on it lies."""
    reached = reachable(graph)
    ranks: list[Rank | None] = [None] * len(graph.labels)
    for place, vertex in enumerate(reversed(depth_first(graph).postorder)):
        if vertex != graph.exit and vertex in reached:
            ranks[vertex] = (int(vertex in calls), place)
    return ranks


@dataclass(frozen=True)
class _Completing:
    graph: Graph
    plan: Plan
    counters: Sequence[int]
    early: Mapping[int, int]
    ranks: list[Rank | None]

    def by_edges(self) -> Completion | None:
        """Of a plan that counts edges."""
        graph = self.graph
        known, owed = self._known_edges()
        ends = Ends.of(graph, self.early)
        balance = [out - into for out, into in zip(ends.out, ends.into, strict=True)]
        live = set(live_edges(graph))
        unknown = []
        for index, edge in enumerate(graph.edges):
            if index in known:
                balance[edge.dst] -= known[index]
                balance[edge.src] += known[index]
            elif index in live:
                unknown.append((edge.src, edge.dst))
        trips = self._trips()
        turns = [(graph.edges[edge].src, graph.edges[edge].dst) for edge in trips.values()]
        found = least_stops(balance, unknown, graph.exit, self.ranks, turns)
        if found is None:
            return None
        stops, raised = found
        owed.update({slot: more for slot, more in zip(trips, raised, strict=True) if more})
        return Completion({block: times for block, times in enumerate(stops) if times}, dict(owed))

    def _known_edges(self) -> tuple[dict[int, int], Counter[int]]:
        """Edges that were counted.  Of two counters on an edge the lower lacks what the other has."""
        slots: dict[int, list[int]] = {}
        for slot, measure in enumerate(self.plan.measures):
            if isinstance(measure, EdgeMeasure | SecondOpinion):
                slots.setdefault(measure.edge, []).append(slot)
        known = {edge: max(self.counters[slot] for slot in told) for edge, told in slots.items()}
        owed = Counter(
            {slot: known[edge] - self.counters[slot] for edge, told in slots.items() for slot in told}
        )
        return known, +owed

    def _trips(self) -> dict[int, int]:
        """The loops whose turns are counted when they are left: by slot, the back edge.

        Where a second opinion counts the same edge, that tells how often it was taken.
        """
        opinions = {each.edge for each in self.plan.measures if isinstance(each, SecondOpinion)}
        return {
            probe.slot: probe.back_edge
            for probes in self.plan.on_edges.values()
            for probe in probes
            if isinstance(probe, AddTrips) and probe.back_edge not in opinions
        }

    def by_blocks(self) -> Completion | None:
        """Of a plan that counts blocks: they are the edges of the reduced graph of Knuth and Stevenson."""
        graph = self.graph
        reduced = reduce_to_blocks(graph)
        ends = Ends.of(graph, self.early)
        known = {
            measure.block: self.counters[slot] + ends.into[measure.block]
            for slot, measure in enumerate(self.plan.measures)
            if isinstance(measure, BlockMeasure)
        }
        totals = [0] * reduced.classes
        unknown = []
        ranks: list[Rank | None] = [None] * reduced.classes
        for vertex in sorted(reachable(graph) | ends.early):
            leaving, entering = reduced.leaving[vertex], reduced.entering[vertex]
            totals[leaving] += ends.out[vertex] - known.get(vertex, 0)
            totals[entering] += known.get(vertex, 0) - ends.into[vertex]
            if vertex not in known:
                unknown.append((entering, leaving))
            rank = self.ranks[vertex]
            if rank is not None and (ranks[leaving] or rank) <= rank:
                ranks[leaving] = rank
        sink = (reduced.leaving if graph.exit in known else reduced.entering)[graph.exit]
        found = least_stops(totals, unknown, sink, ranks)
        if found is None:
            return None
        return self._in_blocks(found[0], reduced.leaving)

    def _in_blocks(self, stops: Sequence[int], leaving: Sequence[int]) -> Completion | None:
        """Ends in classes of edges become ends in blocks, as many as ran and by their claims."""
        extra = Counter(self.early)
        first: dict[int, int] = {}
        for vertex in self._by_claim():
            first.setdefault(leaving[vertex], vertex)
        for group, times in enumerate(stops):
            if times:
                extra[first[group]] += times
        # How often blocks ran does not depend on which block of a class it was.
        ran = recover(self.graph, self.plan, self.counters, extra).blocks
        left = list(stops)
        found: dict[int, int] = {}
        for vertex in self._by_claim():
            part = min(left[leaving[vertex]], ran[vertex] - self.early.get(vertex, 0))
            if part > 0:
                found[vertex] = part
                left[leaving[vertex]] -= part
        return None if any(left) else Completion(found)

    def _by_claim(self) -> list[int]:
        claims = [(rank, vertex) for vertex, rank in enumerate(self.ranks) if rank is not None]
        return [vertex for _, vertex in sorted(claims, reverse=True)]
