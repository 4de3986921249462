"""How the processes of a run ended, and where their threads were at that moment."""

from __future__ import annotations

import signal
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from trodden.collect.call_paths import CalledFunction
from trodden.collect.rawfile.model import Ending
from trodden.recover.unit_counts import UnitCounts

MOST_THREADS = 64
MOST_FRAMES = 512
MOST_LAST_PATHS = 65536
MOST_INLINED = 512
"""How many threads are kept of a process, frames and last paths of a thread, inlined functions of a frame."""


@dataclass(frozen=True)
class Process:
    """One process, or one process image: ``exec`` makes another with the same pid.

    ``name`` is the pid, or if several have it the pid, a dot and a number in the order of their starts.
    ``parent`` is the pid of the parent, ``started`` is in nanoseconds since 1970.  ``signal`` is the number
    of the signal that ended it, or 0.  ``executed`` are the blocks that it ran, and ``unit_counts`` what it
    alone has counted, without the units where it has counted nothing; both are left out of a profile of a
    single process.  ``completed`` are functions that were active when it was killed, whose counts were
    completed (:mod:`trodden.recover.killed`).
    """

    name: str
    pid: int
    parent: int
    started: int
    program: str
    ending: Ending
    signal: int = 0
    executed: int | None = None
    unit_counts: tuple[UnitCounts, ...] = ()
    completed: tuple[CalledFunction, ...] = ()


@dataclass(frozen=True, slots=True)
class SourceFrame:
    """A function of the source that control was in, by the path of its file and the line."""

    function: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class StoppedFrame:
    """A frame of a function, given by its index in a unit, and the block that it had reached.

    It was inside a call, or ``interrupted`` at any instruction of the block.  ``block`` is ``None`` if the
    function was counted as left already.  ``register`` is the path register, ``None`` if it is not known, or
    not needed to decode the path.  ``source`` are the functions of the source that the frame consists of,
    innermost first: those that were inlined, and the function itself; none where the program has no debug
    information of its own.  ``position`` is where in the block it was (:meth:`BlockFacts.line_at`), if that
    is known.
    """

    unit: str
    function: int
    block: int | None
    interrupted: bool = False
    register: int | None = None
    source: tuple[SourceFrame, ...] = ()
    position: int | None = None


@dataclass(frozen=True, slots=True)
class LastPath:
    """One of the last paths that a thread has executed to its end, in a function of a unit."""

    unit: str
    function: int
    path: int


@dataclass(frozen=True)
class StoppedThread:
    """Where a thread was when its process ended; ``process`` is an index into those of the profile.

    ``number`` counts the threads of the process, ``tid`` is the kernel's id, if it is known.
    ``frames`` are innermost first, ``left_out`` says how many more there were.  ``last`` are the paths that
    it walked last, the oldest first.
    """

    process: int
    number: int
    tid: int | None
    frames: tuple[StoppedFrame, ...]
    left_out: int = 0
    last: tuple[LastPath, ...] = ()


def signal_name(number: int) -> str:
    """``SIGSEGV``, or the number of a signal without a name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def named_processes(processes: Sequence[Process]) -> tuple[Process, ...]:
    """The same processes, each with a name of its own; they are in the order of their starts."""
    times = Counter(process.pid for process in processes)
    seen: Counter[int] = Counter()
    found = []
    for process in processes:
        seen[process.pid] += 1
        own = f"{process.pid}.{seen[process.pid]}" if times[process.pid] > 1 else str(process.pid)
        found.append(replace(process, name=own))
    return tuple(found)
