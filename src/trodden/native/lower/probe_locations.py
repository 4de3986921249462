"""Where the code of each probe of a plan goes.

Code for an edge goes to the top of its target if that has no other predecessor, to the bottom of its source
if that has no other successor; a critical edge gets a new block (the jump that BL94 §6.3 and Figure 19 save
is then LLVM's to lay out).  Edges that cannot be split are merged: a phi in their target says what is to be
counted.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.lower.insertions import Point, Where
from trodden.plan.overlap_probes import BumpOverlap, ChainPath, ChainPathAt, PairOverlap, PairOverlapAt
from trodden.plan.overlapping.registers import Counted
from trodden.plan.paths.locations import Holder, Mark
from trodden.plan.paths.path_register import Register, Value
from trodden.plan.probes import (
    AddTripCount,
    Bump,
    BumpAt,
    Count,
    EmitRegion,
    EmitRegionAt,
    EmitTripCount,
    EmitWitness,
    Plan,
    Probe,
)

Ending = Bump | BumpAt | EmitRegion | EmitRegionAt | EmitWitness
"""The probes at whose location a path, or what else has a number, has ended."""


COUNTING_ENDS = (Bump, BumpAt, BumpOverlap, ChainPath, ChainPathAt, PairOverlap, PairOverlapAt)
"""The probes that count what has ended where a path ends."""


class PlacedProbe(NamedTuple):
    """A probe, and how its instructions are marked in debug information, if they are."""

    probe: Probe
    mark: Mark | None


class Placement(NamedTuple):
    """Probes that are executed at a point, one after the other.

    ``source`` is the block at whose end the path register has the value that they start from; None if they
    do not use it.  A point on an edge gets a block if there is code for it, or in any case (``split``).
    """

    point: Point
    probes: Sequence[PlacedProbe]
    source: int | None
    split: bool = False


@dataclass(frozen=True)
class ProbeLocations:
    """The probes of a plan by location: those of an edge or block are one element of ``placements``.

    ``merged`` are, by target, the edges that cannot be split, each with its probes.
    """

    placements: Sequence[Sequence[Placement]]
    merged: Mapping[int, Sequence[tuple[int, Sequence[PlacedProbe]]]]

    def placed(self) -> Iterator[PlacedProbe]:
        """All probes with their marks."""
        for group in self.placements:
            for placement in group:
                yield from placement.probes
        for edges in self.merged.values():
            for _, probes in edges:
                yield from probes

    def probes(self) -> Iterator[Probe]:
        """All probes."""
        for placed in self.placed():
            yield placed.probe

    def trip_counted(self) -> dict[int, None]:
        """The back edges whose trip count is added to a counter or recorded, in order."""
        counted = (probe for probe in self.probes() if isinstance(probe, AddTripCount | EmitTripCount))
        return {probe.back_edge: None for probe in counted}

    def uses_counters(self, plan: Plan) -> bool:
        """Whether any of them adds to a counter."""
        if plan.calls is not None or (plan.tuples is not None and plan.tuples.dense):
            return True
        dense = plan.paths is not None and plan.paths.dense
        kinds = (Count, AddTripCount, Bump, BumpAt, BumpOverlap) if dense else (Count, AddTripCount)
        return any(isinstance(probe, kinds) for probe in self.probes())


def locate_probes(read: FunctionCfg, plan: Plan) -> ProbeLocations:
    """Decide where the probes of a plan go.

    A block that must stay empty, so that a call in front of it stays in tail position, has the probes of
    itself and of its out-edges on its in-edges.
    """
    placements: list[Sequence[Placement]] = []
    merged: dict[int, list[tuple[int, Sequence[PlacedProbe]]]] = {}
    resume_edges = frozenset(() if plan.paths is None else plan.paths.resume_edges)

    def place(edge: int, probes: Sequence[PlacedProbe]) -> None:
        placed = _place_on_edge(read, resume_edges, edge, probes)
        if placed:
            placements.append(placed)
        else:
            merged.setdefault(read.graph.edges[edge].dst, []).append((edge, probes))

    for block, probes in plan.on_blocks.items():
        placed = _placed(probes, Holder.BLOCK, block)
        if block in read.recording_calls:
            placements.append([Placement(Point(Where.BEFORE_CALL, block), placed, block)])
        elif read.ir.blocks[block].label in read.tail_calls.return_blocks:
            for edge in read.in_edges(block):
                place(edge, placed)
        else:
            placements.append([Placement(Point(Where.TOP, block), placed, None)])
    for edge, placed in _on_edges(read, plan).items():
        source, target, _ = read.graph.edges[edge]
        if target == read.graph.exit:
            placements.append([Placement(Point(Where.BOTTOM, source), placed, source)])
        else:
            place(edge, placed)
    return ProbeLocations(placements, merged)


def _placed(probes: Sequence[Probe], holder: Holder, index: int) -> Sequence[PlacedProbe]:
    return [PlacedProbe(probe, Mark(holder, index, number)) for number, probe in enumerate(probes)]


def _on_edges(read: FunctionCfg, plan: Plan) -> dict[int, Sequence[PlacedProbe]]:
    """The probes of all edges."""
    found = {edge: _placed(probes, Holder.EDGE, edge) for edge, probes in plan.on_edges.items()}
    for block, at in enumerate(read.ir.blocks):
        if at.label in read.tail_calls.return_blocks:
            for leaving in read.graph.out_edges[block]:
                probes = found.pop(leaving, ())
                if probes:
                    for edge in read.in_edges(block):
                        found[edge] = (*found.get(edge, ()), *probes)
    return found


def _place_on_edge(
    read: FunctionCfg, resume_edges: Collection[int], edge: int, probes: Sequence[PlacedProbe]
) -> Sequence[Placement]:
    """The location of an edge's probes; none if the edge cannot be split."""
    source, target, _ = read.graph.edges[edge]
    bottom = Point(Where.BOTTOM, source)
    if edge in resume_edges:
        # A path ends in front of the call that returns twice, and the next one starts after it.
        ending = [placed for placed in probes if isinstance(placed.probe, COUNTING_ENDS)]
        others = [placed for placed in probes if placed not in ending]
        if read.single_successor(edge):
            before = Point(Where.BEFORE_CALL, source)
            return [Placement(bottom, others, source), Placement(before, ending, source)]
        on_edge = Placement(Point(Where.EDGE, edge), others, source, split=True)
        return [on_edge, Placement(bottom, ending, source)]
    if read.single_successor(edge):
        return [Placement(bottom, probes, source)]
    if read.single_predecessor(edge):
        return [Placement(Point(Where.TOP, target), probes, source)]
    if read.splittable(edge):
        return [Placement(Point(Where.EDGE, edge), probes, source)]
    return []


