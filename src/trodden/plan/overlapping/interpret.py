"""The reference interpreter of overlapping paths in one procedure, beside :mod:`trodden.plan.interpret`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from trodden.graph.cfg import Graph
from trodden.plan.interpret import Activation, PathTally, Walk
from trodden.plan.overlap_probes import (
    AddOverlap,
    BumpOverlap,
    Channel,
    ClearOverlap,
    CountPredicate,
    StartOverlap,
    StartOverlapAt,
)
from trodden.plan.probes import WORD, Plan, Probe

_ANYTHING = WORD - 1


@dataclass
class Overlap:
    """The state of one channel: ``ro``, ``ol``, and the depth of what the overlap belongs to, 0 for none.

    While there is none, ``ro`` and ``ol`` hold what is left of an earlier one, as registers do.
    """

    register: int = 0
    passed: int = 0
    depth: int = 0

    def start(self, register: int, passed: int = 0, depth: int = 1) -> None:
        """An overlap begins."""
        self.register, self.passed, self.depth = register % WORD, passed, depth

    def add(self, value: int, limit: int | None) -> None:
        """``ro += value``, unless too many predicates have been passed."""
        if limit is None or self.passed <= limit:
            self.register = (self.register + value) % WORD

    def ends(self, above: int) -> bool:
        """Whether there is an overlap that a BumpOverlap counts; if so, it ends."""
        if self.depth <= above:
            return False
        self.depth = 0
        return True


class OverlappingActivation(Activation):
    """One activation of a procedure with overlaps over back edges."""

    def __init__(self, graph: Graph, plan: Plan, recorded: PathTally) -> None:
        super().__init__(graph, plan, recorded)
        self.overlaps = {channel: Overlap() for channel in Channel}
        self._used: set[Channel] = set()

    def counts(self, probe: Probe) -> bool:
        """A jump does not count the overlap that was active where it came from: losing control there did."""
        return isinstance(probe, BumpOverlap) or super().counts(probe)

    def cut_short(self) -> None:
        """Control is lost in a block, and an active overlap has ended there.

        Of one over a back edge the register is recorded beside that of the path; of others it is the number.
        If a jump comes back to this activation its registers hold anything.
        """
        super().cut_short()
        for channel in sorted(self._used, key=lambda channel: channel.value):
            overlap = self.overlaps[channel]
            if overlap.depth and channel is Channel.LOOP:
                key = self.block, self.register, overlap.register
                self._recorded.overlaps[key] = self._recorded.overlaps.get(key, 0) + 1
            elif overlap.depth:
                self.count_overlap(channel, overlap)
            overlap.start(_ANYTHING, _ANYTHING)

    def clear(self, channel: Channel) -> None:
        """No overlap is active."""
        self._used.add(channel)
        self.overlaps[channel].depth = 0

    def count_overlap(self, channel: Channel, overlap: Overlap) -> None:
        """Count an overlap that has ended."""
        self.bump(overlap.register)

    def execute(self, probe: Probe) -> None:
        """Execute one probe."""
        match probe:
            case StartOverlap(add, passed, depth):
                self.overlaps[Channel.LOOP].start(self.held() + add, passed, depth)
            case StartOverlapAt(number, passed, depth):
                self.overlaps[Channel.LOOP].start(number, passed, depth)
            case CountPredicate(channel):
                self.overlaps[channel].passed += 1
            case AddOverlap(channel, value, limit):
                self.overlaps[channel].add(value, limit)
            case BumpOverlap(channel, above):
                if self.overlaps[channel].ends(above):
                    self.count_overlap(channel, self.overlaps[channel])
            case ClearOverlap(channel):
                self.clear(channel)
            case _:
                super().execute(probe)


def interpret_overlaps(graph: Graph, plan: Plan, walks: Iterable[Walk]) -> PathTally:
    """Everything that a plan's probes record of the walks, one activation after the other."""
    recorded = PathTally([0] * plan.slots, {}, {})
    for walk in walks:
        OverlappingActivation(graph, plan, recorded).follow(walk)
    return recorded
