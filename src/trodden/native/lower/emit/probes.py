"""Emit the code of probes, location by location."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from trodden.native.analysis.induction import Induction
from trodden.native.lower.builder import Builder
from trodden.native.lower.emit.paths import PathEmitter
from trodden.native.lower.emit.trace import TraceEmitter
from trodden.native.lower.emit.trip_counts import emit_trip_count
from trodden.native.lower.function_lowering import FunctionLowering
from trodden.native.lower.insertions import CounterPhi, Emitted, Insertion, Phi, Point, ValuePhi, Where
from trodden.native.lower.probe_locations import (
    PlacedProbe,
    Placement,
    ProbeLocations,
    layers,
    merged_probes,
)
from trodden.plan.overlapping.registers import Counted
from trodden.plan.paths.locations import Holder, Mark
from trodden.plan.paths.path_register import Value
from trodden.plan.probes import AddTripCount, Count


def emit_probes(
    lowering: FunctionLowering,
    locations: ProbeLocations,
    paths: PathEmitter | TraceEmitter | None,
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
        codes = [_emit_placement(lowering, placement, paths, inductions) for placement in group]
        for placement, lines in zip(group, codes, strict=True):
            if lines or placement.split:
                insertions.append(lowering.insert(placement.point, lines))
    for target, edges in locations.merged.items():
        merged = _emit_merged(lowering, target, edges, paths, spare_slot)
        insertions += merged.insertions
        phis += merged.phis
    return Emitted(insertions, phis)


def _emit_placement(
    lowering: FunctionLowering,
    placement: Placement,
    paths: PathEmitter | TraceEmitter | None,
    inductions: Mapping[int, Induction],
) -> list[str]:
    """Counters first, then what concerns the path register."""
    builder = lowering.builder(placement.point)
    access = lowering.access_at(placement.point)
    locations = [
        None if mark is None else lowering.debug.probe_location(mark) for _, mark in placement.probes
    ]
    for (probe, _), location in zip(placement.probes, locations, strict=True):
        builder.location = location
        if isinstance(probe, Count):
            access.increment(builder, lowering.first_slot + probe.slot, "1")
        elif isinstance(probe, AddTripCount):
            trip_count = emit_trip_count(builder, inductions[probe.back_edge])
            access.increment(builder, lowering.first_slot + probe.slot, trip_count)
    if paths is not None:
        value = None if placement.source is None else paths.register.values.at_end(placement.source)
        paths.emit(builder, access, placement.probes, locations, value)
    return builder.lines


def _emit_merged(
    lowering: FunctionLowering,
    target: int,
    edges: Sequence[tuple[int, Sequence[PlacedProbe]]],
    paths: PathEmitter | TraceEmitter | None,
    spare_slot: int,
) -> Emitted:
    """Count edges that cannot be split in their target, where phis say what is to be counted."""
    values = None if paths is None else paths.register.values
    overlap = paths.counted if isinstance(paths, PathEmitter) else lambda _: None
    counters, ending = merged_probes(lowering.read, values, edges, overlap)
    insertions: list[Insertion] = []
    if isinstance(paths, PathEmitter):
        for edge, _ in edges:
            at_source = lowering.builder()
            paths.choose(at_source, edge)
            bottom = Point(Where.BOTTOM, lowering.read.graph.edges[edge].src)
            insertions.append(lowering.insert(bottom, at_source.lines))
    builder = lowering.builder()
    builder.location = lowering.debug.probe_location(Mark(Holder.MERGED, target))
    phis = _choose_counters(lowering, target, counters, spare_slot, builder)
    if paths is not None:
        merged = _choose_paths(lowering, target, ending, paths, builder)
        insertions += merged.insertions
        phis += merged.phis
    if isinstance(paths, PathEmitter) and paths.tuples is not None:
        merged = _choose_tuples(lowering, target, edges, paths, builder)
        insertions += merged.insertions
        phis += merged.phis
    insertions.append(lowering.insert(Point(Where.TOP, target), builder.lines))
    return Emitted(insertions, phis)


def _choose_counters(
    lowering: FunctionLowering,
    target: int,
    counters: Mapping[int, Sequence[int]],
    spare_slot: int,
    builder: Builder,
) -> list[Phi]:
    """A phi chooses the counter; edges without one use the spare."""
    phis: list[Phi] = []
    access = lowering.access_at(Point(Where.TOP, target))
    for layer in layers(counters):
        chosen = lowering.names.value()
        slots = {e: lowering.first_slot + each[layer] for e, each in counters.items() if layer < len(each)}
        phis.append(CounterPhi(target, chosen, slots, spare_slot))
        access.increment_at(builder, f"%{chosen}", "1")
    return phis


def _choose_paths(
    lowering: FunctionLowering,
    target: int,
    ending: Mapping[int, Sequence[Value | Counted]],
    paths: PathEmitter | TraceEmitter,
    builder: Builder,
) -> Emitted:
    """One phi is the number of the path, another whether it has ended: 1, or 0 on the other edges."""
    insertions: list[Insertion] = []
    phis: list[Phi] = []
    access = lowering.access_at(Point(Where.TOP, target))
    for layer in layers(ending):
        path, ended = lowering.names.value(), lowering.names.value()
        numbers: dict[int, str] = {}
        amounts: dict[int, str] = {}
        for edge, each in ending.items():
            if layer < len(each):
                at_source = lowering.builder()
                numbers[edge], amounts[edge] = paths.ended(at_source, each[layer])
                bottom = Point(Where.BOTTOM, lowering.read.graph.edges[edge].src)
                insertions.append(lowering.insert(bottom, at_source.lines))
        phis.append(ValuePhi(target, path, numbers, "0"))
        phis.append(ValuePhi(target, ended, amounts, "0"))
        paths.count_if(builder, access, target, path, f"%{ended}")
    for number, amount in zip(phis[::2], phis[1::2], strict=True):
        paths.enter_if(builder, number.name, f"%{amount.name}")
    return Emitted(insertions, phis)


def _choose_tuples(
    lowering: FunctionLowering,
    target: int,
    edges: Sequence[tuple[int, Sequence[PlacedProbe]]],
    paths: PathEmitter,
    builder: Builder,
) -> Emitted:
    """One phi is the number of the tuple of paths that ends, another whether there is one."""
    insertions: list[Insertion] = []
    phis: list[Phi] = []
    access = lowering.access_at(Point(Where.TOP, target))
    followed = {edge: [each for each in map(paths.followed, probes) if each] for edge, probes in edges}
    for layer in layers(followed):
        number, amount = lowering.names.value(), lowering.names.value()
        numbers: dict[int, str] = {}
        amounts: dict[int, str] = {}
        for edge, each in followed.items():
            if layer < len(each):
                at_source = lowering.builder()
                numbers[edge], amounts[edge] = paths.tuple_number(at_source, each[layer])
                bottom = Point(Where.BOTTOM, lowering.read.graph.edges[edge].src)
                insertions.append(lowering.insert(bottom, at_source.lines))
        phis.append(ValuePhi(target, number, numbers, "0"))
        phis.append(ValuePhi(target, amount, amounts, "0"))
        paths.count_tuple_if(builder, access, f"%{number}", f"%{amount}")
    return Emitted(insertions, phis)


def uses_spare_slot(lowering: FunctionLowering, emitted: Emitted) -> bool:
    """Whether an edge without a counter is counted all the same."""
    return any(
        edge not in phi.incoming
        for phi in emitted.phis
        if isinstance(phi, CounterPhi)
        for edge in lowering.read.in_edges(phi.block)
    )
