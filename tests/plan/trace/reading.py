"""Regeneration in its simplest form: Figure 14 of BL94 with a stack, for all encodings.

What is certain to come is taken at once, so a thread that was killed may be further here than it was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.plan.probes import Trace
from trodden.plan.trace.execution import Ending, Program, Step, ThreadRun, call_site
from trodden.plan.trace.records import (
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
from trodden.plan.trace.regions import RegionEnd, RegionNumbering


class Missing(Exception):
    """The next record of an activation is not there (yet)."""


@dataclass
class Frame:
    """An activation: waiting in the call of a block, or on its way from a block."""

    procedure: int
    block: int
    in_call: bool = False


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
        frame = self.stack[-1]
        self.steps.append(Step(len(self.stack) - 1, frame.procedure, frame.block))

    def call_returned(self) -> None:
        frame = self.stack[-1]
        edge = self.program.procedures[frame.procedure].way_back(frame.block)
        assert edge is not None
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
        assert numbering is not None
        self.advance_by_regions(frame, numbering)

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
