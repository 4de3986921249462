"""From what a trace says of a function to its counts, as those of a profile with a counter on every edge."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from trodden.graph.cfg import Graph
from trodden.plan.probes import (
    EdgeMeasure,
    RedundantMeasure,
)
from trodden.program.facts import FunctionFacts
from trodden.recover.function_counts import FunctionCounts, Prefix, Stop
from trodden.recover.sparse_counters import SparseCounters
from trodden.recover.trace.counting import (
    TraceCounts,
)


def function_counts(
    facts: FunctionFacts,
    counts: TraceCounts,
    beside: Mapping[int, int],
    known: FunctionCounts | None,
    interrupted: int,
) -> FunctionCounts:
    """The counts; ``interrupted`` frames were at any instruction when their process ended.

    ``beside`` is what counters beside the trace have counted, ``known`` what else is known of the function.
    """
    edges = counts.edges.get(0, Counter())
    untold = _untold(edges, beside, interrupted)
    if facts.plan.paths is None:
        edges = edges + untold
    else:
        # Paths are cut short where the trace ends.
        beside = {edge: times - untold[edge] for edge, times in beside.items()}
    counters: dict[int, int] = {}
    for slot, measure in enumerate(facts.plan.measures):
        if isinstance(measure, EdgeMeasure) and edges[measure.edge]:
            counters[slot] = edges[measure.edge]
        elif isinstance(measure, RedundantMeasure) and measure.edge in beside:
            counters[slot] = beside[measure.edge]
    held = SparseCounters(facts.plan.slots, counters)
    ended = _ended_in(facts.graph, edges, counts.entries[0])
    if facts.plan.paths is None:
        return FunctionCounts(held, active=ended, stops=_stops(known, ended))
    prefixes: dict[Prefix, int] = {
        (block, path): times for (block, path), times in counts.prefixes.get(0, Counter()).items() if times
    }
    cut = Counter[int]()
    for (block, _), times in prefixes.items():
        cut[block] += times
    resumed = {
        block: ended.get(block, 0) - cut[block]
        for block in {*ended, *cut}
        if ended.get(block, 0) < cut[block]
    }
    sparse = {path: (times, 0) for path, times in counts.paths.get(0, Counter()).items()}
    return FunctionCounts(held, active=resumed, prefixes=prefixes, sparse=sparse)


def counted_beside(graph: Graph, beside: Mapping[int, int], known: FunctionCounts | None) -> TraceCounts:
    """What a trace that is missing would have said, as far as counters on every edge tell."""
    entries = 0 if known is None else known.active.get(graph.root, 0)
    for edge, times in beside.items():
        entries += times * ((graph.edges[edge].src == graph.root) - (graph.edges[edge].dst == graph.root))
    return TraceCounts(edges={0: Counter(beside)}, entries=Counter({0: entries}))


def _untold(edges: Mapping[int, int], beside: Mapping[int, int], interrupted: int) -> Counter[int]:
    """What interrupted frames have executed since the last record, as the counters say."""
    more = {edge: times - edges.get(edge, 0) for edge, times in beside.items()}
    return Counter({edge: times for edge, times in more.items() if 0 < times <= interrupted})


def _stops(known: FunctionCounts | None, ended: Mapping[int, int]) -> Mapping[Stop, int]:
    """Where in their blocks frames have ended, as the stacks at the end say; of blocks where both agree."""
    if known is None:
        return {}
    return {
        (block, None, position): times
        for (block, _, position), times in known.stops.items()
        if known.active.get(block) == ended.get(block)
    }


def _ended_in(graph: Graph, edges: Mapping[int, int], entries: int) -> dict[int, int]:
    """How many frames have entered each block and not left it: what the flow law lacks."""
    missing: Counter[int] = Counter({graph.root: entries})
    for edge, times in edges.items():
        missing[graph.edges[edge].dst] += times
        missing[graph.edges[edge].src] -= times
    return {block: times for block, times in sorted(missing.items()) if times and block != graph.exit}
