"""Tracing by the numbers of regions: the paths of BL96, each written down where it ends.

Where BL94 writes a witness for each branch that a spanning tree does not settle, one number here tells all
branches since the last record.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from trodden.graph.cfg import Graph
from trodden.graph.traverse import depth_first
from trodden.plan.paths.chords import chord_increments
from trodden.plan.paths.dag import ArcKind
from trodden.plan.paths.placement import PlacedProbes, place_probes
from trodden.plan.paths.unused import drop_unused
from trodden.plan.probes import (
    Bump,
    BumpAt,
    EmitEntry,
    EmitRegion,
    EmitRegionAt,
    EmitTripCount,
    Plan,
    Probe,
    Trace,
)
from trodden.plan.trace.checked import checked_trace
from trodden.plan.trace.records import SYMBOLS
from trodden.plan.trace.region_cuts import choose_region_cuts
from trodden.plan.trace.region_graph import build_region_graph, flow_out
from trodden.plan.trace.regions import RegionNumbering


def region_plan(
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
    limit: int = SYMBOLS,
) -> Plan:
    """Number the regions of a procedure and place the probes that write their numbers.

    ``weights[e]`` is how often edge ``e`` is expected to be taken.  ``counted`` are self loops whose trips
    the front end can count; other arguments are as in :class:`~trodden.plan.probes.Trace`.  Regions are cut
    where there are more than ``limit``.  ``checked``: every edge has a counter beside.
    """
    search = depth_first(graph, calls)
    loops = countable(graph, calls, counted)
    trace = Trace(
        "paths",
        calls=dict(sorted(calls.items())),
        back_edges=tuple(sorted(search.back_edges - frozenset(loops))),
        counted=loops,
        resumes=tuple(sorted(resumes)),
        landings=tuple(sorted(landings)),
        entered=entered,
        tails=tuple(sorted(tails)),
    )
    dag = build_region_graph(graph, trace, search)
    if cuts := choose_region_cuts(dag, weights, limit):
        trace = replace(trace, cuts=tuple(cuts))
        dag = build_region_graph(graph, trace, search)
    numbering = RegionNumbering(graph, trace, dag)
    placed = place_probes(numbering, chord_increments(numbering, weights), range(len(graph.labels)))
    placed = drop_unused(dag, _without_silent_ends(numbering, placed), ())
    trips = trip_counts(graph, loops)
    on_edges = {
        edge: (*trips.get(edge, ()), *_emitting(placed.on_edges.get(edge, ())))
        for edge in sorted({*placed.on_edges, *trips})
    }
    on_blocks = {block: _emitting(probes) for block, probes in sorted(placed.on_blocks.items()) if probes}
    on_entry = (*[EmitEntry()] * entered, *placed.on_entry)
    plan = Plan("trace-paths", (), on_edges, on_blocks, on_entry=on_entry, trace=trace)
    return checked_trace(plan, graph) if checked else plan


def countable(graph: Graph, calls: Collection[int], counted: Collection[int]) -> tuple[int, ...]:
    """The self loops of ``counted`` whose trips tell the way: one for each block that can also be left."""
    by_block: dict[int, int] = {}
    for index in sorted(counted):
        block = graph.edges[index].src
        leaves = any(graph.edges[edge].dst != block for edge in flow_out(graph, block))
        if leaves and block not in calls and graph.edges[index].dst == block:
            by_block.setdefault(block, index)
    return tuple(sorted(by_block.values()))


def trip_counts(graph: Graph, loops: Collection[int]) -> dict[int, list[Probe]]:
    """The probes that write the trip counts of self loops, on all edges that leave them."""
    return {
        edge: [EmitTripCount(loop)]
        for loop in loops
        for edge in flow_out(graph, graph.edges[loop].src)
        if edge != loop
    }


def _without_silent_ends(numbering: RegionNumbering, placed: PlacedProbes) -> PlacedProbes:
    on_edges, on_blocks = dict(placed.on_edges), dict(placed.on_blocks)
    for number in numbering.silent_ends:
        arc = numbering.dag.arcs[number]
        held = on_blocks if arc.kind is ArcKind.CALL else on_edges
        held[arc.of] = [probe for probe in held[arc.of] if not isinstance(probe, Bump | BumpAt)]
    return PlacedProbes(on_edges, placed.on_entry, on_blocks)


def _emitting(probes: Sequence[Probe]) -> tuple[Probe, ...]:
    """What counts a path in BL96 writes its number here."""
    return tuple(
        EmitRegion(probe.add)
        if isinstance(probe, Bump)
        else EmitRegionAt(probe.path)
        if isinstance(probe, BumpAt)
        else probe
        for probe in probes
    )
