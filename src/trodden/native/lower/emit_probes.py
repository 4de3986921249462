"""Emit the code of probes, location by location."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trodden.native.analysis.induction import Induction
from trodden.native.lower.context import Context
from trodden.native.lower.emit_paths import PathEmitter
from trodden.native.lower.emit_trip_counts import emit_trip_count
from trodden.native.lower.insertions import CounterPhi, Emitted, Insertion, Phi, Point, ValuePhi, Where
from trodden.native.lower.probe_locations import (
    PlacedProbe,
    Placement,
    ProbeLocations,
    layers,
    merged_probes,
)
from trodden.plan.paths.locations import Holder, Mark
from trodden.plan.probes import AddTrips, Count


def emit_probes(
    context: Context,
    locations: ProbeLocations,
    paths: PathEmitter | None,
    inductions: Mapping[int, Induction],
    spare_slot: int,
) -> Emitted:
    """The code of all probes.

    ``spare_slot`` is a counter that nobody reads: it is incremented for edges without a counter that share
    their target with edges that have one and cannot be split.
    """
    insertions: list[Insertion] = []
    phis: list[Phi] = []
    for group in locations.placements:
        # The names of blocks on edges follow those of the values that are computed there.
        codes = [_emit_placement(context, placement, paths, inductions) for placement in group]
        for placement, lines in zip(group, codes, strict=True):
            if lines or placement.split:
                insertions.append(context.insert(placement.point, lines))
    for target, edges in locations.merged.items():
        merged = _emit_merged(context, target, edges, paths, spare_slot)
        insertions += merged.insertions
        phis += merged.phis
    return Emitted(insertions, phis)


def _emit_placement(
    context: Context,
    placement: Placement,
    paths: PathEmitter | None,
    inductions: Mapping[int, Induction],
) -> list[str]:
    """Counters first, then what concerns the path register."""
    builder = context.builder()
    access = context.access_at(placement.point)
    locations = [
        None if mark is None else context.debug.probe_location(mark) for _, mark in placement.probes
    ]
    for (probe, _), location in zip(placement.probes, locations, strict=True):
        builder.location = location
        if isinstance(probe, Count):
            access.increment(builder, context.first_slot + probe.slot, "1")
        elif isinstance(probe, AddTrips):
            trip_count = emit_trip_count(builder, inductions[probe.back_edge])
            access.increment(builder, context.first_slot + probe.slot, trip_count)
    if paths is not None:
        value = None if placement.source is None else paths.register.leaving(placement.source)
        paths.emit(builder, access, placement.probes, locations, value)
    return builder.lines


def _emit_merged(
    context: Context,
    target: int,
    edges: Sequence[tuple[int, Sequence[PlacedProbe]]],
    paths: PathEmitter | None,
    spare_slot: int,
) -> Emitted:
    """Count edges that cannot be split in their target, where phis say what is to be counted.

    Edges without a counter use the spare one; of paths none has ended on the others.
    """
    graph = context.read.graph
    counters, ending = merged_probes(context.read, None if paths is None else paths.register, edges)
    insertions: list[Insertion] = []
    phis: list[Phi] = []
    top = Point(Where.TOP, target)
    access = context.access_at(top)
    builder = context.builder()
    builder.location = context.debug.probe_location(Mark(Holder.MERGED, target))
    for layer in layers(counters):
        chosen = context.names.value()
        slots = {e: context.first_slot + each[layer] for e, each in counters.items() if layer < len(each)}
        phis.append(CounterPhi(target, chosen, slots, spare_slot))
        access.increment_at(builder, f"%{chosen}", "1")
    ended: list[tuple[str, str]] = []
    for layer in layers(ending):
        assert paths is not None
        path, amount = context.names.value(), context.names.value()
        numbers: dict[int, str] = {}
        for edge, each in ending.items():
            if layer < len(each):
                at_source = context.builder()
                numbers[edge] = paths.operand(at_source, each[layer])
                insertions.append(
                    context.insert(Point(Where.BOTTOM, graph.edges[edge].src), at_source.lines)
                )
        phis.append(ValuePhi(target, path, numbers, "0"))
        phis.append(ValuePhi(target, amount, dict.fromkeys(numbers, "1"), "0"))
        paths.count_if(builder, access, path, f"%{amount}")
        ended.append((path, f"%{amount}"))
    for path, amount in ended:
        assert paths is not None
        paths.enter_if(builder, path, amount)
    insertions.append(context.insert(top, builder.lines))
    return Emitted(insertions, phis)


def uses_spare_slot(context: Context, emitted: Emitted) -> bool:
    """Whether an edge without a counter is counted all the same."""
    return any(
        edge not in phi.incoming
        for phi in emitted.phis
        if isinstance(phi, CounterPhi)
        for edge in context.read.arriving(phi.block)
    )
