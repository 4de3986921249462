"""What one process has counted, as it comes out of its raw file, of either kind."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

ROOT = 0xFFFFFFFF
_KEY_TIME = 63
_REGISTERS = 33
_STACK = 512
CONTEXT = struct.Struct(f"<IIQQQ{_REGISTERS}QQ{_STACK}sQ{_STACK}s")


class Ending(Enum):
    """How a process came to an end, or what else its counts stop at."""

    EXIT = "exit"
    DUMP = "dump"
    EXEC = "exec"
    SIGNAL = "signal"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class RawModule:
    """A loaded file: where it lay in memory, and its path."""

    bias: int
    path: str


@dataclass(frozen=True, slots=True)
class RawUnit:
    """The counters of one unit, summed over all threads."""

    id: str
    module: int
    counts: Sequence[int]


@dataclass(frozen=True, slots=True)
class RawFrame:
    """An active call at the end: its return address as the linker numbered it.

    ``cell`` is what the frame kept of its path register, ``None`` if it keeps nothing or it was not found.
    One that was ``interrupted`` by a signal is at no call: the address is that of its next instruction.
    One that was ``left`` was so before the end, by a handler that jumped out, threw or ended the thread.
    """

    thread: int
    module: int | None
    address: int
    cell: int | None = None
    interrupted: bool = False
    left: bool = False


@dataclass(frozen=True, slots=True)
class RawJump:
    """A return address at which jumps have left functions ``count`` times more often than come back.

    ``cell`` is as in :class:`RawFrame`: jumps that left frames with different cells are summed apart.
    """

    module: int
    address: int
    count: int
    cell: int | None = None


@dataclass(frozen=True, slots=True)
class RawNote:
    """What paths without a counter of their own have left behind; ``unit`` is an index into the units.

    Path ``value`` of the function has ended ``amount`` times, or if ``time`` has taken ``amount`` ticks.
    """

    unit: int
    function: int
    time: bool
    value: int
    amount: int


@dataclass(frozen=True, slots=True)
class RawCall:
    """A call of a function, an index into its unit, from the end of another path of calls: ``parent``.

    ``unit`` is an index into the units, ``parent`` one into the calls, less than the call's own.  A call
    without a unit is the start of a thread.  One that is ``recursive`` went back to the same function on the
    way to ``parent``, and is nobody's parent.
    """

    unit: int | None
    function: int
    parent: int
    recursive: bool
    count: int


@dataclass(frozen=True, slots=True)
class RawContext:
    """The registers of a frame that a signal interrupted, and parts of its stack by address.

    ``frame`` is an index into the frames; registers have DWARF's numbers.
    """

    frame: int
    pc: int
    cfa: int
    registers: Mapping[int, int]
    stack: tuple[tuple[int, bytes], ...]


@dataclass(frozen=True, slots=True)
class RawLast:
    """One of the last paths that a thread has walked to their ends: of a function of the tagged unit."""

    thread: int
    tag: int
    function: int
    path: int


@dataclass(frozen=True)
class Raw:
    """What one process has counted.

    ``frames`` were active when it ended, ``inherited`` when it began: a forked child counts from zero in the
    middle of its callers.  ``jumps`` sums up the calls that a jump or an exception ended, and those that were
    come back to.  ``stack_cut`` says that not all frames could be found.  ``notes`` are of paths only.
    ``calls`` are the trees of call paths of all threads, parents first.  ``lasts`` are the last paths of
    each thread, the oldest first.  ``partly`` says that not all of it was in the file when the process was
    killed.  ``tids`` is what the system called the threads, as far as that is known.
    """

    path: str
    ending: Ending
    signal: int
    pid: int
    parent: int
    started: int
    modules: tuple[RawModule, ...]
    units: tuple[RawUnit, ...]
    frames: tuple[RawFrame, ...]
    inherited: tuple[RawFrame, ...] = ()
    jumps: tuple[RawJump, ...] = ()
    stack_cut: bool = False
    notes: tuple[RawNote, ...] = ()
    calls: tuple[RawCall, ...] = ()
    contexts: tuple[RawContext, ...] = field(default=())
    lasts: tuple[RawLast, ...] = ()
    partly: bool = False
    ticks: int = 0
    tids: Mapping[int, int] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """Whether the process ended by itself."""
        return self.ending is Ending.EXIT


def note_from(unit: int, key: int, value: int, amount: int) -> RawNote:
    """A note as the runtime keeps it: the key names a function, and whether it is about time."""
    return RawNote(unit, key & ((1 << _KEY_TIME) - 1), bool(key >> _KEY_TIME), value, amount)


def context_from(data: bytes) -> tuple[int, int, RawContext]:
    """A context as the runtime keeps it: its thread, and the number of its frame in that thread."""
    thread, frame, pc, cfa, known, *rest = CONTEXT.unpack(data)
    registers = {n: rest[n] for n in range(_REGISTERS) if known >> n & 1}
    low_from, low, high_from, high = rest[_REGISTERS:]
    stack = tuple((place, part) for place, part in ((low_from, low), (high_from, high)) if place)
    return thread, frame, RawContext(frame, pc, cfa, registers, stack)
