"""Emit the code that appends bits to a trace: to the register first, and from there to the trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from trodden.native.lower.builder import Builder
from trodden.native.lower.emit.bits_register import (
    EMPTY,
    MANY,
    BitsRegister,
    Held,
    after_bits,
    after_flush,
    appending,
    bit_probes,
    has_room,
    needed_phis,
    track_bits,
)
from trodden.native.lower.emit.trace_cursor import PointCursor, TraceCursor
from trodden.native.lower.emit.trace_records import RecordWriter, starts_at
from trodden.native.lower.function_lowering import FunctionLowering
from trodden.native.lower.insertions import Emitted, Insertion, Phi, Point, ValuePhi, Where
from trodden.plan.probes import EmitBits, FlushBits, Plan

_NEVER = "-1"


@dataclass(frozen=True)
class BitsEmitter:
    """Emits the code of the probes that record bits in one function."""

    lowering: FunctionLowering
    plan: Plan
    register: BitsRegister
    writer: RecordWriter

    @staticmethod
    def of(lowering: FunctionLowering, plan: Plan, writer: RecordWriter) -> BitsEmitter:
        """The emitter for a plan that records bits."""
        return BitsEmitter(lowering, plan, track_bits(lowering.read, plan), writer)

    def before_call(self, builder: Builder, cursor: PointCursor, block: int, location: int) -> None:
        """Write the bits that wait in front of the call of a block."""
        held = self.register.at.get(block, EMPTY)
        self.writer.bits(builder, cursor, held.operand, held.most, location)

    def on_edge(self, builder: Builder, cursor: PointCursor, edge: int, location: int) -> None:
        """What the probes of an edge do that has room for code."""
        self._emit(builder, cursor, edge, bit_probes(self.plan.on_edges[edge]), location)

    def emit_phis(self, cursor: TraceCursor) -> Emitted:
        """The phis, and the code of edges that cannot be split."""
        insertions: list[Insertion] = []
        phis: list[Phi] = []
        lowering, graph = self.lowering, self.lowering.read.graph
        for edge, all_probes in self.plan.on_edges.items():
            probes = appending(bit_probes(all_probes))
            if probes and not has_room(lowering.read, edge):
                builder = lowering.builder()
                bottom = Point(Where.BOTTOM, graph.edges[edge].src)
                self._emit(builder, cursor.at(bottom), edge, probes, 0)
                insertions.append(lowering.insert(bottom, builder.lines))
        for block, arriving in needed_phis(self.register, lowering.read).items():
            incoming = {edge: held.operand for edge, held in arriving.items()}
            phis.append(ValuePhi(block, self.register.arriving(block), incoming, EMPTY.operand))
            by_source: dict[int, set[str]] = defaultdict(set)
            for edge, operand in incoming.items():
                by_source[graph.edges[edge].src].add(operand)
            insertions += [
                lowering.insert(Point(Where.EDGE, edge), [])
                for edge in incoming
                if len(by_source[graph.edges[edge].src]) > 1
            ]
        for block, edges in self.register.merged.items():
            builder, top = lowering.builder(), Point(Where.TOP, block)
            phis += self._emit_merged(builder, cursor.at(top), block, edges)
            insertions.append(lowering.insert(top, builder.lines))
        return Emitted(insertions, phis)

    def _emit_merged(
        self, builder: Builder, cursor: PointCursor, block: int, edges: Collection[int]
    ) -> list[Phi]:
        """What is written on edges that cannot be split, in their target; phis say what that is."""
        probes = {edge: bit_probes(self.plan.on_edges[edge]) for edge in edges}
        phis: list[Phi] = []

        def chosen(values: Mapping[int, int], otherwise: str) -> str:
            name = self.lowering.names.value()
            phis.append(ValuePhi(block, name, {e: str(value) for e, value in values.items()}, otherwise))
            return f"%{name}"

        most = self.register.at[block].most
        held = Held(f"%{self.register.arriving(block)}", most)
        location = starts_at(block)
        limits = {edge: _limit(each[-1]) for edge, each in probes.items() if isinstance(each[-1], FlushBits)}
        name = self.register.at[block].operand[1:]
        self._flush(builder, cursor, held, chosen(limits, _NEVER), location, name)
        return phis

    def _emit(
        self,
        builder: Builder,
        cursor: PointCursor,
        edge: int,
        probes: Sequence[EmitBits | FlushBits],
        location: int,
    ) -> None:
        source = self.lowering.read.graph.edges[edge].src
        flushed = bool(bit_probes(self.plan.on_blocks.get(source, ())))
        held = EMPTY if flushed else self.register.at.get(source, EMPTY)
        after = self.register.along.get(edge, EMPTY).operand
        name = "" if after.isdecimal() else after[1:]
        for probe in probes:
            last = name if probe is probes[-1] else ""
            if isinstance(probe, EmitBits):
                held = self._append(builder, held, probe, last)
            elif probe.forced or (held.constant is not None and held.most >= MANY):
                self.writer.bits(builder, cursor, held.operand, held.most, location)
                held = EMPTY
            elif held.most >= MANY:
                held = self._flush(builder, cursor, held, str(1 << MANY), location, last)
            elif last and held.operand != after:
                held = Held(builder.define(last, f"add i64 {held.operand}, 0"), held.most)

    def _append(self, builder: Builder, held: Held, probe: EmitBits, name: str) -> Held:
        after = after_bits(held, probe)
        if after.operand:
            return after
        shift = f"shl i64 {held.operand}, {probe.bits}"
        if not probe.value:
            return Held(builder.define(name, shift) if name else builder.value(shift), after.most)
        both = f"or i64 {builder.value(shift)}, {probe.value}"
        return Held(builder.define(name, both) if name else builder.value(both), after.most)

    def _flush(
        self, builder: Builder, cursor: PointCursor, held: Held, limit: str, location: int, name: str
    ) -> Held:
        """Write the bits if the register is not below a limit."""
        unmoved = cursor.load(builder) if cursor.kept else None
        before, flush, flushed, done = (builder.reserve() for _ in range(4))
        builder.emit(f"br label %{before}")
        builder.label(before)
        many = builder.value(f"icmp uge i64 {held.operand}, {limit}")
        builder.emit(f"br i1 {many}, label %{flush}, label %{done}")
        builder.label(flush)
        self.writer.bits(builder, cursor, held.operand, held.most, location)
        builder.emit(f"br label %{flushed}")
        builder.label(flushed)
        builder.emit(f"br label %{done}")
        builder.label(done)
        if cursor.kept:
            cursor.operand = builder.value(
                f"phi ptr [ {unmoved}, %{before} ], [ {cursor.load(builder)}, %{flushed} ]"
            )
        left = f"phi i64 [ {held.operand}, %{before} ], [ 1, %{flushed} ]"
        most = held.most if limit.startswith("%") else after_flush(held).most
        return Held(builder.define(name, left) if name else builder.value(left), most)


def _limit(flush: EmitBits | FlushBits) -> int:
    """From which value of the register on its bits are written."""
    return 1 if isinstance(flush, FlushBits) and flush.forced else 1 << MANY
