"""Emit the code of the probes that record a trace.

Which region has ended is known as the number of a path is: a constant, or a phi plus a constant.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.native.analysis.function_cfg import FunctionCfg
from trodden.native.analysis.induction import Induction
from trodden.native.lower.builder import Builder
from trodden.native.lower.counter_access import CounterAccess
from trodden.native.lower.emit.bits import BitsEmitter
from trodden.native.lower.emit.register_phis import PathRegister
from trodden.native.lower.emit.trace_cursor import PointCursor, TraceCursor
from trodden.native.lower.emit.trace_records import RecordWriter, before_call, starts_at
from trodden.native.lower.emit.trip_counts import emit_trip_count
from trodden.native.lower.function_lowering import FunctionLowering
from trodden.native.lower.insertions import Emitted, Insertion, Point, Where
from trodden.native.lower.probe_locations import PlacedProbe, ProbeLocations, ended_path
from trodden.plan.overlapping.registers import Counted
from trodden.plan.paths.locations import Holder
from trodden.plan.paths.path_register import Value
from trodden.plan.probes import (
    EmitBits,
    EmitEntry,
    EmitRegion,
    EmitRegionAt,
    EmitTripCount,
    EmitWitness,
    FlushBits,
    Plan,
    Trace,
)
from trodden.plan.trace.records import LAND, RESUME, SYMBOLS
from trodden.plan.trace.regions import RegionNumbering
from trodden.program.debug_variables import base_name

_RECORDING = EmitEntry | EmitTripCount | EmitRegion | EmitRegionAt | EmitWitness | FlushBits


@dataclass(frozen=True)
class TraceEmitter:
    """Emits the code of trace probes in one function.

    ``wide`` are the blocks at whose end a number may be too large for a single byte.
    """

    graph: Graph
    trace: Trace
    register: PathRegister
    bits: BitsEmitter | None
    writer: RecordWriter
    cursor: TraceCursor
    inductions: Mapping[int, Induction]
    wide: frozenset[int]

    @staticmethod
    def of(
        lowering: FunctionLowering,
        plan: Plan,
        register: PathRegister | None,
        locations: ProbeLocations,
        inductions: Mapping[int, Induction],
        unlikely: int | None,
        optnone: bool,
    ) -> TraceEmitter | None:
        """The emitter for a plan that has a trace; ``unlikely`` are the weights of a branch."""
        if plan.trace is None or register is None or unlikely is None:
            return None
        graph, encoding = lowering.read.graph, plan.trace.encoding
        writer = RecordWriter(lowering.number, unlikely)
        recording = () if optnone else _recording_points(lowering.read, plan.trace, locations)
        return TraceEmitter(
            graph,
            plan.trace,
            register,
            BitsEmitter.of(lowering, plan, writer) if encoding == "bits" else None,
            writer,
            TraceCursor.of(lowering, recording),
            inductions,
            _wide_ends(graph, plan.trace) if encoding == "paths" else frozenset(),
        )

    def emit(
        self,
        builder: Builder,
        access: CounterAccess,
        probes: Sequence[PlacedProbe],
        locations: Sequence[str | None],
        value: Value | None,
    ) -> None:
        """What probes do, one after the other; ``value`` is the path register before them."""
        assert builder.point is not None, "a record belongs to a point"
        cursor = self.cursor.at(builder.point)
        for (probe, mark), location in zip(probes, locations, strict=True):
            builder.location = location
            if isinstance(probe, EmitEntry):
                self.writer.entry(builder, cursor, starts_at(self.graph.root))
            elif isinstance(probe, EmitTripCount) and mark is not None:
                self.writer.trips(builder, cursor, emit_trip_count(builder, self.inductions[probe.back_edge]))
            elif mark is not None:
                source, after = self._ends_at(mark.holder, mark.index)
                if isinstance(probe, EmitRegion | EmitRegionAt | EmitWitness):
                    number = self.operand(builder, ended_path(probe, value))
                    self.writer.symbol(builder, cursor, number, source in self.wide, after)
            value = self.register.values.after(value, (probe,))
        if self.bits is not None:
            self._emit_bits(builder, self.bits, cursor, probes)

    def _emit_bits(
        self, builder: Builder, bits: BitsEmitter, cursor: PointCursor, probes: Sequence[PlacedProbe]
    ) -> None:
        """The probes of bits, which belong together: those of one edge or block."""
        marks = {mark for probe, mark in probes if mark and isinstance(probe, EmitBits | FlushBits)}
        for holder, index in sorted({(mark.holder.value, mark.index) for mark in marks}):
            _, after = self._ends_at(Holder(holder), index)
            if Holder(holder) is Holder.BLOCK:
                bits.before_call(builder, cursor, index, after)
            else:
                bits.on_edge(builder, cursor, index, after)

    def count_if(self, builder: Builder, access: CounterAccess, target: int, path: str, ended: str) -> None:
        """Write a number that is a phi of ``target``, if ``ended`` is 1 and not 0."""
        sources = (self.graph.edges[edge].src for edge in self.graph.in_edges[target])
        wide = not self.wide.isdisjoint(sources)
        cursor = self.cursor.at(Point(Where.TOP, target))
        self.writer.symbol_if(builder, cursor, f"%{path}", ended, wide, starts_at(target))

    def enter_if(self, builder: Builder, path: str, ended: str) -> None:
        """Nothing: the number has been written."""

    def operand(self, builder: Builder, value: Value) -> str:
        """A value of the register as an operand; adding its constant is an instruction."""
        if value.base is None:
            return str(value.add)
        operand = f"%{base_name(value.base)}"
        return operand if value.add == 0 else builder.value(f"add i64 {operand}, {value.add}")

    def ended(self, builder: Builder, ended: Value | Counted) -> tuple[str, str]:
        """A number as an operand, and how often it is written."""
        assert isinstance(ended, Value), "a trace has no overlaps"
        return self.operand(builder, ended), "1"

    def entry(self, lowering: FunctionLowering, plan: Plan) -> Insertion:
        """What is written when the function is entered."""
        at = Point(Where.ENTRY, 0)
        builder = lowering.builder(at)
        on_entry = [PlacedProbe(probe, None) for probe in plan.on_entry]
        self.emit(builder, lowering.access, on_entry, [None] * len(on_entry), None)
        return lowering.insert(at, builder.lines)

    def arrivals(self, lowering: FunctionLowering) -> Emitted:
        """The records of calls that return twice, and of landing pads: first when control is there."""
        insertions: list[Insertion] = []
        for block in self.trace.resumes:
            edge = _resume_edge(self.graph, self.trace, block)
            builder, point = lowering.builder(), _resume_point(lowering.read, block, edge)
            after = starts_at(self.graph.edges[edge].dst)
            self.writer.block(builder, self.cursor.at(point), RESUME, block, after)
            insertions.append(lowering.insert(point, builder.lines))
        for block in self.trace.landings:
            builder, point = lowering.builder(), Point(Where.TOP, block)
            self.writer.block(builder, self.cursor.at(point), LAND, block, starts_at(block))
            insertions.append(lowering.insert(point, builder.lines))
        if self.bits is None:
            return Emitted(insertions)
        bits = self.bits.emit_phis(self.cursor)
        return Emitted([*insertions, *bits.insertions], bits.phis)

    def _ends_at(self, holder: Holder, index: int) -> tuple[int, int]:
        """The block at whose end a probe is, and the location after it."""
        if holder is Holder.BLOCK:
            return index, before_call(index)
        source, target, _ = self.graph.edges[index]
        return source, before_call(target) if target == self.graph.exit else starts_at(target)


def _recording_points(read: FunctionCfg, trace: Trace, locations: ProbeLocations) -> set[Point]:
    """Where something is recorded."""
    found = {
        placement.point
        for group in locations.placements
        for placement in group
        if any(isinstance(probe, _RECORDING) for probe, _ in placement.probes)
    }
    found.update(Point(Where.TOP, target) for target in locations.merged)
    found.update(Point(Where.TOP, block) for block in trace.landings)
    found.update(
        _resume_point(read, block, _resume_edge(read.graph, trace, block)) for block in trace.resumes
    )
    return found | {Point(Where.ENTRY, 0)}


def _resume_edge(graph: Graph, trace: Trace, block: int) -> int:
    """The edge along which the call of a block, which may return twice, returns."""
    (edge,) = (e for e in graph.out_edges[block] if graph.edges[e].dst not in trace.landings)
    return edge


def _resume_point(read: FunctionCfg, block: int, edge: int) -> Point:
    """Where it is recorded that such a call has returned."""
    invoked = read.ir.blocks[block].opcode == "invoke"
    return Point(Where.EDGE, edge) if invoked else Point(Where.AFTER_CALL, block)


def _wide_ends(graph: Graph, trace: Trace) -> frozenset[int]:
    """The blocks that regions reach from starts with more of them than a byte can number."""
    numbering = RegionNumbering(graph, trace)
    dag = numbering.dag
    wide = {start for start in numbering.starts if numbering.paths(start) > SYMBOLS}
    if wide:
        for node in dag.order[1:]:
            if node in wide:
                wide.update(dag.arcs[number].dst for number in dag.outs[node])
    return frozenset(wide)
