"""The raw file that an instrumented program leaves behind when it ends by itself.

It is written by a process that is about to end, perhaps to a full disk, so that every size in it is checked
against the real size of the file before it is used.
"""

from __future__ import annotations

import os
import struct
import zlib

from trodden.collect.rawfile.family import MAGIC as LIVE
from trodden.collect.rawfile.family import Inside
from trodden.collect.rawfile.frame_record import FRAME, frame_from
from trodden.collect.rawfile.live import read_live
from trodden.collect.rawfile.model import (
    CROSSING,
    CROSSING_ROW,
    ROOT,
    SAVED_REGISTERS,
    Ending,
    Raw,
    RawCallNode,
    RawCrossings,
    RawFrame,
    RawLastPath,
    RawModule,
    RawNonLocalExit,
    RawSavedRegisters,
    RawSparsePath,
    RawTrace,
    RawUnit,
    TraceEnd,
    crossings_from,
    saved_registers_from,
    sparse_path_from,
)
from trodden.errors import BadFile, InputMissing, LaterVersion
from trodden.recover.sparse_counters import SparseCounters

VERSION = 6
WITHOUT_TRACE, WITHOUT_CROSSINGS = 4, 5
MAGIC = b"TRODRAW1"
END = b"DONE"

_HEADER = struct.Struct("<8sIIQQQIIIIIIIIIIII")
_MODULE = struct.Struct("<QII")
_UNIT = struct.Struct("<16sII")
_EXIT = struct.Struct("<IIQQq")
_SPARSE_PATH = struct.Struct("<IIQQQ")
_CALL_NODE = struct.Struct("<IIIIQ")
_RUN = struct.Struct("<II")
_TRAILER = struct.Struct("<QI4s")

_LAST_PATH = struct.Struct("<IIIIQ")
_TRACE = struct.Struct("<IIQ")
_CROSSINGS = struct.Struct("<QQ")
_TRACED_UNIT = struct.Struct("<II")

FRAMES_MISSING = 2
COUNTS_LOST = 4
NO_SPACE = 8
TRACED = 16

RECURSIVE = 1
ENDINGS = (Ending.EXIT, Ending.DUMP, Ending.SIGNAL)


def read_raw(path: str | os.PathLike[str]) -> Raw:
    """Read a raw file."""
    name = os.fspath(path)
    try:
        if isinstance(path, Inside):
            with open(path.file, "rb") as stream:
                return read_live(stream.fileno(), name, path.base)
        with open(name, "rb") as stream:
            head = stream.read(_HEADER.size)
            if head.startswith(LIVE):
                return read_live(stream.fileno(), name)
            _check_head(head, name)
            data = head + stream.read()
    except OSError as error:
        raise InputMissing(f"{name}: cannot be read: {error.strerror}") from error
    return parse_raw(data, name)