class MergedProbes(NamedTuple):
    """What is to be counted on the merged edges of a target: slots, and path numbers, in order."""

    counters: Mapping[int, Sequence[int]]
    ending: Mapping[int, Sequence[Value | Counted]]


def merged_probes(
    read: FunctionCfg,
    register: Register | None,
    edges: Sequence[tuple[int, Sequence[PlacedProbe]]],
    overlap: Callable[[PlacedProbe], Counted | None] = lambda _: None,
) -> MergedProbes:
    """What the probes of edges that cannot be split count; ``overlap`` tells which overlap one counts."""
    counters: dict[int, list[int]] = {}
    ending: dict[int, list[Value | Counted]] = {}
    for edge, probes in edges:
        value = None if register is None else register.at_end(read.graph.edges[edge].src)
        for placed in probes:
            probe = placed.probe
            assert not isinstance(probe, AddTripCount | EmitTripCount), (
                "trip counts are added on edges that can be split"
            )
            if isinstance(probe, Count):
                counters.setdefault(edge, []).append(probe.slot)
            elif isinstance(probe, Ending):
                ending.setdefault(edge, []).append(ended_path(probe, value))
            elif (counted := overlap(placed)) is not None:
                ending.setdefault(edge, []).append(counted)
            if register is not None:
                value = register.after(value, (probe,))
    return MergedProbes(counters, ending)


def ended_path(probe: Ending, value: Value | None) -> Value:
    """The number of the path that a probe counts or records, given the path register before it."""
    match probe:
        case BumpAt(number) | EmitRegionAt(number) | EmitWitness(number):
            return Value(None, number)
    assert value is not None, "a path ends whose register was never set"
    return value.plus(probe.add)


def edges_of(probes: Sequence[PlacedProbe]) -> list[int]:
    """The edges that probes are on, in their order."""
    found = {mark.index: None for _, mark in probes if mark is not None and mark.holder is Holder.EDGE}
    return list(found)


def layers(values: Mapping[int, Sequence[object]]) -> range:
    """The layers of what is counted on merged edges: one probe of each edge is in each of them."""
    return range(max(map(len, values.values()), default=0))
