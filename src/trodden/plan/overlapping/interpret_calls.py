"""The reference interpreter of programs that count paths over calls and returns (TZG04 §3.3, Figure 4).

It is told what one thread does and executes the probes on the way.  What caller and callee tell each other is
where a thread keeps it; what a caller knows of its own call, and the key of an overlap, belong to its
activation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from trodden.graph.cfg import Graph
from trodden.plan.interpret import PathTally
from trodden.plan.overlap_probes import (
    Channel,
    PairOverlap,
    PairOverlapAt,
    PublishCall,
    PublishCallAt,
    PublishReturn,
    PublishReturnAt,
    TakeCall,
    TakeReturn,
)
from trodden.plan.overlapping.interpret import Overlap, OverlappingActivation
from trodden.plan.probes import WORD, Plan, Probe

_AT_ENDS = (PublishReturn, PublishReturnAt, PairOverlap, PairOverlapAt)


class CallKey(NamedTuple):
    """What an overlap over a call or return is counted by: ``count[i][j][k][l]`` in the paper."""

    callee: int
    site: int
    in_callee: int
    in_caller: int


@dataclass
class CallTally:
    """What a program has counted: the paths of each procedure, and overlaps of both types.

    ``cut_short`` has the pairs whose last path was cut short, in a block and with a register, in place of a
    number.
    """

    paths: list[PathTally]
    entered: Counter[CallKey] = field(default_factory=Counter)
    returned: Counter[CallKey] = field(default_factory=Counter)
    cut_short: Counter[tuple[Channel, CallKey, int, int | None]] = field(default_factory=Counter)

    def of(self, channel: Channel) -> Counter[CallKey]:
        """The overlaps of one type."""
        return self.entered if channel is Channel.ENTERED else self.returned


@dataclass
class _Exchange:
    """What a thread keeps between a call and the callee, and between a return and the caller.

    ``target`` is whom the call is meant for, ``None`` for code without probes.
    """

    call: tuple[int, int] | None = None
    target: int | None = None
    returned: tuple[int, int] | None = None


class _Calling(OverlappingActivation):
    """One activation; ``target`` is whom its last call was meant for."""

    def __init__(self, number: int, graph: Graph, plan: Plan, tally: CallTally, exchange: _Exchange) -> None:
        super().__init__(graph, plan, tally.paths[number])
        self.number = number
        self.target: int | None = None
        self._tally = tally
        self._exchange = exchange
        self._caller = (0, 0)
        self._callee = (0, 0)
        self._site = 0
        self._pairs = False

    def cut_short(self) -> None:
        for channel in (Channel.ENTERED, Channel.RETURNED):
            if self._pairs and self.overlaps[channel].ends(0):
                key = channel, self._key(channel, 0), self.block, self.register
                self._tally.cut_short[key] += 1
        super().cut_short()

    def counts(self, probe: Probe) -> bool:
        return isinstance(probe, _AT_ENDS) or super().counts(probe)

    def count_overlap(self, channel: Channel, overlap: Overlap) -> None:
        if channel is Channel.LOOP:
            super().count_overlap(channel, overlap)
        else:
            self._tally.of(channel)[self._key(channel, overlap.register)] += 1

    def _key(self, channel: Channel, own: int) -> CallKey:
        """The key of an overlap whose part in this procedure has the number ``own``."""
        if channel is Channel.ENTERED:
            site, prefix = self._caller
            return CallKey(self.number, site, own, prefix)
        callee, path = self._callee
        return CallKey(callee, self._site, path, own)

    def execute(self, probe: Probe) -> None:
        match probe:
            case PublishCall(site, add):
                self._publish(site, (self.held() + add) % WORD)
            case PublishCallAt(site, number):
                self._publish(site, number)
            case TakeCall(start):
                self._take_call(start)
            case PublishReturn(add):
                self._exchange.returned = self.number, (self.held() + add) % WORD
            case PublishReturnAt(path):
                self._exchange.returned = self.number, path
            case TakeReturn(site, start):
                self._take_return(site, start)
            case PairOverlap(channel, add):
                self._pair(channel, (self.held() + add) % WORD)
            case PairOverlapAt(channel, path):
                self._pair(channel, path)
            case _:
                super().execute(probe)

    def _pair(self, channel: Channel, path: int) -> None:
        if self.overlaps[channel].ends(0):
            self._tally.of(channel)[self._key(channel, path)] += 1

    def _publish(self, site: int, prefix: int) -> None:
        self._exchange.call = site, prefix
        self._exchange.target = self.target = None

    def _take_call(self, start: int | None) -> None:
        overlap, published = self.overlaps[Channel.ENTERED], self._exchange.call
        self.clear(Channel.ENTERED)
        if published is not None and self._exchange.target == self.number:
            self._exchange.call = None
            self._caller = published
            self._begin(overlap, start)

    def _begin(self, overlap: Overlap, start: int | None) -> None:
        """Something was taken; without a register it waits for the end of the path."""
        self._pairs = start is None
        overlap.start(start or 0)

    def _take_return(self, site: int, start: int | None) -> None:
        overlap, published = self.overlaps[Channel.RETURNED], self._exchange.returned
        if published is not None and published[0] == self.target:
            self._callee, self._site = published, site
            self._begin(overlap, start)


class Thread:
    """A thread that calls procedures, which are known by their number, and code without probes."""

    def __init__(self, procedures: Sequence[tuple[Graph, Plan]]) -> None:
        self._procedures = procedures
        self._exchange = _Exchange()
        self._stack: list[_Calling | None] = []
        self.tally = CallTally([PathTally([0] * plan.slots, {}, {}) for _, plan in procedures])

    def enter(self, number: int) -> None:
        """The innermost frame calls a procedure."""
        self._calls(number)
        graph, plan = self._procedures[number]
        activation = _Calling(number, graph, plan, self.tally, self._exchange)
        self._stack.append(activation)
        activation.begin()

    def leave_probes(self) -> None:
        """The innermost frame calls code without probes."""
        self._calls(None)
        self._stack.append(None)

    def come_back(self) -> None:
        """Code without probes returns."""
        self._stack.pop()

    def take(self, edge: int) -> None:
        """The innermost activation takes an edge; if that leads to EXIT it returns."""
        activation = self._stack[-1]
        assert activation is not None
        activation.take(edge)
        if activation.block == self._procedures[activation.number][0].exit:
            self._stack.pop()

    def lose(self) -> None:
        """The innermost frame is left in the middle: by an exception, a jump, or because the process ends."""
        activation = self._stack.pop()
        if activation is not None:
            activation.cut_short()

    def _calls(self, target: int | None) -> None:
        """A call is made; code without probes that calls back says nothing about it."""
        caller = self._stack[-1] if self._stack else None
        if caller is not None:
            caller.target = self._exchange.target = target
