"""One activation of a procedure that is traced: its register, its bits, its trip counts and records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from trodden.graph.cfg import Graph
from trodden.plan.probes import (
    WORD,
    Add,
    Count,
    EmitBits,
    EmitEntry,
    EmitRegion,
    EmitRegionAt,
    EmitTripCount,
    EmitWitness,
    FlushBits,
    Plan,
    Probe,
    Set,
    Trace,
)
from trodden.plan.trace.records import MOST_BITS, Bits, Enter, Record, Symbol, Trips
from trodden.plan.trace.region_graph import flow_out

MANY_BITS = 24
"""As soon as this many bits are waiting, a flush that is not forced writes them."""


@dataclass(frozen=True)
class Procedure:
    """A procedure that is traced.

    ``callees[v]`` are the procedures that the call of block ``v`` may enter directly; a call that the plan
    knows to be certain is in its trace.  ``outside`` are the call blocks that may call code without probes,
    ``resuming`` those whose edge to EXIT continues to unwind the stack.
    """

    graph: Graph
    plan: Plan
    callees: dict[int, tuple[int, ...]] = field(default_factory=dict)
    outside: frozenset[int] = frozenset()
    resuming: frozenset[int] = frozenset()

    @property
    def trace(self) -> Trace:
        """How it is traced."""
        if self.plan.trace is None:
            raise ValueError(f"{self.graph.name}: the plan records no trace")
        return self.plan.trace

    def way_back(self, block: int) -> int | None:
        """The edge on which control goes on when the call of a block returns, if it can."""
        for edge in flow_out(self.graph, block):
            target = self.graph.edges[edge].dst
            if target not in self.trace.landings and target != self.graph.exit:
                return edge
        return None

    def way_to_land(self, block: int) -> int | None:
        """The edge to the landing pad of a call."""
        for edge in flow_out(self.graph, block):
            if self.graph.edges[edge].dst in self.trace.landings:
                return edge
        return None


class Activation:
    """An activation of a procedure in ``block``; it adds to ``records`` and to the plan's ``counters``.

    ``resumable`` are the blocks whose call has returned and may do so again.
    """

    def __init__(self, number: int, procedure: Procedure, records: list[Record], counters: list[int]) -> None:
        self.number = number
        self.procedure = procedure
        self.block = procedure.graph.root
        self.resumable: list[int] = []
        self._records = records
        self._counters = counters
        self._register: int | None = None
        self._bits = self._waiting = 0
        self._trips = dict.fromkeys(procedure.trace.counted, 0)

    def enter(self) -> None:
        """Control enters the procedure."""
        self.fire(self.procedure.plan.on_entry)
        self.arrive()

    def arrive(self) -> None:
        """Control arrives in a block: all that is done before its call, if it has one."""
        self.fire(self.procedure.plan.on_blocks.get(self.block, ()))
        if self.block in self.procedure.trace.calls and self._waiting:
            raise ValueError(f"{self.procedure.graph.name}: bits wait across the call of block {self.block}")

    def take(self, edge: int) -> None:
        """Control takes an edge, which leads to a block or to EXIT."""
        _, target, _ = self.procedure.graph.edges[edge]
        if edge in self._trips:
            self._trips[edge] += 1
        self.fire(self.procedure.plan.on_edges.get(edge, ()))
        for loop in self._trips:
            if edge != loop and target == self.procedure.graph.edges[loop].dst:
                self._trips[loop] = 0
        self.block = target

    def fire(self, probes: Sequence[Probe]) -> None:
        """Execute probes."""
        for probe in probes:
            match probe:
                case Set(value):
                    self._register = value % WORD
                case Add(value):
                    self._register = (self._held() + value) % WORD
                case EmitEntry():
                    self._records.append(Enter(self.number))
                case EmitRegion(add):
                    self._records.append(Symbol((self._held() + add) % WORD))
                case EmitRegionAt(number) | EmitWitness(number):
                    self._records.append(Symbol(number))
                case EmitTripCount(loop):
                    self._records.append(Trips(self._trips[loop]))
                case EmitBits(value, bits):
                    self._append(value, bits)
                case FlushBits(forced):
                    if forced or self._waiting >= MANY_BITS:
                        self._records.append(Bits(self._bits, self._waiting))
                        self._bits = self._waiting = 0
                case Count(slot):
                    self._counters[slot] += 1
                case _:
                    raise ValueError(f"{self.procedure.graph.name}: {probe} records no trace")

    def _append(self, value: int, bits: int) -> None:
        self._bits = self._bits << bits | value & (1 << bits) - 1
        self._waiting += bits
        if self._waiting > MOST_BITS:
            raise ValueError(f"{self.procedure.graph.name}: more than {MOST_BITS} bits wait")

    def _held(self) -> int:
        if self._register is None:
            raise ValueError(f"{self.procedure.graph.name}: the register is used before it is set")
        return self._register
