"""From a function and the user's wishes to a plan: weigh it, price its edges, place the probes."""

from __future__ import annotations

from dataclasses import dataclass, field

from trodden.native.cells import holding_blocks
from trodden.native.induction import Induction
from trodden.native.options import Options
from trodden.native.prices import edge_prices, find_trips
from trodden.native.read import FunctionRead
from trodden.plan.counters import checked, eprof, every_block, every_edge, vprof_by_blocks, vprof_by_edges
from trodden.plan.numbering import Numbering
from trodden.plan.paths import checked_paths, path_plan
from trodden.plan.placement import single_prefixes
from trodden.plan.probes import Plan
from trodden.weigh.nesting import nesting_weights


@dataclass(frozen=True)
class Planned:
    """A plan, the weights behind it, and what tells the trips of its loops.

    ``ambiguous`` are the blocks where a path may be cut short and only the register tells which one.
    """

    plan: Plan
    weights: list[float]
    inductions: dict[int, Induction] = field(default_factory=dict)
    ambiguous: frozenset[int] = frozenset()


def plan_for(read: FunctionRead, options: Options, machine: str) -> Planned:
    """The plan for one function."""
    graph = read.graph
    weights = options.measured(graph, read.ir.symbol) if options.measured else None
    if weights is None:
        weights = nesting_weights(graph, read.loops)
    if options.paths is not None:
        return _paths(read, options, machine, weights)
    if options.counters == "every-block":
        return Planned(every_block(graph), weights)
    if options.counters == "every-edge":
        return Planned(every_edge(graph), weights)
    if options.counters == "blocks-by-blocks":
        block_weights = [sum(weights[e] for e in edges) for edges in graph.in_edges]
        return Planned(vprof_by_blocks(graph, block_weights), weights)
    prices = edge_prices(read, weights)
    if options.counters == "blocks-by-edges":
        return Planned(vprof_by_edges(graph, prices), weights)
    trips, inductions = find_trips(read, weights) if options.trips else ([], {})
    place = checked if options.counters == "checked" else eprof
    return Planned(place(graph, prices, trips), weights, inductions)


def _paths(read: FunctionRead, options: Options, machine: str, weights: list[float]) -> Planned:
    asked = options.paths
    assert asked is not None
    trips, inductions = find_trips(read, weights) if options.trips else ([], {})
    holds = holding_blocks(read)
    plan = path_plan(
        read.graph,
        edge_prices(read, weights),
        limit=asked.most,
        holds=holds,
        cells=machine == "x86_64",
        handlers=returning_twice(read),
        context=asked.context,
        timed=asked.timed,
        rule=asked.cutting,
        trips=trips,
    )
    if options.counters == "checked":
        plan = checked_paths(plan, read.graph)
    ambiguous = holds
    if holds and plan.paths is not None:
        ambiguous -= single_prefixes(Numbering(read.graph, plan.paths)).keys()
    return Planned(plan, weights, inductions, ambiguous)


def returning_twice(read: FunctionRead) -> list[int]:
    """The edges behind calls that return twice."""
    return [
        edge
        for block, calls in enumerate(read.calls)
        if any(call.returns_twice for call in calls)
        for edge in read.graph.out_edges[block]
    ]
