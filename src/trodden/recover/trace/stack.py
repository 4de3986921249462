"""The frames of a thread whose trace is read, and what they do without a record (BL94, Figure 14).

A frame is in a region, known by the block where that started, or in a call.  Frames of other stacks, which a
switch has left, are kept aside until another switch comes back to them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from trodden.recover.trace.continued import Continued
from trodden.recover.trace.events import NONE, Damage, Event, Kind
from trodden.recover.trace.procedure import NO_CALL, Procedure, Region

MOST_STEPS = 1 << 20
MOST_FRAMES = 1 << 22
MOST_SUSPENDED = 1 << 14


class Program(Protocol):
    """The functions of a process by their numbers, and the calls by the addresses that they return to."""

    def procedure(self, number: int) -> Procedure | None:
        """The tables of a function."""

    def base(self, number: int) -> int:
        """The number of the first function of the same unit."""

    def frames_at(self, module: int, address: int) -> Sequence[tuple[int, int]]:
        """The function and the block of a call that returns to an address; several if it is not certain."""


class Frame:
    """An activation: in the region that starts at ``at``, or ``in_call`` of block ``at``.

    ``path`` and ``continued`` are for those who count paths, and longer ones.
    """

    __slots__ = ("at", "code", "continued", "in_call", "number", "path", "trips")

    def __init__(self, number: int, code: Procedure, at: int, in_call: bool) -> None:
        self.number = number
        self.code = code
        self.at = at
        self.in_call = in_call
        self.trips: list[int] = []
        self.path = 0
        self.continued: Continued | None = None


class Contradiction(Exception):
    """A record does not fit what the frames can have done."""

    def __init__(self, damage: Damage) -> None:
        self.damage = damage


class Stack:
    """The active frames, and the events of what they have executed."""

    def __init__(self, program: Program) -> None:
        self._program = program
        self._stack: list[Frame] = []
        self._bases: list[int] = [0]
        self._suspended: list[tuple[int, list[Frame]]] = []
        self.position = 0
        self._events: list[Event] = []

    @property
    def frames(self) -> list[tuple[int, int, bool]]:
        """The active frames, outermost first: function, block, and whether it is in a call there."""
        return [(frame.number, frame.at, frame.in_call) for frame in self._stack]

    def _resolve(self, address: tuple[int, int]) -> None:
        found = [each for each in self._program.frames_at(*address) if each[1] != NONE]
        if len(found) == 1:
            number, block = found[0]
            code = self._program.procedure(number)
            if code is not None and block < code.exit and code.calls[block] != NO_CALL:
                self._push_active(number, code, block, in_call=True)

    def _push_active(self, number: int, code: Procedure, at: int, in_call: bool) -> None:
        self._stack.append(Frame(number, code, at, in_call))
        self._stack[-1].path = self._path_to(number, at)

    def _go_on_in(self, number: int, code: Procedure, at: int, in_call: bool) -> None:
        self._push_active(number, code, at, in_call)
        self._emit(Kind.ACTIVE, number, at, self._stack[-1].path)

    def _suspend(self, stack: int) -> None:
        """All frames make way for others; another switch may bring them back.

        What the memory of a stack was used for before is over.
        """
        base = self._bases[-1]
        aside = self._stack[base:]
        for frame in reversed(aside):
            self._emit(Kind.SUSPENDED, frame.number, frame.at, frame.path)
            self._stack.pop()
        if aside:
            others = [each for each in self._suspended if not stack or each[0] != stack]
            self._suspended = [(stack, aside), *others][:MOST_SUSPENDED]
        self._emit(Kind.SWITCH)

    def _recognise(self, stack: int) -> None:
        """If the frames are those of a suspended stack, their paths go on.

        A stack is known by where it begins, and if that is not known by its frames.
        """
        base = self._bases[-1]
        frames = self._stack[base:]
        for index, (known, aside) in enumerate(self._suspended):
            if frames and known == stack and (stack or _places(aside) == _places(frames)):
                for frame, before in zip(frames, aside, strict=False):
                    if _places([frame]) != _places([before]):
                        break
                    frame.path, frame.continued = before.path, before.continued
                del self._suspended[index]
                break
        for depth, frame in enumerate(self._stack[base:], base):
            self._events.append(Event(Kind.ACTIVE, depth, frame.number, frame.at, frame.path, self.position))

    def _top(self) -> Frame:
        if len(self._stack) <= self._bases[-1]:
            raise Contradiction(Damage.NO_FRAME)
        return self._stack[-1]

    def _is_settled(self, frame: Frame) -> bool:
        """Whether the region that a frame is in is silent, and all that it writes was read."""
        code = frame.code
        if not code.silent[frame.at]:
            return False
        return len(frame.trips) == code.trips_in(code.silent_region(frame.at))

    def _goes_on(self) -> bool:
        """Execute the next that the innermost frame does without writing anything; false if it has to."""
        frame = self._stack[-1]
        if frame.in_call:
            if frame.at in frame.code.resumes:
                return False
            behind = frame.code.behind.get(frame.at)
            if behind is None:
                raise Contradiction(Damage.NEVER_RETURNS)
            self._returns(frame)
            self._took(frame, [behind[0]])
            self._go(frame, behind[1])
            return True
        if not self._is_settled(frame):
            return False
        self._execute(frame, frame.code.silent_region(frame.at))
        return True

    def _go(self, frame: Frame, vertex: int) -> None:
        frame.at, frame.in_call, frame.trips = vertex, False, []
        if vertex == frame.code.exit:
            self._leave()

    def _execute(self, frame: Frame, region: Region) -> None:
        """The frame has executed a region: give out its blocks, and do what its end says."""
        code, depth = frame.code, len(self._stack) - 1
        if len(frame.trips) != code.trips_in(region):
            raise Contradiction(Damage.TRIP_COUNTS)
        trips = iter(frame.trips)
        self._took(frame, [arc.edge for arc in region.arcs if arc.edge >= 0])
        for block in region.blocks:
            again = next(trips) if block in code.counted else 0
            if again:
                self._turned(frame, block, again)
            self._events.append(Event(Kind.BLOCK, depth, frame.number, block, again, self.position))
            self.position += 1 + again
        if not region.calls:
            self._go(frame, region.arcs[-1].target)
            return
        block = region.blocks[-1]
        frame.at, frame.in_call, frame.trips = block, True, []
        self._calls(frame)
        if block in code.tails:
            if block in code.behind:
                self._took(frame, [code.behind[block][0]])
            self._leave()
        elif code.calls[block] >= 0:
            self._call(self._program.base(frame.number) + code.calls[block])

    def _call(self, number: int) -> None:
        code = self._program.procedure(number)
        if code is None:
            raise Contradiction(Damage.NO_FUNCTION)
        self._push(number, code)

    def _push(self, number: int, code: Procedure) -> None:
        if len(self._stack) >= MOST_FRAMES:
            raise Contradiction(Damage.TOO_DEEP)
        caller = self._stack[-1] if len(self._stack) > self._bases[-1] else None
        self._stack.append(Frame(number, code, code.root, False))
        self._entered(self._stack[-1], caller)
        self._emit(Kind.ENTER, number)

    # What counting.py counts.

    def _path_to(self, number: int, block: int) -> int:
        """The number of some path so far, of a frame that was not seen being entered."""
        return 0

    def _entered(self, frame: Frame, caller: Frame | None) -> None:
        """A frame was entered; ``caller`` is the one below it, if the same stack has one."""

    def _took(self, frame: Frame, edges: Sequence[int]) -> None:
        """A frame has taken edges."""

    def _took_again(self, frame: Frame, edge: int) -> None:
        """A frame has taken the edge behind a call that has returned again."""

    def _turned(self, frame: Frame, block: int, times: int) -> None:
        """A frame has executed a block again and again, so many times."""

    def _calls(self, frame: Frame) -> None:
        """A frame has reached a call."""

    def _returns(self, frame: Frame) -> None:
        """The call of a frame returns, and once only; then the frame takes an edge."""

    def _lands(self, frame: Frame) -> None:
        """The call of a frame does not return, or may return twice; then the frame takes an edge."""

    def _leaves(self, frame: Frame, caller: Frame | None) -> None:
        """A frame has come to its end; ``caller`` is the one below it, if the same stack has one."""

    def _unwinds(self, frame: Frame) -> None:
        """A frame is left in the middle."""

    def _leave(self) -> None:
        frame = self._stack[-1]
        self._leaves(frame, self._stack[-2] if len(self._stack) - 1 > self._bases[-1] else None)
        self._emit(Kind.LEAVE, frame.number)
        self._stack.pop()

    def _unwind(self) -> None:
        frame = self._stack[-1]
        self._unwinds(frame)
        self._emit(Kind.UNWOUND, frame.number, frame.at, frame.path)
        self._stack.pop()

    def _emit(self, kind: Kind, function: int = NONE, block: int = NONE, value: int = 0) -> None:
        """An event of the innermost frame."""
        depth = max(len(self._stack) - 1, 0)
        self._events.append(Event(kind, depth, function, block, value, self.position))

    def _taken(self) -> list[Event]:
        events, self._events = self._events, []
        return events


def _places(frames: Sequence[Frame]) -> list[tuple[int, int]]:
    return [(frame.number, frame.at) for frame in frames]


def counted(steps: int) -> int:
    """No program goes so far without writing anything: the tables are not those of the program."""
    if steps >= MOST_STEPS:
        raise Contradiction(Damage.ENDLESS)
    return steps + 1