def parse_raw(data: bytes, where: str) -> Raw:
    """The content of a raw file; ``where`` names it in error messages."""
    _check_head(data, where)
    if len(data) < _HEADER.size + _TRAILER.size:
        raise BadFile(f"{where}: truncated: its end is missing; run the program again")
    claimed, checksum, end = _TRAILER.unpack_from(data, len(data) - _TRAILER.size)
    if end != END:
        raise BadFile(f"{where}: truncated: its end is missing; run the program again")
    if claimed != len(data):
        raise BadFile(f"{where}: corrupt: {len(data)} bytes long instead of {claimed}; run the program again")
    if zlib.crc32(memoryview(data)[: -_TRAILER.size]) != checksum:
        raise BadFile(f"{where}: corrupt: the checksum does not match; run the program again")
    _, version, flags, pid, parent, started, *numbers = _HEADER.unpack_from(data)
    n_modules, n_units, n_frames, n_inherited, n_exits, n_sparse, n_calls, *more = numbers
    n_registers, n_last, ending, signal, ticks = more
    if ending >= len(ENDINGS):
        raise BadFile(f"{where}: corrupt: there is no ending with the number {ending}")
    reader = _Reader(data, _HEADER.size, len(data) - _TRAILER.size, where)
    modules = tuple(reader.module() for _ in range(n_modules))
    units = tuple(reader.unit(n_modules) for _ in range(n_units))
    frames = tuple(reader.frame(n_modules) for _ in range(n_frames))
    inherited = tuple(reader.frame(n_modules) for _ in range(n_inherited))
    exits = tuple(reader.non_local_exit(n_modules) for _ in range(n_exits))
    sparse_paths = tuple(reader.sparse_path(n_units) for _ in range(n_sparse))
    call_nodes = tuple(reader.call_node(number, n_units) for number in range(n_calls))
    saved_registers = tuple(reader.saved_registers(n_frames) for _ in range(n_registers))
    last_paths = tuple(reader.last_path() for _ in range(n_last))
    crossings = reader.crossings(n_units) if version > WITHOUT_CROSSINGS else ()
    traced = bool(flags & TRACED) if version > WITHOUT_CROSSINGS else version > WITHOUT_TRACE
    trace = reader.trace(n_units) if traced else None
    reader.finish()
    return Raw(
        where,
        ENDINGS[ending],
        signal,
        pid,
        parent,
        started,
        modules,
        units,
        frames,
        inherited,
        exits,
        bool(flags & FRAMES_MISSING),
        sparse_paths,
        call_nodes,
        saved_registers,
        last_paths,
        counts_lost=bool(flags & COUNTS_LOST),
        no_space=bool(flags & NO_SPACE),
        start_ticks=ticks,
        trace=trace,
        crossings=crossings,
    )


def _check_head(data: bytes, where: str) -> None:
    if data[:8] != MAGIC:
        if MAGIC.startswith(data[:8]):
            raise BadFile(f"{where}: truncated: only {len(data)} bytes long; run the program again")
        raise BadFile(f"{where}: not a raw file of an instrumented program (it should start with TRODRAW1)")
    version = struct.unpack_from("<I", data, 8)[0] if len(data) >= 12 else VERSION
    if version > VERSION:
        raise LaterVersion(f"{where}: written by a later trodden's runtime; update trodden to read it")
    if version < 1:
        raise BadFile(f"{where}: corrupt: format version {version} does not exist")
    if version < WITHOUT_TRACE:
        raise BadFile(f"{where}: version {version} is no longer read; build and run the program again")
    if len(data) < _HEADER.size:
        raise BadFile(f"{where}: truncated: its header is incomplete; run the program again")


