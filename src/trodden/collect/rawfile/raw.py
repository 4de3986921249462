"""The raw file that an instrumented program leaves behind when it ends by itself.

It is written by a dying process, perhaps onto a full disk, so every size in it is checked against the
file's real one before it is believed.
"""

from __future__ import annotations

import os
import struct
import zlib

from trodden.collect.rawfile.live import MAGIC as LIVE
from trodden.collect.rawfile.live import read_live
from trodden.collect.rawfile.model import (
    CONTEXT,
    ROOT,
    Ending,
    Raw,
    RawCall,
    RawContext,
    RawFrame,
    RawJump,
    RawLast,
    RawModule,
    RawNote,
    RawUnit,
    context_from,
    note_from,
)
from trodden.errors import BadFile, InputMissing, LaterVersion
from trodden.recover.sparse_counters import SparseCounters

VERSION = 4
MAGIC = b"TRODRAW1"
END = b"DONE"
NO_MODULE = 0xFFFFFFFF

_HEADER = struct.Struct("<8sIIQQQIIIIIIIIIIII")
_MODULE = struct.Struct("<QII")
_UNIT = struct.Struct("<16sII")
_FRAME = struct.Struct("<IIQQII")
_JUMP = struct.Struct("<IIQQq")
_NOTE = struct.Struct("<IIQQQ")
_CALL = struct.Struct("<IIIIQ")
_RUN = struct.Struct("<II")
_TRAILER = struct.Struct("<QI4s")

_LAST = struct.Struct("<IIIIQ")

_STACK_CUT = 2
_KNOWN, _INTERRUPTED, _LEFT = 1, 2, 4

_RECURSION = 1
_ENDINGS = (Ending.EXIT, Ending.DUMP, Ending.SIGNAL)


def read_raw(path: str | os.PathLike[str]) -> Raw:
    """Read a raw file."""
    name = os.fspath(path)
    try:
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
    """The content of a raw file; ``where`` names it when something is wrong with it."""
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
    _, _, flags, pid, parent, started, *numbers = _HEADER.unpack_from(data)
    n_modules, n_units, n_frames, n_first, n_jumps, n_notes, n_calls, *more = numbers
    n_contexts, n_lasts, ending, signal, _ = more
    if ending >= len(_ENDINGS):
        raise BadFile(f"{where}: corrupt: it ended in no known way")
    reader = _Reader(data, _HEADER.size, len(data) - _TRAILER.size, where)
    modules = tuple(reader.module() for _ in range(n_modules))
    units = tuple(reader.unit(n_modules) for _ in range(n_units))
    frames = tuple(reader.frame(n_modules) for _ in range(n_frames))
    inherited = tuple(reader.frame(n_modules) for _ in range(n_first))
    jumps = tuple(reader.jump(n_modules) for _ in range(n_jumps))
    notes = tuple(reader.note(n_units) for _ in range(n_notes))
    calls = tuple(reader.call(number, n_units) for number in range(n_calls))
    contexts = tuple(reader.context(n_frames) for _ in range(n_contexts))
    lasts = tuple(reader.last() for _ in range(n_lasts))
    reader.finish()
    return Raw(
        where,
        _ENDINGS[ending],
        signal,
        pid,
        parent,
        started,
        modules,
        units,
        frames,
        inherited,
        jumps,
        bool(flags & _STACK_CUT),
        notes,
        calls,
        contexts,
        lasts,
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
    if version < VERSION:
        raise BadFile(f"{where}: version {version} is no longer read; build and run the program again")
    if len(data) < _HEADER.size:
        raise BadFile(f"{where}: truncated: its header is incomplete; run the program again")


class _Reader:
    """A position in the file that never runs past its end."""

    def __init__(self, data: bytes, start: int, end: int, where: str) -> None:
        self._data, self._position, self._end, self._where = data, start, end, where

    def _take(self, size: int) -> int:
        if size > self._end - self._position:
            raise BadFile(f"{self._where}: corrupt: it promises more than it holds")
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
                raise BadFile(f"{self._where}: corrupt: a run of counters is out of place")
            if not count:
                return RawUnit(name.hex(), module, SparseCounters(slots, found))
            start = self._take(8 * count)
            values = struct.unpack_from(f"<{count}Q", self._data, start)
            found.update(zip(range(first, first + count), values, strict=True))
            position = first + count

    def frame(self, n_modules: int) -> RawFrame:
        thread, module, address, cell, flags, _ = _FRAME.unpack_from(self._data, self._take(_FRAME.size))
        if module >= n_modules and module != NO_MODULE:
            raise BadFile(f"{self._where}: corrupt: a frame belongs to no module")
        if flags > _KNOWN | _INTERRUPTED | _LEFT:
            raise BadFile(f"{self._where}: corrupt: a frame is neither with nor without a path")
        place = None if module == NO_MODULE else module
        kept = cell if flags & _KNOWN else None
        return RawFrame(thread, place, address, kept, bool(flags & _INTERRUPTED), bool(flags & _LEFT))

    def jump(self, n_modules: int) -> RawJump:
        module, known, address, cell, count = _JUMP.unpack_from(self._data, self._take(_JUMP.size))
        if module >= n_modules:
            raise BadFile(f"{self._where}: corrupt: a jump belongs to no module")
        return RawJump(module, address, count, self._cell(cell, known, "a jump"))

    def _cell(self, cell: int, known: int, what: str) -> int | None:
        if known > 1:
            raise BadFile(f"{self._where}: corrupt: {what} is neither with nor without a path")
        return cell if known else None

    def note(self, n_units: int) -> RawNote:
        unit, _, key, value, amount = _NOTE.unpack_from(self._data, self._take(_NOTE.size))
        if unit >= n_units:
            raise BadFile(f"{self._where}: corrupt: a note belongs to no unit")
        return note_from(unit, key, value, amount)

    def context(self, n_frames: int) -> RawContext:
        start = self._take(CONTEXT.size)
        _, _, context = context_from(self._data[start : start + CONTEXT.size])
        if context.frame >= n_frames:
            raise BadFile(f"{self._where}: corrupt: registers belong to no frame")
        return context

    def last(self) -> RawLast:
        thread, tag, function, _, path = _LAST.unpack_from(self._data, self._take(_LAST.size))
        return RawLast(thread, tag, function, path)

    def call(self, number: int, n_units: int) -> RawCall:
        unit, function, parent, flags, count = _CALL.unpack_from(self._data, self._take(_CALL.size))
        if unit == ROOT:
            return RawCall(None, 0, 0, False, 0)
        if unit >= n_units or parent >= number or flags > _RECURSION:
            raise BadFile(f"{self._where}: corrupt: a call comes from nowhere")
        return RawCall(unit, function, parent, flags == _RECURSION, count)

    def finish(self) -> None:
        if self._position != self._end:
            raise BadFile(f"{self._where}: corrupt: it holds more than it promises")
