"""What one process has counted, as its raw file or its live file holds it.

Frames and calls are still addresses here; what they mean is found out with the program
(:mod:`trodden.collect.process_counts`).
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from trodden.program.sparse_path_key import function_of_key

ROOT = 0xFFFFFFFF
"""In place of a unit: the node is the root of a call-path tree, the start of a thread."""
_REGISTERS = 33
STACK_SAMPLE = 512
SAVED_REGISTERS = struct.Struct(f"<IIQQQ{_REGISTERS}QQ{STACK_SAMPLE}sQ{STACK_SAMPLE}s")


class Ending(Enum):
    """How a process ended, or at what other moment its counts were written."""

    EXIT = "exit"
    DUMP = "dump"
    EXEC = "exec"
    SIGNAL = "signal"
    KILLED = "killed"


@dataclass(frozen=True, slots=True)
class RawModule:
    """A loaded file: the address that it was loaded at, less its own addresses, and its path."""

    bias: int
    path: str


@dataclass(frozen=True, slots=True)
class RawUnit:
    """The counters of one unit, summed over all threads."""

    id: str
    module: int
    counters: Sequence[int]


@dataclass(frozen=True, slots=True)
class RawFrame:
    """A frame that was active at the end, by its return address in the file of its module.

    ``slot`` is the stack slot of its path register, ``None`` if it has none or that was not found.
    A frame that was ``interrupted`` by a signal is in no call: the address is that of its next instruction.
    One that was ``abandoned`` had been left before the end, by a handler that jumped out, threw an exception
    or ended the thread.
    """

    thread: int
    module: int | None
    address: int
    slot: int | None = None
    interrupted: bool = False
    abandoned: bool = False


@dataclass(frozen=True, slots=True)
class RawNonLocalExit:
    """How often frames were left at a return address by a non-local exit, less how often they were resumed.

    ``slot`` is as in :class:`RawFrame`: frames with different stack slots are counted apart.
    """

    module: int
    address: int
    count: int
    slot: int | None = None


@dataclass(frozen=True, slots=True)
class RawSparsePath:
    """An entry of the sparse path table: executions of a path, or with ``cycles`` the cycles spent on it.

    ``unit`` is an index into the units, ``function`` one into the functions of the unit.
    """

    unit: int
    function: int
    cycles: bool
    path: int
    amount: int


@dataclass(frozen=True, slots=True)
class RawCallNode:
    """A node of a call-path tree: calls of a function by its parent.

    ``unit`` is an index into the units, ``function`` one into the functions of the unit, ``parent`` one into
    the nodes, less than the node's own.  A node without a unit is the start of a thread.  One that is
    ``recursive`` counts calls of a function that is on the path already; it is nobody's parent.
    """

    unit: int | None
    function: int
    parent: int
    recursive: bool
    count: int


@dataclass(frozen=True, slots=True)
class RawSavedRegisters:
    """The registers of a frame that a signal interrupted, and parts of its stack by address.

    ``frame`` is an index into the frames; registers have DWARF's numbers.
    """

    frame: int
    pc: int
    cfa: int
    registers: Mapping[int, int]
    stack: tuple[tuple[int, bytes], ...]


@dataclass(frozen=True, slots=True)
class RawLastPath:
    """One of the last paths that a thread has executed to their ends: of a function of the tagged unit."""

    thread: int
    tag: int
    function: int
    path: int


@dataclass(frozen=True, slots=True)
class RawCrossings:
    """Rows of counters for what followed parts of paths over a call, or, ``returned``, over its return.

    ``callee_unit`` and ``site_unit`` are indices into the units; ``callee`` is an index into the functions of
    the one, ``site`` a number of a call site in the other.  There are ``rows`` of ``parts`` counters each,
    from ``slot`` on in the unit that counts: for the part with the number ``first``, and those behind it.
    ``counts`` are others, by the number of the second part.
    """

    returned: bool
    callee_unit: int
    callee: int
    site_unit: int
    site: int
    first: int
    slot: int
    parts: int
    rows: int
    counts: Mapping[int, int] = field(default_factory=dict)

    @property
    def unit(self) -> int:
        """The unit that counts."""
        return self.site_unit if self.returned else self.callee_unit


class TraceEnd(IntEnum):
    """Why a trace has stopped: ``enum trodden_trace_reason`` in ``native/runtime/trace/chunk.h``."""

    RUNNING = 0
    LIMIT = 1
    NO_SPACE = 2
    TOO_LARGE = 3
    NOT_DRAINED = 4
    REMOVED = 5
    FAILED = 6
    NO_MEMORY = 7


@dataclass(frozen=True, slots=True)
class RawTrace:
    """What a process says of its trace, whose chunks :mod:`trodden.collect.trace.chunks` reads.

    ``first_functions`` has for each unit the number of its first function in the process, or ``None`` if the
    unit records no trace.  ``lost``: some records are in no chunk.  ``modules`` are the numbers that the
    records have for the modules, if not their positions.
    """

    stopped: TraceEnd
    lost: bool
    first_functions: tuple[int | None, ...]
    modules: tuple[int, ...] = ()

    def number_of(self, module: int) -> int:
        """The number that the records have for a module of the process."""
        return self.modules[module] if self.modules else module


@dataclass(frozen=True)
class Raw:
    """What one process has counted.

    ``frames`` were active when it ended, ``inherited`` when it began: a forked child starts from zero in the
    middle of its callers.  ``non_local_exits`` sum up the frames that ``longjmp`` or an exception left, and
    those that were resumed.  ``call_nodes`` are the call-path trees of all threads, parents first;
    ``last_paths`` those of each thread, the oldest first.  ``frames_missing`` says that not all frames could
    be found, ``counts_missing`` that not all counters were in the file when the process was killed,
    ``counts_lost`` that something truncated the file while the process ran, and ``no_space`` that there was
    no space in it for all counters, which were in memory instead.
    ``uncounted`` are modules none of whose counters were in the file.
    ``start_ticks`` are the low 32 bits of when the kernel made the process (0: not known), ``tids`` are the
    kernel's ids of threads, as far as they are known.  ``trace`` is ``None`` if none was recorded.
    ``crossings`` say which counters count paths over calls and returns.
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
    non_local_exits: tuple[RawNonLocalExit, ...] = ()
    frames_missing: bool = False
    sparse_paths: tuple[RawSparsePath, ...] = ()
    call_nodes: tuple[RawCallNode, ...] = ()
    saved_registers: tuple[RawSavedRegisters, ...] = field(default=())
    last_paths: tuple[RawLastPath, ...] = ()
    counts_missing: bool = False
    counts_lost: bool = False
    no_space: bool = False
    uncounted: frozenset[int] = frozenset()
    start_ticks: int = 0
    tids: Mapping[int, int] = field(default_factory=dict)
    trace: RawTrace | None = None
    crossings: tuple[RawCrossings, ...] = ()

    @property
    def host(self) -> str | None:
        """The path of the executable if it has no probes, and only libraries that it has loaded have some."""
        counted = {unit.module for unit in self.units}
        return next((each.path for index, each in enumerate(self.modules) if index not in counted), None)


