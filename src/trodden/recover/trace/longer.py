"""Counting the longer paths of a trace: two iterations, and parts of two functions at a call (TZG04).

A trace has the truth that overlapping paths only bound.  Of each frame this remembers what its present path
continues: the path before, over a back edge; the prefix with which its caller reached the call; or the path
with which a callee has returned.  When the present path ends, or is cut short, its number is known and the
pair is counted.  So memory grows with the number of different pairs, and not with the length of the trace.

Calls of library functions, by name, are no call sites: who they call continues no path.  A call instruction
enters one procedure at most.  What is entered later in the same call was called by code without probes, and
neither continues the path of the caller nor is continued by it; nor is anything continued on landing pads and
behind calls that return twice.  What a caller did behind a call is followed up to its next call site, because
there another pair begins (:mod:`trodden.plan.overlapping.calls`).

It is what the reader in C does as well (``c/longer.c``).
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from enum import IntEnum
from typing import NamedTuple

from trodden.recover.trace.continued import Continued
from trodden.recover.trace.events import NONE
from trodden.recover.trace.stack import Frame

MOST_PAIRS = 1 << 22
"""So many different pairs are counted one by one, for each process."""


class PairKind(IntEnum):
    """What a pair of paths is: two iterations, a prefix and a callee's path, a callee's path and a suffix."""

    LOOP = 0
    CALL = 1
    RETURN = 2


class TracedPair(NamedTuple):
    """A pair of paths, by the numbers of the function that has the loop or the call, and of the callee.

    ``first`` and ``second`` are numbers of paths; that of a caller's prefix is its sum of values up to
    ``site``, the block of the call, that of what it did behind the call the sum from there on.  ``end`` is
    the block in which the second one was cut short, or where it reached the next call.
    """

    kind: int
    function: int
    callee: int
    site: int
    first: int
    second: int
    end: int


class Untold(NamedTuple):
    """Pairs of a function that are not told one by one.

    They are ``beyond`` the number of pairs that is, or begin before the trace does.
    """

    kind: int
    function: int
    beyond: bool


@dataclass
class PairCounts:
    """How often each pair was executed, and how often others were."""

    pairs: Counter[TracedPair] = field(default_factory=Counter)
    untold: Counter[Untold] = field(default_factory=Counter)
    most: int = field(default=MOST_PAIRS, compare=False)

    def add(self, pair: TracedPair) -> None:
        """One more execution."""
        if pair in self.pairs or len(self.pairs) < self.most:
            self.pairs[pair] += 1
        else:
            self.untold[Untold(pair.kind, pair.function, beyond=True)] += 1

    def unknown(self, kind: PairKind, function: int) -> None:
        """An execution of a pair whose first path began before the trace did."""
        self.untold[Untold(kind, function, beyond=False)] += 1


class PairCounter:
    """Follows the frames of one thread."""

    def __init__(self, counts: PairCounts) -> None:
        self.counts = counts

    def _state(self, frame: Frame) -> Continued:
        found = frame.continued
        if found is None:
            found = frame.continued = Continued(known=False)
        return found

    def entered(self, frame: Frame, caller: Frame | None) -> None:
        """A frame was entered, by the call site of another one or by code without probes."""
        own = frame.continued = Continued()
        if caller is None or not caller.in_call:
            return
        calling = self._state(caller)
        calling.entered += 1
        calling.left = None
        if calling.entered > 1:
            return
        own.direct = True
        if calling.known:
            own.caller = caller.number, caller.at, caller.path
        else:
            self.counts.unknown(PairKind.CALL, caller.number)

    def ended(self, frame: Frame, path: int, joins: bool, leaves: bool) -> None:
        """The path of a frame has ended; the next one ``joins`` it over a back edge, or there is none."""
        own = self._state(frame)
        self._count(frame, own, path, NONE)
        own.before = None
        if joins and own.known:
            own.before = path
        elif joins:
            self.counts.unknown(PairKind.LOOP, frame.number)
        if leaves and own.known:
            own.last = path
        elif leaves and own.direct:
            self.counts.unknown(PairKind.RETURN, frame.number)
        own.known = True

    def calls(self, frame: Frame, site: bool) -> None:
        """A frame has reached a call, which may be a call site."""
        own = self._state(frame)
        if site:
            self._count_return(frame, own, frame.path, frame.at)
        own.entered, own.left = 0, None

    def returns(self, frame: Frame) -> None:
        """The call of a frame returns, before it goes on."""
        own = self._state(frame)
        if own.left is not None:
            own.returned = frame.at, *own.left, frame.path
            own.left = None

    def lands(self, frame: Frame) -> None:
        """The call of a frame is left for a landing pad, or returns twice."""
        self._state(frame).left = None

    def leaves(self, frame: Frame, caller: Frame | None) -> None:
        """A frame returns."""
        own = self._state(frame)
        if caller is None or not own.direct or own.last is None:
            return
        calling = self._state(caller)
        if calling.entered == 1:
            calling.left = frame.number, own.last

    def cut_short(self, frame: Frame) -> None:
        """The path of a frame goes no further."""
        own = self._state(frame)
        self._count(frame, own, frame.path, frame.at)
        frame.continued = Continued(entered=own.entered, direct=own.direct)

    def _count(self, frame: Frame, own: Continued, path: int, end: int) -> None:
        if own.before is not None:
            self.counts.add(TracedPair(PairKind.LOOP, frame.number, NONE, NONE, own.before, path, end))
            own.before = None
        if own.caller is not None:
            function, site, prefix = own.caller
            self.counts.add(TracedPair(PairKind.CALL, function, frame.number, site, prefix, path, end))
            own.caller = None
        self._count_return(frame, own, path, end)

    def _count_return(self, frame: Frame, own: Continued, path: int, end: int) -> None:
        if own.returned is not None:
            site, callee, returned, mark = own.returned
            pair = TracedPair(PairKind.RETURN, frame.number, callee, site, returned, path - mark, end)
            self.counts.add(pair)
            own.returned = None