class _Reader:
    """A position in the file that never moves past its end."""

    def __init__(self, data: bytes, start: int, end: int, where: str) -> None:
        self._data, self._position, self._end, self._where = data, start, end, where

    def _take(self, size: int) -> int:
        if size > self._end - self._position:
            raise BadFile(f"{self._where}: corrupt: it is too short for what its header says")
        position = self._position
        self._position += size
        return position

    def module(self) -> RawModule:
        bias, length, _ = _MODULE.unpack_from(self._data, self._take(_MODULE.size))
        start = self._take(-(-length // 8) * 8)
        return RawModule(bias, os.fsdecode(self._data[start : start + length]))

    def unit(self, n_modules: int) -> RawUnit:
        name, module, slots = _UNIT.unpack_from(self._data, self._take(_UNIT.size))
        if module >= n_modules:
            raise BadFile(f"{self._where}: corrupt: a unit belongs to no module")
        found: dict[int, int] = {}
        position = 0
        while True:
            first, count = _RUN.unpack_from(self._data, self._take(_RUN.size))
            if first < position or first + count > slots or (not count and first != slots):
                raise BadFile(f"{self._where}: corrupt: a run of counters is out of order")
            if not count:
                return RawUnit(name.hex(), module, SparseCounters(slots, found))
            start = self._take(8 * count)
            values = struct.unpack_from(f"<{count}Q", self._data, start)
            found.update(zip(range(first, first + count), values, strict=True))
            position = first + count

    def frame(self, n_modules: int) -> RawFrame:
        try:
            return frame_from(FRAME.unpack_from(self._data, self._take(FRAME.size)), n_modules)
        except ValueError as error:
            raise BadFile(f"{self._where}: corrupt: {error}") from error

    def non_local_exit(self, n_modules: int) -> RawNonLocalExit:
        module, known, address, slot, count = _EXIT.unpack_from(self._data, self._take(_EXIT.size))
        if module >= n_modules:
            raise BadFile(f"{self._where}: corrupt: a non-local exit belongs to no module")
        if known > 1:
            raise BadFile(f"{self._where}: corrupt: a non-local exit has unknown flags")
        return RawNonLocalExit(module, address, count, slot if known else None)

    def sparse_path(self, n_units: int) -> RawSparsePath:
        unit, _, key, path, amount = _SPARSE_PATH.unpack_from(self._data, self._take(_SPARSE_PATH.size))
        if unit >= n_units:
            raise BadFile(f"{self._where}: corrupt: a sparse path belongs to no unit")
        return sparse_path_from(unit, key, path, amount)

    def saved_registers(self, n_frames: int) -> RawSavedRegisters:
        start = self._take(SAVED_REGISTERS.size)
        _, _, registers = saved_registers_from(self._data[start : start + SAVED_REGISTERS.size])
        if registers.frame >= n_frames:
            raise BadFile(f"{self._where}: corrupt: registers belong to no frame")
        return registers

    def last_path(self) -> RawLastPath:
        thread, tag, function, _, path = _LAST_PATH.unpack_from(self._data, self._take(_LAST_PATH.size))
        return RawLastPath(thread, tag, function, path)

    def crossings(self, n_units: int) -> tuple[RawCrossings, ...]:
        n_rows, n_counts = _CROSSINGS.unpack_from(self._data, self._take(_CROSSINGS.size))
        start = self._take(n_rows * CROSSING_ROW.size)
        rows = CROSSING_ROW.iter_unpack(self._data[start : start + n_rows * CROSSING_ROW.size])
        start = self._take(n_counts * CROSSING.size)
        counts = CROSSING.iter_unpack(self._data[start : start + n_counts * CROSSING.size])
        try:
            found = crossings_from(rows, counts, lambda number: number if 0 <= number < n_units else None)
        except ValueError as error:
            raise BadFile(f"{self._where}: corrupt: {error}") from error
        if None in found:
            raise BadFile(f"{self._where}: corrupt: a path over a call belongs to no unit")
        return tuple(each for each in found if each is not None)

    def trace(self, n_units: int) -> RawTrace:
        stopped, lost, _ = _TRACE.unpack_from(self._data, self._take(_TRACE.size))
        if stopped >= len(TraceEnd) or lost > 1:
            raise BadFile(f"{self._where}: corrupt: a trace has ended for an unknown reason")
        start = self._take(n_units * _TRACED_UNIT.size)
        units = _TRACED_UNIT.iter_unpack(self._data[start : start + n_units * _TRACED_UNIT.size])
        firsts = tuple(first if traced else None for first, traced in units)
        return RawTrace(TraceEnd(stopped), bool(lost), firsts)

    def call_node(self, number: int, n_units: int) -> RawCallNode:
        unit, function, parent, flags, count = _CALL_NODE.unpack_from(self._data, self._take(_CALL_NODE.size))
        if unit == ROOT:
            return RawCallNode(None, 0, 0, False, 0)
        if unit >= n_units or parent >= number or flags > RECURSIVE:
            raise BadFile(
                f"{self._where}: corrupt: a node of a call-path tree has no valid parent or function"
            )
        return RawCallNode(unit, function, parent, flags == RECURSIVE, count)

    def finish(self) -> None:
        if self._position != self._end:
            raise BadFile(f"{self._where}: corrupt: it is too long for what its header says")
