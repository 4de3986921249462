"""The reader in C, with the interface of the reference in :mod:`trodden.recover.trace.reader`.

What it knows of the program it asks for when it first needs it: a program of many functions has only the
tables of those that the trace enters.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator, Sequence
from ctypes import c_uint8, c_uint32, c_uint64
from itertools import pairwise, starmap
from pathlib import Path
from typing import Protocol

from trodden.recover.trace.events import NONE, Event, Kind
from trodden.recover.trace.library import (
    COUNTED,
    ENDS,
    MANY,
    MOST_SITES,
    PROCEDURE_OF,
    RESUMES,
    SILENT,
    SITES_AT,
    TAIL,
    ArcTable,
    EventRow,
    PathArcTable,
    PickTable,
    ProcedureTable,
    SiteRow,
    VertexTable,
    load_library,
)
from trodden.recover.trace.longer import TracedPair
from trodden.recover.trace.procedure import Procedure
from trodden.recover.trace.stack import Program

ALL_KINDS = (1 << len(Kind)) - 1
_ROOM = 1 << 15
_MOST_MEMORY = 96 << 20

PathArcs = Sequence[tuple[int, int, int]]
"""What each arc of a procedure adds to a path number, where the next path starts, and whether one ends."""


class TableOfProcedure:
    """The tables of a procedure in memory that C reads; it must live as long as they are used."""

    def __init__(self, code: Procedure, base: int) -> None:
        self.edges: list[int] = []
        """The edge of each arc."""
        targets: list[tuple[int, int, int]] = []
        picks: list[tuple[int, int]] = []
        vertices = []
        for block in range(len(code.arcs)):
            first, first_pick = len(targets), len(picks)
            for arc in code.arcs[block]:
                key = arc.key if arc.key >= 0 else NONE
                targets.append((key, arc.target, ENDS * arc.ends + MANY * arc.many))
                self.edges.append(arc.edge)
            number = len(targets) - first
            picks += sorted(code.picks.get(block, {}).items())
            behind = NONE
            if block in code.behind:
                edge, target = code.behind[block]
                behind = self._add(targets, edge, NONE, target)
            landing = len(targets)
            for edge, pad, target in code.landing.get(block, ()):
                self._add(targets, edge, pad, target)
            flags = SILENT * code.silent[block] + COUNTED * (block in code.counted)
            flags += RESUMES * (block in code.resumes)
            flags += TAIL * (block in code.tails)
            where = (first, number, first_pick, len(picks) - first_pick)
            vertices.append((*where, code.calls[block], behind, landing, len(targets) - landing, flags))
        self.code = code
        self._vertices = (VertexTable * len(vertices))(*starmap(VertexTable, vertices))
        self._arcs = (ArcTable * len(targets))(*starmap(ArcTable, targets))
        self._picks = (PickTable * len(picks))(*starmap(PickTable, picks))
        self.taken: ctypes.Array[c_uint64] | None = None
        self.trips: ctypes.Array[c_uint64] | None = None
        self._paths: ctypes.Array[PathArcTable] | None = None
        self._path_to: ctypes.Array[c_uint64] | None = None
        self._wanted: ctypes.Array[c_uint8] | None = None
        self._sites: ctypes.Array[c_uint8] | None = None
        self.table = ProcedureTable(
            code.exit, code.root, int(code.encoding), base, self._vertices, self._arcs, self._picks
        )

    def _add(self, targets: list[tuple[int, int, int]], edge: int, key: int, target: int) -> int:
        targets.append((key, target, 0))
        self.edges.append(edge)
        return len(targets) - 1

    def arc_to(self, block: int, target: int) -> int:
        """The arc from a block to another in the same region."""
        vertex = self._vertices[block]
        for arc in range(vertex.first_arc, vertex.first_arc + vertex.arcs):
            if self._arcs[arc].target == target and not self._arcs[arc].flags & ENDS:
                return arc
        raise ValueError(f"{self.code.name}: block {block} does not lead to {target}")

    def count(self) -> None:
        """Count how often each arc is taken, and the trips of self loops."""
        self.taken = (c_uint64 * len(self.edges))()
        self.trips = (c_uint64 * self.code.exit)()
        self.table.taken = self.taken
        self.table.trips = self.trips

    def follow_paths(self, start: int, arcs: PathArcs, to: Sequence[int], sites: bytes) -> None:
        """Count paths too.

        ``start`` is the number with which those from the root begin, ``to[v]`` that of some path that leads
        to a block.  The byte of a block in ``sites`` is 0 if its call is no call site.
        """
        self._sites = (c_uint8 * self.code.exit)(*sites)
        self.table.sites = self._sites
        self._path_to = (c_uint64 * len(to))(*to)
        self.table.path_to = self._path_to
        self._paths = (PathArcTable * len(self.edges))(*starmap(PathArcTable, arcs))
        self.table.paths = self._paths
        self.table.path_start = start

    def want(self, blocks: bytes) -> None:
        """Give out only blocks whose byte is not 0."""
        self._wanted = (c_uint8 * self.code.exit)(*blocks)
        self.table.wanted = self._wanted


class CompiledProgram:
    """A program as the reader in C knows it; several readers may use it, one after another."""

    def __init__(self, library: Path, program: Program) -> None:
        self.c = load_library(library)
        self.tables: dict[int, TableOfProcedure | None] = {}
        self._program = program
        self._failed: BaseException | None = None
        # C calls these as long as it has the program.
        self._callbacks = PROCEDURE_OF(self._procedure_of), SITES_AT(self._sites_at)
        self.handle = self.c.trodden_trace_program(*self._callbacks, _MOST_MEMORY)
        if not self.handle:
            raise MemoryError

    def __del__(self) -> None:
        if getattr(self, "handle", None):
            self.c.trodden_trace_free_program(self.handle)

    def prepare(self, table: TableOfProcedure, number: int) -> None:
        """A function is entered for the first time: its tables may be completed here."""

    def path_rows(self) -> Iterator[tuple[int, int, int]]:
        """The paths that were counted: function, number, and how often."""
        room = c_uint64()
        rows = self.c.trodden_trace_paths(self.handle, ctypes.byref(room))
        for index in range(room.value):
            row = rows[index]
            if row.used:
                yield row.function, row.path, row.times

    def count_pairs(self, most: int) -> None:
        """Count pairs of paths too, up to so many different ones."""
        self.c.trodden_trace_longer(self.handle, most)

    def pair_rows(self) -> Iterator[tuple[TracedPair, int]]:
        """The pairs of paths that were counted, and how often."""
        room = c_uint64()
        rows = self.c.trodden_trace_pairs(self.handle, ctypes.byref(room))
        for index in range(room.value):
            row = rows[index]
            if row.used:
                where = row.kind, row.function, row.callee, row.site
                yield TracedPair(*where, row.first, row.second, row.end), row.times

    def check(self) -> None:
        """Raise what was raised while C was asking."""
        if self._failed is not None:
            failed, self._failed = self._failed, None
            raise failed

    def _procedure_of(self, number: int) -> int | None:
        try:
            if number not in self.tables:
                code = self._program.procedure(number)
                table = None if code is None else TableOfProcedure(code, self._program.base(number))
                if table is not None:
                    self.prepare(table, number)
                self.tables[number] = table
            table = self.tables[number]
            return None if table is None else ctypes.addressof(table.table)
        except BaseException as error:
            self._failed = error
            return None

    def _sites_at(self, module: int, address: int, found: ctypes._Pointer[SiteRow]) -> int:
        try:
            sites = self._program.frames_at(module, address)[:MOST_SITES]
            for index, (function, block) in enumerate(sites):
                found[index] = SiteRow(function, block)
            return len(sites)
        except BaseException as error:
            self._failed = error
            return 0


class Batches(Protocol):
    """What keeps batches of events: a list, or what reads them at once."""

    def append(self, packed: bytes, /) -> None:
        """Keep the next batch, as :meth:`Batch.packed` makes it."""


class Batch:
    """Events as they lie in memory, until the next batch is asked for."""

    def __init__(self, rows: ctypes.Array[EventRow], number: int) -> None:
        self.rows = rows
        self.number = number

    def __len__(self) -> int:
        return self.number

    def packed(self) -> bytes:
        """The events in a form that lasts: see :func:`unpacked_backwards`."""
        return bytes(memoryview(self.rows).cast("B")[: self.number * _ROW.size])

    def events(self) -> Iterator[Event]:
        """The events one by one."""
        size = ctypes.sizeof(EventRow)
        view = memoryview(self.rows).cast("B")[: self.number * size]
        return starmap(Event, _ROW.iter_unpack(view))


_ROW = struct.Struct("<4I2Q")


def unpacked_backwards(packed: Sequence[bytes]) -> Iterator[Event]:
    """The events of packed batches, the last one first."""
    for batch in reversed(packed):
        for offset in range(len(batch) - _ROW.size, -1, -_ROW.size):
            yield Event(*_ROW.unpack_from(batch, offset))


class CompiledReader:
    """Reads the records of one thread."""

    def __init__(self, program: CompiledProgram, kinds: int = ALL_KINDS) -> None:
        self._program = program
        self._c = program.c
        self.kinds = kinds
        self._reader = self._c.trodden_trace_reader(program.handle)
        if not self._reader:
            raise MemoryError
        self._rows = (EventRow * _ROOM)()
        self._packed: Batches | None = None
        self._clear()

    def __del__(self) -> None:
        if getattr(self, "_reader", None):
            self._c.trodden_trace_free_reader(self._reader)

    def use(self, kinds: int) -> None:
        """From now on give out events of other kinds."""
        self.kinds = kinds
        self._clear()

    @property
    def lost(self) -> bool:
        """Whether a record could not be understood, and nothing has said since where control is."""
        return bool(self._c.trodden_trace_lost(self._reader))

    @property
    def position(self) -> int:
        """How many blocks were executed."""
        return int(self._c.trodden_trace_position(self._reader, None))

    @position.setter
    def position(self, value: int) -> None:
        self._c.trodden_trace_position(self._reader, ctypes.byref(c_uint64(value)))

    @property
    def frames(self) -> list[tuple[int, int, bool]]:
        """The active frames, outermost first: function, block, and whether it is in a call there."""
        return [(number, at, bool(in_call)) for number, at, in_call, _ in self.frames_with_paths]

    @property
    def frames_with_paths(self) -> list[tuple[int, int, int, int]]:
        """The same, each with its path number so far."""
        row = (c_uint64 * 4)()
        found = []
        for depth in range(self._c.trodden_trace_depth(self._reader)):
            self._c.trodden_trace_frame(self._reader, depth, row)
            found.append((row[0], row[1], row[2], row[3]))
        return found

    def start(
        self, frames: Sequence[tuple[int, int]], function: int | None = None, location: int = 0
    ) -> Iterator[Event]:
        """Forget the stack and go on with these frames (innermost first), by what a chunk says of itself."""
        for batch in self.started(frames, function, location):
            yield from self._given(batch)

    def started(
        self, frames: Sequence[tuple[int, int]], function: int | None = None, location: int = 0
    ) -> Iterator[Batch]:
        """The same in batches."""
        flat = (c_uint64 * (2 * len(frames)))(*(number for frame in frames for number in frame))
        number = NONE if function is None else function
        while not (result := self._c.trodden_trace_start(self._reader, flat, len(frames), number, location)):
            self._make_room(self._c.trodden_trace_needed(self._reader))
        self._check(result)
        if result == 3:
            raise ValueError("a trace starts in a function that does not exist")
        yield self._batch()

    def enter_handler(self, signal: int) -> Iterator[Event]:
        """A signal handler is called; what follows are its records."""
        for batch in self.entered_handler(signal):
            yield from self._given(batch)

    def entered_handler(self, signal: int) -> Iterator[Batch]:
        """The same in batches."""
        while True:
            result = self._c.trodden_trace_enter_handler(self._reader, signal)
            self._check(result)
            yield self._batch()
            if result:
                return
            self._make_room(self._c.trodden_trace_needed(self._reader))

    def leave_handler(self) -> None:
        """The records of a handler are at their end; whether it has returned, the next record shows."""
        self._c.trodden_trace_leave_handler(self._reader)

    @property
    def top(self) -> tuple[int, int, int, bool] | None:
        """The innermost frame: how many there are, its function, its block, and whether it is in a call."""
        depth = self._c.trodden_trace_depth(self._reader)
        if depth <= self._c.trodden_trace_base(self._reader):
            return None
        row = (c_uint64 * 4)()
        self._c.trodden_trace_frame(self._reader, depth - 1, row)
        return depth, row[0], row[1], bool(row[2])

    def go_on(self) -> list[Event] | None:
        """What the innermost frame does next, if it is certain."""
        while not (result := self._c.trodden_trace_go_on(self._reader)):
            self._make_room(self._c.trodden_trace_needed(self._reader))
        self._check(result)
        return list(self._given(self._batch())) if result == 1 else None

    def extend(self, blocks: Sequence[int]) -> list[Event]:
        """The innermost frame has come so far in its region."""
        self._make_room(len(blocks) + 1)
        top = self.top
        table = None if top is None else self._program.tables.get(top[1])
        if table is None:
            return []
        arcs = [table.arc_to(block, target) for block, target in pairwise(blocks)]
        number = len(blocks)
        self._c.trodden_trace_extend(
            self._reader, (c_uint32 * number)(*blocks), (c_uint32 * number)(*arcs), number
        )
        return list(self._given(self._batch()))

    def end(self) -> None:
        """Nothing follows: the paths of all frames are cut short."""
        if not self._c.trodden_trace_end(self._reader):
            raise MemoryError

    def keep(self, packed: Batches) -> None:
        """From now on events are not given out one by one, but in batches to what keeps them."""
        self._packed = packed

    def feed(self, data: bytes, begin: int = 0, end: int | None = None) -> Iterator[Event]:
        """Read the records in ``data[begin:end]``, up to its end or the first 0."""
        for batch in self.fed(data, begin, end):
            yield from self._given(batch)

    def _given(self, batch: Batch) -> Iterator[Event]:
        if self._packed is None:
            return batch.events()
        self._packed.append(batch.packed())
        return iter(())

    def fed(self, data: bytes, begin: int = 0, end: int | None = None) -> Iterator[Batch]:
        """The same in batches."""
        last = len(data) if end is None else end
        position = c_uint64(begin)
        address = ctypes.cast(ctypes.c_char_p(data), ctypes.c_void_p)
        while True:
            result = self._c.trodden_trace_feed(self._reader, address, ctypes.byref(position), last)
            self._check(result)
            batch = self._batch()
            if batch.number or result:
                yield batch
            if result:
                return
            self._make_room(self._c.trodden_trace_needed(self._reader))

    def _check(self, result: int) -> None:
        self._program.check()
        if result == 2:
            raise MemoryError

    def _batch(self) -> Batch:
        batch = Batch(self._rows, self._c.trodden_trace_used(self._reader))
        self._clear()
        return batch

    def _clear(self) -> None:
        self._c.trodden_trace_events(self._reader, self._rows, len(self._rows), self.kinds)

    def _make_room(self, needed: int) -> None:
        if needed > len(self._rows):
            self._rows = (EventRow * (needed + needed // 2))()
        self._clear()
