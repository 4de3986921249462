"""Regeneration in its simplest form: Figure 14 of BL94 with a stack, for all encodings.

What is certain to come is taken at once, so a thread that was killed is followed as far as it has come.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trodden.graph.cfg import Graph
from trodden.plan.probes import EmitWitness, FlushBits, Probe, Trace
from trodden.plan.trace.execution import Ending, Program, Step, ThreadRun, call_site
from trodden.plan.trace.predicates import witness_sets
from trodden.plan.trace.records import (
    Bits,
    Enter,
    Event,
    Land,
    Left,
    Record,
    Resume,
    Symbol,
    Sync,
    Trips,
    decode_all,
)
from trodden.plan.trace.region_graph import flow_out
from trodden.plan.trace.regions import RegionEnd, RegionNumbering
from trodden.plan.trace.witnesses import witnesses_of


class Missing(Exception):
    """The next record of an activation is not there (yet)."""


@dataclass
class Frame:
    """An activation: waiting in the call of a block, or on its way from a block."""

    procedure: int
    block: int
    in_call: bool = False
    trips: list[int] = field(default_factory=list)
    bits: list[int] | None = None
    used: int = 0


class Reader:
    """The records of a thread become steps."""

    def __init__(self, program: Program, run: ThreadRun) -> None:
        self.program = program
        self.run = run
        found = [record for _, record in decode_all(run.data)]
        self.records: list[Record] = [record for record in found if not isinstance(record, Event)]
        self.position = 0
        self.stack: list[Frame] = []
        self.steps: list[Step] = []
        self.numberings = [
            RegionNumbering(procedure.graph, procedure.trace) if procedure.trace.encoding == "paths" else None
            for procedure in program.procedures
        ]
        self.sets = [
            witness_sets(p.graph, witnesses_of(p.trace), p.trace.calls, p.trace.counted)
            if p.trace.encoding == "witnesses"
            else {}
            for p in program.procedures
        ]

    def read(self) -> list[Step]:
        try:
            while self.position < len(self.records):
                self.go_on()
        except Missing:
            assert self.run.ending is Ending.KILLED
            return self.steps
        self.finish()
        return self.steps

    def finish(self) -> None:
        """What follows from who is active at the end."""
        if self.run.ending is Ending.KILLED:
            return
        while True:
            self.run_on()
            if tuple((frame.procedure, frame.block) for frame in reversed(self.stack)) == self.run.frames:
                return
            self.call_returned()

    def go_on(self) -> None:
        """Use at least one record."""
        self.run_on()
        if self.position == len(self.records):
            return
        match self.records[self.position]:
            case Enter(function):
                self.position += 1
                self.stack.append(Frame(function, self.graph_of(function).root))
                self.step()
            case Left(address):
                self.position += 1
                site = call_site(address)
                if site is not None:
                    top = self.stack.pop()
                    assert (top.procedure, top.block) == site
            case Sync(frames):
                self.position += 1
                sites = [site for address in reversed(frames) if (site := call_site(address)) is not None]
                self.stack = [Frame(procedure, block, True) for procedure, block in sites]
            case Resume(block):
                self.position += 1
                self.stack[-1].block = block
                self.call_returned()
            case Land(block):
                self.position += 1
                self.stack[-1].block = block
                self.stack[-1].in_call = False
                self.step()
            case _:
                self.call_returned()

    def graph_of(self, procedure: int) -> Graph:
        return self.program.procedures[procedure].graph

    def trace_of(self, procedure: int) -> Trace:
        return self.program.procedures[procedure].trace

    def step(self) -> None:
        """A block was executed.  A thread that was killed in an endless loop is not followed for ever."""
        if self.run.ending is Ending.KILLED and len(self.steps) >= len(self.run.steps):
            raise Missing
        frame = self.stack[-1]
        self.steps.append(Step(len(self.stack) - 1, frame.procedure, frame.block))

    def call_returned(self) -> None:
        frame = self.stack[-1]
        edge = self.program.procedures[frame.procedure].way_back(frame.block)
        assert edge is not None
        self.use(frame, self.program.procedures[frame.procedure].plan.on_edges.get(edge, ()))
        frame.block = self.graph_of(frame.procedure).edges[edge].dst
        frame.in_call = False
        self.step()

    def run_on(self) -> None:
        """Advance the innermost activation, and those that it certainly calls, until one waits in a call."""
        while self.stack and not self.stack[-1].in_call:
            frame = self.stack[-1]
            self.advance(frame)
            graph, trace = self.graph_of(frame.procedure), self.trace_of(frame.procedure)
            if frame.block == graph.exit:
                self.stack.pop()
            elif frame.block in trace.calls:
                frame.in_call = True
                if frame.block in trace.tails:
                    self.stack.pop()
                known = trace.calls[frame.block]
                if known is not None:
                    self.stack.append(Frame(known, self.graph_of(known).root))
                    self.step()

    def take(self, kind: type[Record]) -> Record:
        """The next record, which must be of a kind."""
        if self.position == len(self.records):
            raise Missing
        record = self.records[self.position]
        assert isinstance(record, kind), (record, kind)
        self.position += 1
        return record

    def advance(self, frame: Frame) -> None:
        """Go on from a block whose step is known, to a call or to EXIT."""
        numbering = self.numberings[frame.procedure]
        if numbering is not None:
            self.advance_by_regions(frame, numbering)
        else:
            self.advance_by_blocks(frame)

    def next_but_trips(self, frame: Frame) -> Record:
        """The next record of an activation, with the trip counts before it put aside."""
        while True:
            if self.position == len(self.records):
                raise Missing
            record = self.records[self.position]
            if not isinstance(record, Trips):
                return record
            frame.trips.append(record.count)
            self.position += 1

    def advance_by_blocks(self, frame: Frame) -> None:
        graph, trace = self.graph_of(frame.procedure), self.trace_of(frame.procedure)
        plan = self.program.procedures[frame.procedure].plan
        loops = {graph.edges[edge].src for edge in trace.counted}
        while True:
            self.use(frame, plan.on_blocks.get(frame.block, ()))
            if frame.block in trace.calls:
                assert not frame.trips
                return
            if frame.block in loops:
                if not frame.trips:
                    self.next_but_trips_or_call(frame)
                for _ in range(frame.trips.pop(0)):
                    self.step()
            ways = [edge for edge in flow_out(graph, frame.block) if edge not in trace.counted]
            if not ways:
                raise Missing
            edge = self.choose(frame, ways) if len(ways) > 1 else ways[0]
            self.use(frame, plan.on_edges.get(edge, ()))
            frame.block = graph.edges[edge].dst
            if frame.block == graph.exit:
                return
            self.step()

    def next_but_trips_or_call(self, frame: Frame) -> None:
        record = self.take(Trips)
        assert isinstance(record, Trips)
        frame.trips.append(record.count)

    def choose(self, frame: Frame, ways: list[int]) -> int:
        """The way that control has taken from a predicate."""
        procedure = self.program.procedures[frame.procedure]
        if procedure.trace.encoding == "bits":
            if not frame.bits:
                record = self.next_but_trips(frame)
                assert isinstance(record, Bits)
                self.position += 1
                frame.bits = [record.value >> place & 1 for place in reversed(range(record.count))]
            width = (len(ways) - 1).bit_length()
            number = int("".join(map(str, frame.bits[:width])), 2)
            del frame.bits[:width]
            frame.used += width
            return ways[number]
        record = self.next_but_trips(frame)
        assert isinstance(record, Symbol)
        sets = self.sets[frame.procedure]
        (way,) = (way for way in ways if record.number in sets[way])
        return way

    def use(self, frame: Frame, probes: Sequence[Probe]) -> None:
        """What these probes have written has been read."""
        for probe in probes:
            if isinstance(probe, EmitWitness):
                record = self.next_but_trips(frame)
                assert record == Symbol(probe.witness)
                self.position += 1
            elif isinstance(probe, FlushBits) and (probe.forced or frame.used >= 24):
                if frame.bits is None:
                    record = self.next_but_trips(frame)
                    assert record == Bits(0, 0)
                    self.position += 1
                assert not frame.bits
                frame.bits, frame.used = None, 0

    def advance_by_regions(self, frame: Frame, numbering: RegionNumbering) -> None:
        graph = self.graph_of(frame.procedure)
        while True:
            start = frame.block
            trips: list[int] = []
            number = 0
            if not numbering.silent(start):
                while self.position < len(self.records) and isinstance(
                    record := self.records[self.position], Trips
                ):
                    trips.append(record.count)
                    self.position += 1
                symbol = self.take(Symbol)
                assert isinstance(symbol, Symbol)
                number = symbol.number
                region = numbering.expand(start, number)
            else:
                region = numbering.expand(start, 0)
                for _ in region.loops:
                    record = self.take(Trips)
                    assert isinstance(record, Trips)
                    trips.append(record.count)
            assert len(trips) == len(region.loops)
            self.show(frame, region.blocks, region.loops, trips)
            if region.ends is RegionEnd.EXIT:
                frame.block = graph.exit
                return
            if region.ends is RegionEnd.CALL:
                return
            if region.next_start is None:
                raise Missing
            frame.block = region.next_start
            self.step()

    def show(self, frame: Frame, blocks: Sequence[int], loops: Sequence[int], trips: Sequence[int]) -> None:
        """The steps of a region, the first of which is there."""
        turns = {
            self.graph_of(frame.procedure).edges[loop].src: n for loop, n in zip(loops, trips, strict=True)
        }
        for position, block in enumerate(blocks):
            frame.block = block
            for _ in range(turns.get(block, 0) + (position > 0)):
                self.step()
