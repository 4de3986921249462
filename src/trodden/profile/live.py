"""The live file: what a process had counted when it was killed.

While it runs, all that an instrumented process has counted lies in shared mappings of this file
(``native/runtime/live.h``).  It is a picture of the process's memory in parts, with the address of each, so
pointers between parts can be followed.  The process may have been stopped anywhere, and the file may be
damaged or forged: nothing in it is believed before it was compared with the file's real size, and only what
was really written is read, as most of the file is holes.
"""

from __future__ import annotations

import errno
import os
import struct
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from trodden.errors import BadFile, LaterVersion
from trodden.profile.rawdata import (
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
from trodden.profile.rings import lasts_in
from trodden.recover.counts import Counts

MAGIC = b"TRODLIVE"
VERSION = 1
_HEADER = struct.Struct("<8sIIQQQQIIIIQQQ24x")
_REGION = struct.Struct("<QQQII")
_MODULE = struct.Struct("<QIIII")
_UNIT = struct.Struct("<16sIIQ")
_FRAMES = struct.Struct("<IIII")
_FRAME = struct.Struct("<IIQQII")
_LEFT_PART = struct.Struct("<QQ")
_LEFT_BYTES = _FRAME.size + CONTEXT.size
_JUMPS = struct.Struct("<QQQ")
_JUMP = struct.Struct("<IBBHQQq")
_NOTE_TABLE_BYTES = 40
_NOTES = struct.Struct("<QQQI4x")
_NOTE = struct.Struct("<QQQQ")
_TREE = struct.Struct("<QQQQQ")
_CHUNK = struct.Struct("<QQQQ")
_CALL = struct.Struct("<QQQQQ72xIIII")
_NOTHING, _MODULES, _COUNTERS, _JUMPED, _NOTED, _NOTE_ARRAY, _CALL_TREE, _CALL_CHUNK = range(8)
_START, _END, _CONTEXT, _RING, _LEFT = range(9, 14)
_NOWHERE = (1 << 64) - 1
_TAKEN = (1 << 64) - 1
_STATES = (Ending.KILLED, Ending.EXEC, Ending.SIGNAL, Ending.EXIT)
_PARTLY = 1
_MOST_HEADER = 1 << 26
_MOST_AT_ONCE = 1 << 26


@dataclass(frozen=True, slots=True)
class _Region:
    offset: int
    size: int
    address: int
    kind: int
    module: int


@dataclass(frozen=True, slots=True)
class _Unit:
    id: bytes
    slots: int
    offset: int


@dataclass(frozen=True, slots=True)
class _Module:
    bias: int
    path: str
    first_unit: int
    units: tuple[_Unit, ...]


def read_live(descriptor: int, where: str) -> Raw:
    """What the process had counted; ``where`` names the file when something is wrong with it."""
    return _Reader(descriptor, where).raw()


class _Reader:
    def __init__(self, descriptor: int, where: str) -> None:
        self._file = descriptor
        self._where = where
        self._size = os.fstat(descriptor).st_size

    def _bad(self, what: str) -> BadFile:
        return BadFile(f"{self._where}: corrupt: {what}; run the program again")

    def raw(self) -> Raw:
        head = os.pread(self._file, _HEADER.size, 0)
        if len(head) < _HEADER.size:
            raise BadFile(f"{self._where}: truncated: its header is incomplete; run the program again")
        magic, version, room, pid, parent, start, ticks, state, signal, flags, cut, _, used, _ = (
            _HEADER.unpack(head)
        )
        if magic != MAGIC:
            raise BadFile(f"{self._where}: not the file of a running program")
        if version > VERSION:
            raise LaterVersion(
                f"{self._where}: written by a later trodden's runtime; update trodden to read it"
            )
        if state >= len(_STATES) or not _HEADER.size <= room <= _MOST_HEADER:
            raise self._bad("its header makes no sense")
        regions = self._regions(min(used, (room - _HEADER.size) // _REGION.size))
        modules = self._modules(regions)
        units = self._units(regions, modules)
        frames, contexts, lost = self._frames(regions, _END, len(modules))
        inherited, _, unknown = self._frames(regions, _START, len(modules))
        return Raw(
            path=self._where,
            ending=_STATES[state],
            signal=signal,
            pid=pid,
            parent=parent,
            started=start,
            modules=tuple(RawModule(module.bias, module.path) for module in modules),
            units=units,
            frames=frames,
            inherited=inherited,
            jumps=self._jumps(regions, len(modules)),
            stack_cut=bool(cut) or lost or unknown,
            notes=tuple(self._notes(regions, len(units))),
            calls=tuple(self._calls(regions, len(units))),
            contexts=contexts,
            lasts=tuple(self._lasts(regions)),
            partly=bool(flags & _PARTLY),
            ticks=ticks,
            tids=self._tids(regions),
        )

    # ---- parts of the file ----

    def _regions(self, count: int) -> list[_Region]:
        data = os.pread(self._file, count * _REGION.size, _HEADER.size)
        found = []
        for position in range(0, len(data) - _REGION.size + 1, _REGION.size):
            region = _Region(*_REGION.unpack_from(data, position))
            if region.kind == _NOTHING or region.offset == _NOWHERE:
                continue
            if region.offset > self._size or region.size > self._size - region.offset:
                raise self._bad("a region lies outside of it")
            found.append(region)
        # Each was given a place of its own; if all were the same one, it would be read again and again.
        if sum(region.size for region in found) > self._size:
            raise self._bad("its regions overlap")
        return found

    def _data(self, region: _Region, first: int = 0) -> Iterator[tuple[int, bytes]]:
        """What was written of a region from ``first`` on, in pieces with their places in it."""
        at, end = region.offset + first, region.offset + region.size
        while at < end:
            try:
                at = os.lseek(self._file, at, os.SEEK_DATA)
                hole = os.lseek(self._file, at, os.SEEK_HOLE)
            except OSError as error:
                if error.errno == errno.ENXIO:
                    return
                hole = end
            while at < min(hole, end):
                piece = os.pread(self._file, min(hole, end, at + (1 << 20)) - at, at)
                if not piece:
                    return
                yield at - region.offset, piece
                at += len(piece)

    def _bytes(self, region: _Region, first: int, size: int) -> bytes:
        if first > region.size or size > region.size - first or size > _MOST_AT_ONCE:
            raise self._bad("a region is too small for what it holds")
        return os.pread(self._file, size, region.offset + first).ljust(size, b"\0")

    def _records(
        self, region: _Region, first: int, layout: struct.Struct, count: int
    ) -> Iterator[tuple[int, bytes]]:
        """Records that are not empty, with their numbers: whole ones out of what was written."""
        if count > (region.size - first) // layout.size:
            raise self._bad("a table is larger than its region")
        end = first + count * layout.size
        done = first
        for place, piece in self._data(region, first):
            start = max(done, first + (place - first) // layout.size * layout.size)
            stop = min(end, first + -(-(place + len(piece) - first) // layout.size) * layout.size)
            if start >= stop:
                continue
            data = self._bytes(region, start, stop - start)
            for at in range(0, stop - start, layout.size):
                record = data[at : at + layout.size]
                if any(record):
                    yield (start + at - first) // layout.size, record
            done = stop

    # ---- what they hold ----

    def _modules(self, regions: list[_Region]) -> list[_Module]:
        found: dict[int, _Module] = {}
        for region in regions:
            if region.kind != _MODULES:
                continue
            bias, index, count, first, length = _MODULE.unpack(self._bytes(region, 0, _MODULE.size))
            table = self._bytes(region, _MODULE.size, count * _UNIT.size)
            path = self._bytes(region, _MODULE.size + len(table), length)
            own = tuple(_Unit(name, slots, offset) for name, slots, _, offset in _UNIT.iter_unpack(table))
            found[index] = _Module(bias, os.fsdecode(path), first, own)
        modules = [found[index] for index in sorted(found)]
        units = 0
        for module in modules:
            if module.first_unit != units:
                raise self._bad("its units are not in order")
            units += len(module.units)
        if sorted(found) != list(range(len(found))):
            raise self._bad("a module is missing")
        return modules

    def _units(self, regions: list[_Region], modules: list[_Module]) -> tuple[RawUnit, ...]:
        sums: list[Counter[int]] = [Counter() for _ in modules]
        for region in regions:
            if region.kind != _COUNTERS:
                continue
            if region.module >= len(modules):
                raise self._bad("counters belong to no module")
            counts = sums[region.module]
            for place, piece in self._data(region):
                first = place // 8
                for number, value in enumerate(array("Q", piece[: len(piece) // 8 * 8])):
                    if value:
                        counts[first + number] += value
        found = []
        for index, module in enumerate(modules):
            words = sums[index]
            places = sorted(words)
            left = len(places)
            for unit in module.units:
                first = unit.offset // 8
                mine = places[bisect_left(places, first) : bisect_left(places, first + unit.slots)]
                left -= len(mine)
                if left < 0:
                    raise self._bad("units share counters")
                counted = {place - first: words[place] for place in mine}
                found.append(RawUnit(unit.id.hex(), index, Counts(unit.slots, counted)))
        return tuple(found)

    def _frames(
        self, regions: list[_Region], kind: int, modules: int
    ) -> tuple[tuple[RawFrame, ...], tuple[RawContext, ...], bool]:
        frames: list[RawFrame] = []
        firsts: dict[int, int] = {}
        cut = False
        for region in regions:
            if region.kind != kind:
                continue
            thread, _, count, lost = _FRAMES.unpack(self._bytes(region, 0, _FRAMES.size))
            cut = cut or bool(lost)
            firsts.setdefault(thread, len(frames))
            data = self._bytes(region, _FRAMES.size, count * _FRAME.size)
            frames += [self._frame(fields, modules) for fields in _FRAME.iter_unpack(data)]
        contexts = []
        for region in regions if kind == _END else ():
            if region.kind == _CONTEXT:
                thread, frame, context = context_from(self._bytes(region, 0, CONTEXT.size))
                at = firsts.get(thread, len(frames)) + frame
                if at < len(frames) and frames[at].thread == thread:
                    contexts.append(replace(context, frame=at))
            elif region.kind == _LEFT:
                for frame_data, context_data in self._left(region):
                    contexts.append(replace(context_from(context_data)[2], frame=len(frames)))
                    frames.append(self._frame(_FRAME.unpack(frame_data), modules))
        return tuple(frames), tuple(contexts), cut

    def _frame(self, fields: tuple[int, ...], modules: int) -> RawFrame:
        number, module, address, cell, flags, _ = fields
        if module >= modules:
            raise self._bad("a frame belongs to no module")
        return RawFrame(
            number, module, address, cell if flags & 1 else None, bool(flags & 2), bool(flags & 4)
        )

    def _left(self, region: _Region) -> Iterator[tuple[bytes, bytes]]:
        """Functions that were interrupted and left before the end: the frame, and its registers."""
        _, used = _LEFT_PART.unpack(self._bytes(region, 0, _LEFT_PART.size))
        data = self._bytes(region, _LEFT_PART.size, used * _LEFT_BYTES)
        for at in range(0, len(data), _LEFT_BYTES):
            yield data[at : at + _FRAME.size], data[at + _FRAME.size : at + _LEFT_BYTES]

    def _tids(self, regions: list[_Region]) -> dict[int, int]:
        """What the system called the threads whose frames were kept."""
        heads = (self._bytes(each, 0, _FRAMES.size) for each in regions if each.kind == _END)
        return {thread: tid for thread, tid, _, _ in map(_FRAMES.unpack, heads) if tid}

    def _jumps(self, regions: list[_Region], modules: int) -> tuple[RawJump, ...]:
        sums: Counter[tuple[int, int, int | None]] = Counter()
        for region in regions:
            if region.kind != _JUMPED:
                continue
            _, room, _ = _JUMPS.unpack(self._bytes(region, 0, _JUMPS.size))
            for _, record in self._records(region, _JUMPS.size, _JUMP, room):
                module, known, used, _, address, cell, count = _JUMP.unpack(record)
                if used and count:
                    if module >= modules:
                        raise self._bad("a jump belongs to no module")
                    sums[module, address, cell if known else None] += count
        return tuple(RawJump(m, address, count, cell) for (m, address, cell), count in sums.items() if count)

    def _notes(self, regions: list[_Region], units: int) -> Iterator[RawNote]:
        sums: Counter[tuple[int, int, int]] = Counter()
        for region in regions:
            if region.kind not in (_NOTED, _NOTE_ARRAY):
                continue
            first = _NOTE_TABLE_BYTES if region.kind == _NOTED else 0
            shift = _NOTES.unpack(self._bytes(region, first, _NOTES.size))[3]
            if not 0 < shift <= 64:
                raise self._bad("a table of notes makes no sense")
            for _, record in self._records(region, first + _NOTES.size, _NOTE, 1 << (64 - shift)):
                unit, key, value, amount = _NOTE.unpack(record)
                if unit and unit != _TAKEN and amount:
                    if unit > units:
                        raise self._bad("a note belongs to no unit")
                    sums[unit - 1, key, value] += amount
        for (unit, key, value), amount in sums.items():
            yield note_from(unit, key, value, amount, self._where)

    def _lasts(self, regions: list[_Region]) -> Iterator[RawLast]:
        for region in regions:
            if region.kind == _RING:
                try:
                    yield from lasts_in(self._bytes(region, 0, region.size), region.address)
                except (ValueError, struct.error) as error:
                    raise self._bad(str(error)) from error

    def _calls(self, regions: list[_Region], units: int) -> Iterator[RawCall]:
        """The trees, parents first: calls lie in the order in which they were made."""
        known: dict[int, int] = {}
        for region in regions:
            if region.kind == _CALL_TREE:
                known[region.address + _TREE.size] = len(known)
                yield RawCall(None, 0, 0, False, 0)
        nodes: list[tuple[int, bytes]] = []
        for region in regions:
            first = 0
            if region.kind == _CALL_TREE:
                oldest = _TREE.unpack(self._bytes(region, 0, _TREE.size))[3]
                first = oldest - region.address
            elif region.kind != _CALL_CHUNK:
                continue
            if not 0 <= first <= region.size - _CHUNK.size:
                raise self._bad("a table of calls makes no sense")
            _, _, room, used = _CHUNK.unpack(self._bytes(region, first, _CHUNK.size))
            start = first + _CHUNK.size
            for number, record in self._records(region, start, _CALL, min(room, used)):
                nodes.append((region.address + start + number * _CALL.size, record))
        for address, record in nodes:
            key, to, count, _, parent, unit, function, _, _ = _CALL.unpack(record)
            if not key or unit == ROOT:
                continue
            if unit >= units or parent not in known:
                raise self._bad("a call comes from nowhere")
            if to == address:
                known[address] = len(known)
            else:
                known[-address] = len(known)
            yield RawCall(unit, function, known[parent], to != address, count)