def sparse_path_from(unit: int, key: int, path: int, amount: int) -> RawSparsePath:
    """An entry as the runtime keeps it: the key has the function, and whether the amount is in cycles."""
    function, cycles = function_of_key(key)
    return RawSparsePath(unit, function, cycles, path, amount)


_RETURNED = 1 << 63
_HALF = 1 << 32
CROSSING_ROW = struct.Struct("<QQQQII")
CROSSING = struct.Struct("<QQQ")


def crossings_from(
    rows: Iterable[tuple[int, int, int, int, int, int]],
    counts: Iterable[tuple[int, int, int]],
    units: Callable[[int], int | None],
) -> list[RawCrossings | None]:
    """Rows as the runtime keeps them, and counts by the numbers of rows, from 1 on.

    ``units`` gives the index of a unit by its number in the process; a row is ``None`` if one of its units
    has none.
    """
    by_row: dict[int, Counter[int]] = {}
    for row, part, count in counts:
        by_row.setdefault(row, Counter())[part] += count
    found: list[RawCrossings | None] = []
    for number, (callee, site, first, slot, parts, many) in enumerate(rows, 1):
        callee_unit, site_unit = units(callee % _HALF - 1), units(site % _HALF - 1)
        known = None
        if callee_unit is not None and site_unit is not None:
            index = callee % _RETURNED // _HALF
            known = RawCrossings(
                callee >= _RETURNED,
                *(callee_unit, index, site_unit, site // _HALF),
                *(first, slot, parts, many),
                by_row.pop(number, {}),
            )
        found.append(known)
    if by_row:
        raise ValueError("a count belongs to no row")
    return found


def saved_registers_from(data: bytes) -> tuple[int, int, RawSavedRegisters]:
    """Saved registers as the runtime keeps them: the thread, the number of its frame, and the rest."""
    thread, frame, pc, cfa, known, *rest = SAVED_REGISTERS.unpack(data)
    registers = {n: rest[n] for n in range(_REGISTERS) if known >> n & 1}
    low_from, low, high_from, high = rest[_REGISTERS:]
    stack = tuple((start, part) for start, part in ((low_from, low), (high_from, high)) if start)
    return thread, frame, RawSavedRegisters(frame, pc, cfa, registers, stack)
