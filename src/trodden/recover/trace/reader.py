"""The reference reader of traces: Figure 14 of BL94 with a stack of active procedures.

It is what the reader in C (:mod:`trodden.recover.trace.compiled`) is compared with, so it does the obvious
thing.  A thread's records are given to it piece by piece, in order.  It keeps a stack of frames, each of
which is in a region, known by the block where that started, or in a call.  A frame that is in a region goes
on when a record needs it to: a block is given out when it is proven to have been executed, by a record that
was written later.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from trodden.plan.trace import records
from trodden.plan.trace.records import BadRecord, CutOff, EventKind, Record, decode
from trodden.recover.trace.events import DAMAGE_BITS, NONE, Damage, Event, Kind
from trodden.recover.trace.procedure import NO_CALL, UNKNOWN_CALLEE, Encoding, NoRegion, Procedure
from trodden.recover.trace.stack import MOST_STEPS, Contradiction, Frame, Program, Stack, counted

MOST_TRIPS = 1 << 16

_EVENTS = {
    EventKind.FORKED: Kind.FORKED,
    EventKind.EXEC_FAILED: Kind.EXEC_FAILED,
    EventKind.TIME: Kind.TIME,
    EventKind.STOPPED: Kind.STOPPED,
    EventKind.LOST: Kind.LOST,
}


class Reader(Stack):
    """Reads the records of one thread."""

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self._handled: list[int] = []
        self._has_left = False
        self.lost = False

    def start(
        self, frames: Sequence[tuple[int, int]], function: int | None = None, location: int = 0
    ) -> Iterator[Event]:
        """Forget the stack and go on with these frames (innermost first), by what a chunk says of itself."""
        self.lost = False
        self._handled = []
        self._has_left = False
        self._bases = [0]
        yield from self._active(frames, function, location)

    def _active(self, frames: Sequence[tuple[int, int]], function: int | None, location: int) -> list[Event]:
        self._suspend(0)
        for address in reversed(frames):
            self._resolve(address)
        self._recognise(0)
        if function is not None:
            code = self._program.procedure(function)
            vertex, leaving = divmod(location, 2)
            if code is None or vertex > code.exit or not _may_be_at(code, vertex, bool(leaving)):
                self._events = []
                raise ValueError("a trace starts in a function that does not exist")
            if not leaving:
                self._go_on_in(function, code, vertex, in_call=False)
            elif vertex != code.exit:
                self._go_on_in(function, code, vertex, in_call=True)
                if code.calls[vertex] >= 0:
                    self._call(self._program.base(function) + code.calls[vertex])
        return self._taken()

    def enter_handler(self, signal: int) -> Iterator[Event]:
        """A signal handler is called; what follows are its records."""
        self._settle_handlers(went_on=True)
        self._emit(Kind.SIGNAL, value=signal)
        self._bases.append(len(self._stack))
        self._has_left = False
        yield from self._taken()

    def leave_handler(self) -> None:
        """The records of a handler are at their end; whether it has returned, the next record shows."""
        self._has_left = False
        if len(self._bases) > 1:
            self._handled.append(self._bases.pop())

    def _settle_handlers(self, went_on: bool) -> None:
        """Handlers are over: what they have executed without writing is proven if control ``went_on``."""
        for base in self._handled:
            steps = 0
            while went_on and len(self._stack) > base and steps < MOST_STEPS:
                frame = self._stack[-1]
                if frame.in_call and frame.at not in frame.code.behind:
                    break
                try:
                    if not self._goes_on():
                        break
                except Contradiction:
                    break
                steps += 1
            while len(self._stack) > base:
                self._unwind()
            self._emit(Kind.HANDLED)
        self._handled = []

    def feed(self, data: bytes, begin: int = 0, end: int | None = None) -> Iterator[Event]:
        """Read the records in ``data[begin:end]``, up to its end or the first 0."""
        data, position = data[:end], begin
        while position < len(data) and data[position]:
            record: Record | None = None
            try:
                record, after = decode(data, position)
            except BadRecord as bad:
                if bad.size is None:
                    self._damaged(
                        Damage.CUT_OFF if isinstance(bad, CutOff) else Damage.NOT_A_RECORD, position
                    )
                    yield from self._taken()
                    return
                after = position + bad.size
            if not self.lost or data[position] in (records.SYNC, records.EVENT):
                try:
                    self._read(record)
                except Contradiction as found:
                    self._damaged(found.damage, position)
            yield from self._taken()
            position = after

    def _damaged(self, damage: Damage, position: int) -> None:
        if not self.lost:
            self._emit(Kind.DAMAGED, value=position << DAMAGE_BITS | damage)
        self.lost = True

    def _read(self, record: Record | None) -> None:
        """Do what a record says; ``None`` is one that says nothing.

        A jump out of a handler may name the call that was interrupted before it says where it goes: what its
        caller would do next is not executed.
        """
        jumped = isinstance(record, records.Sync) and (bool(self._handled) or self._has_left)
        self._has_left = isinstance(record, records.Left)
        self._settle_handlers(not jumped)
        match record:
            case records.Symbol(number):
                self._symbol(number)
            case records.Trips(count):
                self._trips(count)
            case records.Enter(function):
                self._enter(function)
            case records.Resume(block):
                self._resume(block)
            case records.Land(block):
                self._land(block)
            case records.Left(site):
                self._left(site.module, site.address)
            case records.Sync(frames, _, left, stack):
                if not jumped and not self.lost:
                    self._arrive_in_call()
                self._sync([(frame.module, frame.address) for frame in frames], left, stack)
            case records.Bits(value, count):
                self._bits(value, count)
            case records.Event(kind, value):
                self._emit(_EVENTS[kind], value=value)
            case None:
                raise Contradiction(Damage.NOT_A_RECORD)

    # The end of a trace, where there are no more records: see ending.py.

    @property
    def top(self) -> tuple[int, int, int, bool] | None:
        """The innermost frame: how many there are, its function, its block, and whether it is in a call."""
        if len(self._stack) <= self._bases[-1]:
            return None
        frame = self._stack[-1]
        return len(self._stack), frame.number, frame.at, frame.in_call

    def go_on(self) -> list[Event] | None:
        """What the innermost frame does next, if it is certain."""
        try:
            went = self._goes_on()
        except Contradiction:
            return None
        return self._taken() if went else None

    def extend(self, blocks: Sequence[int]) -> list[Event]:
        """The innermost frame has come so far in its region."""
        frame = self._stack[-1]
        for block, target in pairwise(blocks):
            arcs = frame.code.arcs[block]
            self._took(frame, [next(arc.edge for arc in arcs if arc.target == target and not arc.ends)])
        if blocks:
            frame.at = blocks[-1]
        trips = iter(frame.trips)
        for block in blocks:
            again = next(trips, 0) if block in frame.code.counted else 0
            self._emit(Kind.BLOCK, frame.number, block, again)
            self.position += 1 + again
        return self._taken()

    # The records.

    def _symbol(self, symbol: int) -> None:
        frame = self._writing()
        if frame.code.encoding is Encoding.BITS:
            raise Contradiction(Damage.OTHER_ENCODING)
        try:
            self._execute(frame, frame.code.region(frame.at, symbol))
        except NoRegion:
            raise Contradiction(Damage.NO_REGION) from None

    def _bits(self, value: int, number: int) -> None:
        frame = self._writing()
        if frame.code.encoding is not Encoding.BITS:
            raise Contradiction(Damage.OTHER_ENCODING)
        try:
            self._execute(frame, frame.code.region_of_bits(frame.at, value, number))
        except NoRegion:
            raise Contradiction(Damage.NO_REGION) from None

    def _writing(self) -> Frame:
        """The frame that has written a symbol: all that is silent before it has been executed."""
        steps = 0
        while True:
            frame = self._top()
            if not frame.in_call and not frame.code.silent[frame.at]:
                return frame
            if not self._goes_on():
                raise Contradiction(Damage.TRIP_COUNTS)
            steps = counted(steps)

    def _trips(self, number: int) -> None:
        steps = 0
        while True:
            frame = self._top()
            if not frame.in_call and self._awaits_trips(frame):
                break
            if not self._goes_on():
                raise Contradiction(Damage.TRIP_COUNTS)
            steps = counted(steps)
        if len(frame.trips) >= MOST_TRIPS:
            raise Contradiction(Damage.TRIP_COUNTS)
        frame.trips.append(number)

    def _awaits_trips(self, frame: Frame) -> bool:
        code = frame.code
        if not code.silent[frame.at]:
            return True
        return len(frame.trips) < code.trips_in(code.silent_region(frame.at))

    def _enter(self, number: int) -> None:
        code = self._program.procedure(number)
        if code is None:
            raise Contradiction(Damage.NO_FUNCTION)
        steps = 0
        while len(self._stack) > self._bases[-1]:
            frame = self._stack[-1]
            if frame.in_call and frame.code.calls[frame.at] == UNKNOWN_CALLEE:
                break
            if not self._goes_on():
                break
            steps = counted(steps)
        self._push(number, code)

    def _resume(self, block: int) -> None:
        steps = 0
        while True:
            frame = self._top()
            if block in frame.code.resumes and (frame.in_call or not self._is_settled(frame)):
                break
            if not self._goes_on():
                raise Contradiction(Damage.NOT_RESUMED)
            steps = counted(steps)
        edge, target = frame.code.behind[block]
        self._lands(frame)
        if frame.in_call and frame.at == block:
            self._took(frame, [edge])
        else:
            self._emit(Kind.AGAIN, frame.number, frame.at, frame.path)
            self._took_again(frame, edge)
        self._go(frame, target)
        self._emit(Kind.RESUMED, frame.number, block)

    def _land(self, block: int) -> None:
        steps = 0
        while True:
            frame = self._top()
            ways = frame.code.landing.get(frame.at, ()) if frame.in_call else ()
            way = next((way for way in ways if way[1] == block), None)
            if way is not None:
                break
            if not self._goes_on():
                raise Contradiction(Damage.NO_LANDING)
            steps = counted(steps)
        self._lands(frame)
        self._took(frame, [way[0]])
        self._go(frame, way[2])
        self._emit(Kind.LANDED, frame.number, block)

    def _left(self, module: int, address: int) -> None:
        sites = self._program.frames_at(module, address)
        if all(block == NONE for _, block in sites):
            return
        steps = 0
        while True:
            frame = self._top()
            if any(number == frame.number and self._may_be_in(frame, block) for number, block in sites):
                break
            if not self._goes_on():
                raise Contradiction(Damage.FRAME_NOT_LEFT)
            steps = counted(steps)
        self._unwind()

    def _may_be_in(self, frame: Frame, block: int) -> bool:
        """Whether a frame may be in the call of a block; one in a region may, if that is not silent."""
        return frame.at == block if frame.in_call else not self._is_settled(frame)

    def _arrive_in_call(self) -> None:
        """A call switches to another stack: what leads there without writing anything is proven."""
        steps = 0
        while len(self._stack) > self._bases[-1] and not self._stack[-1].in_call and self._goes_on():
            steps = counted(steps)

    def _sync(self, frames: Sequence[tuple[int, int]], left: int, stack: int) -> None:
        self._suspend(left)
        for address in reversed(frames):
            self._resolve(address)
        self._recognise(stack)
        self.lost = False


def _may_be_at(code: Procedure, vertex: int, leaving: bool) -> bool:
    if vertex == code.exit:
        return leaving
    return not leaving or code.calls[vertex] != NO_CALL
