"""The executions under way when a process was killed, in functions whose edges or blocks are counted.

A killed process cannot say which of its functions were active, and where.  In each of them the counters are
those of walks that end nowhere: BL94 §3.2 asks for an exit counter in the block where such a walk stopped.
Here these stops are inferred from the counters alone: as few as make every count possible; among the blocks
where a stop can be, in one that makes calls rather than in another, since most active functions are inside a
call; and among those in the last one that control reaches.

Counts that do not contradict each other are left alone, and so is what no number of stops can explain.  The
truth may be other stops than these.  Then the count of an edge is off by at most the number of walks that
were under way.

The steps for edge counts; each needs the one before:

1. ``agreed_edge_counts``: where an edge has two counters (a plan that checks itself), both were incremented
   one right after the other, so that the larger one is right and the smaller one has increments pending.
   The flow law can be applied only after that, because it needs one number for each edge.
2. ``edge_balance``: what the known counts leave open at each block, as equations for the edges without
   a counter.
3. ``least_stops``: the stops, and iterations of loops that are counted only when the loop is left
   (BL94 §6.3): a loop that was not left has counted none of them.

For block counts the same equations hold on the reduced graph of Knuth and Stevenson, whose nodes are classes
of edges (``block_balance``).  A stop is found in a class, and ``stops_in_blocks`` chooses the block.

The result is checked by recovering all counts from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.graph.knuth_stevenson import ReducedGraph, reduce_to_blocks
from trodden.graph.spanning import live_edges
from trodden.graph.traverse import depth_first, reachable
from trodden.plan.probes import AddTripCount, BlockMeasure, EdgeMeasure, Plan, RedundantMeasure
from trodden.recover.edges_from_blocks import Ends
from trodden.recover.flow import recover
from trodden.recover.function_counts import FunctionCounts
from trodden.recover.killed.least_stops import least_stops
from trodden.recover.killed.room import Preference
from trodden.recover.sparse_counters import SparseCounters

Preferences = Sequence[Preference | None]


def complete_flow(
    graph: Graph, plan: Plan, counted: FunctionCounts, calls: Collection[int] = ()
) -> FunctionCounts | None:
    """The least that is missing in the counts of a procedure, if they contradict each other.

    ``calls`` are the blocks that make calls.  ``None`` if nothing is missing, or nothing that is missing
    would explain the contradiction.
    """
    if not recover(graph, plan, list(counted.counters), counted.early_ends).violations:
        return None
    preferences = stop_preferences(graph, calls)
    if any(isinstance(measure, BlockMeasure) for measure in plan.measures):
        missing = missing_in_blocks(graph, plan, counted, preferences)
    else:
        missing = missing_on_edges(graph, plan, counted, preferences)
    if not missing:
        return None
    completed = counted + missing
    flow = recover(graph, plan, list(completed.counters), completed.early_ends)
    return None if flow.violations else missing


def stop_preferences(graph: Graph, calls: Collection[int]) -> list[Preference | None]:
    """Where a stop is more likely, by block; ``None`` for blocks that are unreachable."""
    reached = reachable(graph)
    found: list[Preference | None] = [None] * len(graph.labels)
    for position, vertex in enumerate(reversed(depth_first(graph).postorder)):
        if vertex != graph.exit and vertex in reached:
            found[vertex] = (int(vertex in calls), position)
    return found


# ---- edge counts ----


def missing_on_edges(
    graph: Graph, plan: Plan, counted: FunctionCounts, preferences: Preferences
) -> FunctionCounts | None:
    """What is missing if the plan counts edges."""
    known, pending = agreed_edge_counts(plan, counted.counters)
    balance = edge_balance(graph, known, counted.early_ends)
    loops = loops_counted_on_exit(plan)
    back_edges = [(graph.edges[edge].src, graph.edges[edge].dst) for edge in loops.values()]
    found = least_stops(balance.totals, balance.unknown, graph.exit, preferences, back_edges)
    if found is None:
        return None
    stops, iterations = found
    pending.update({slot: more for slot, more in zip(loops, iterations, strict=True) if more})
    ends = {block: times for block, times in enumerate(stops) if times}
    return FunctionCounts(SparseCounters(plan.slots, pending), ends)


def agreed_edge_counts(plan: Plan, counters: Sequence[int]) -> tuple[dict[int, int], Counter[int]]:
    """The counts of all edges that have counters, and the increments that are pending, by slot."""
    slots: dict[int, list[int]] = {}
    for slot, measure in enumerate(plan.measures):
        if isinstance(measure, EdgeMeasure | RedundantMeasure):
            slots.setdefault(measure.edge, []).append(slot)
    known = {edge: max(counters[slot] for slot in own) for edge, own in slots.items()}
    pending = Counter({slot: known[edge] - counters[slot] for edge, own in slots.items() for slot in own})
    return known, +pending


@dataclass(frozen=True)
class Balance:
    """Flow equations as in :func:`trodden.recover.forest.solve`: ``totals`` by node, ``unknown`` edges."""

    totals: list[int]
    unknown: list[tuple[int, int]]


def edge_balance(graph: Graph, known: Mapping[int, int], early: Mapping[int, int]) -> Balance:
    """The flow law with the blocks as nodes, where the counts of some edges are known."""
    ends = Ends.of(graph, early)
    totals = [out - into for out, into in zip(ends.out, ends.into, strict=True)]
    for index, count in known.items():
        totals[graph.edges[index].dst] -= count
        totals[graph.edges[index].src] += count
    unknown = [(graph.edges[e].src, graph.edges[e].dst) for e in live_edges(graph) if e not in known]
    return Balance(totals, unknown)


def loops_counted_on_exit(plan: Plan) -> dict[int, int]:
    """The loops whose iterations are counted when they are left: by slot, the back edge.

    Where a second counter counts the same edge, that tells how often it was taken.
    """
    counted_twice = {each.edge for each in plan.measures if isinstance(each, RedundantMeasure)}
    return {
        probe.slot: probe.back_edge
        for probes in plan.on_edges.values()
        for probe in probes
        if isinstance(probe, AddTripCount) and probe.back_edge not in counted_twice
    }


# ---- block counts ----


def missing_in_blocks(
    graph: Graph, plan: Plan, counted: FunctionCounts, preferences: Preferences
) -> FunctionCounts | None:
    """What is missing if the plan counts blocks."""
    reduced = reduce_to_blocks(graph)
    known = {
        measure.block: counted.counters[slot]
        for slot, measure in enumerate(plan.measures)
        if isinstance(measure, BlockMeasure)
    }
    balance = block_balance(graph, reduced, known, counted.early_ends)
    sink = (reduced.leaving if graph.exit in known else reduced.entering)[graph.exit]
    found = least_stops(balance.totals, balance.unknown, sink, _class_preferences(reduced, preferences))
    if found is None:
        return None
    stops = stops_in_blocks(graph, plan, counted, reduced, found[0], preferences)
    return None if stops is None else FunctionCounts(SparseCounters(plan.slots, {}), stops)


def block_balance(
    graph: Graph, reduced: ReducedGraph, known: Mapping[int, int], early: Mapping[int, int]
) -> Balance:
    """The flow law with classes of edges as nodes and blocks as edges, where some block counts are known."""
    ends = Ends.of(graph, early)
    totals = [0] * reduced.classes
    unknown = []
    for vertex in sorted(reachable(graph) | ends.early):
        leaving, entering = reduced.leaving[vertex], reduced.entering[vertex]
        totals[leaving] += ends.out[vertex]
        totals[entering] -= ends.into[vertex]
        if vertex in known:
            count = known[vertex] + ends.into[vertex]
            totals[leaving] -= count
            totals[entering] += count
        else:
            unknown.append((entering, leaving))
    return Balance(totals, unknown)


def _class_preferences(reduced: ReducedGraph, preferences: Preferences) -> list[Preference | None]:
    """The greatest preference of any block whose outgoing edges are in a class."""
    found: list[Preference | None] = [None] * reduced.classes
    for vertex, preference in enumerate(preferences):
        leaving = reduced.leaving[vertex]
        if preference is not None and (found[leaving] or preference) <= preference:
            found[leaving] = preference
    return found


def stops_in_blocks(
    graph: Graph,
    plan: Plan,
    counted: FunctionCounts,
    reduced: ReducedGraph,
    stops: Sequence[int],
    preferences: Preferences,
) -> dict[int, int] | None:
    """Stops in classes of edges as stops in blocks: at most as many as a block ran, the most likely first."""
    ranked = sorted(((p, vertex) for vertex, p in enumerate(preferences) if p is not None), reverse=True)
    blocks = [vertex for _, vertex in ranked]
    first: dict[int, int] = {}
    for vertex in blocks:
        first.setdefault(reduced.leaving[vertex], vertex)
    early = counted.early_ends
    ends = Counter(early)
    for group, times in enumerate(stops):
        if times:
            ends[first[group]] += times
    # How often blocks ran does not depend on which block of a class the stop is in.
    ran = recover(graph, plan, list(counted.counters), ends).blocks
    left = list(stops)
    found: dict[int, int] = {}
    for vertex in blocks:
        part = min(left[reduced.leaving[vertex]], ran[vertex] - early.get(vertex, 0))
        if part > 0:
            found[vertex] = part
            left[reduced.leaving[vertex]] -= part
    return None if any(left) else found
