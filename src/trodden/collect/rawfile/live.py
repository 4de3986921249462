"""The live file: what a process had counted when it was killed.

While it runs, all that an instrumented process has counted lies in shared mappings of this file
(``native/runtime/counters/live_file.h``).  It is a picture of the process's memory in parts, with the
address of each, so pointers between parts can be followed.  The process may have been stopped anywhere, and
the file may be damaged or forged: nothing in it is believed before it was compared with the file's real
size, and only what was really written is read, as most of the file is holes.
"""

from __future__ import annotations

import os
import struct
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from trodden.collect.rawfile.live_regions import REGION, LiveFile, Region
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
from trodden.collect.rawfile.rings import lasts_in
from trodden.errors import BadFile, LaterVersion
from trodden.recover.sparse_counters import SparseCounters

MAGIC = b"TRODLIVE"
VERSION = 1
_HEADER = struct.Struct("<8sIIQQQQIIIIQQQ24x")
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
_MODULES, _COUNTERS, _JUMPED, _NOTED, _NOTE_ARRAY, _CALL_TREE, _CALL_CHUNK = range(1, 8)
_START, _END, _CONTEXT, _RING, _LEFT = range(9, 14)
_TAKEN = (1 << 64) - 1
_STATES = (Ending.KILLED, Ending.EXEC, Ending.SIGNAL, Ending.EXIT)
_PARTLY = 1
_MOST_HEADER = 1 << 26


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
        self._file = LiveFile(descriptor, where)
        self._where = where

    def raw(self) -> Raw:
        head = self._file.head(_HEADER.size)
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
            raise self._file.bad("its header makes no sense")
        regions = self._file.regions(_HEADER.size, min(used, (room - _HEADER.size) // REGION.size))
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

    def _modules(self, regions: list[Region]) -> list[_Module]:
        found: dict[int, _Module] = {}
        for region in regions:
            if region.kind != _MODULES:
                continue
            bias, index, count, first, length = _MODULE.unpack(self._file.bytes_of(region, 0, _MODULE.size))
            table = self._file.bytes_of(region, _MODULE.size, count * _UNIT.size)
            path = self._file.bytes_of(region, _MODULE.size + len(table), length)
            own = tuple(_Unit(name, slots, offset) for name, slots, _, offset in _UNIT.iter_unpack(table))
            found[index] = _Module(bias, os.fsdecode(path), first, own)
        modules = [found[index] for index in sorted(found)]
        units = 0
        for module in modules:
            if module.first_unit != units:
                raise self._file.bad("its units are not in order")
            units += len(module.units)
        if sorted(found) != list(range(len(found))):
            raise self._file.bad("a module is missing")
        return modules

    def _units(self, regions: list[Region], modules: list[_Module]) -> tuple[RawUnit, ...]:
        sums: list[Counter[int]] = [Counter() for _ in modules]
        for region in regions:
            if region.kind != _COUNTERS:
                continue
            if region.module >= len(modules):
                raise self._file.bad("counters belong to no module")
            counts = sums[region.module]
            for place, piece in self._file.data(region):
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
                    raise self._file.bad("units share counters")
                counted = {place - first: words[place] for place in mine}
                found.append(RawUnit(unit.id.hex(), index, SparseCounters(unit.slots, counted)))
        return tuple(found)

    def _frames(
        self, regions: list[Region], kind: int, modules: int
    ) -> tuple[tuple[RawFrame, ...], tuple[RawContext, ...], bool]:
        frames: list[RawFrame] = []
        firsts: dict[int, int] = {}
        cut = False
        for region in regions:
            if region.kind != kind:
                continue
            thread, _, count, lost = _FRAMES.unpack(self._file.bytes_of(region, 0, _FRAMES.size))
            cut = cut or bool(lost)
            firsts.setdefault(thread, len(frames))
            data = self._file.bytes_of(region, _FRAMES.size, count * _FRAME.size)
            frames += [self._frame(fields, modules) for fields in _FRAME.iter_unpack(data)]
        contexts = []
        for region in regions if kind == _END else ():
            if region.kind == _CONTEXT:
                thread, frame, context = context_from(self._file.bytes_of(region, 0, CONTEXT.size))
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
            raise self._file.bad("a frame belongs to no module")
        return RawFrame(
            number, module, address, cell if flags & 1 else None, bool(flags & 2), bool(flags & 4)
        )

    def _left(self, region: Region) -> Iterator[tuple[bytes, bytes]]:
        """Functions that were interrupted and left before the end: the frame, and its registers."""
        _, used = _LEFT_PART.unpack(self._file.bytes_of(region, 0, _LEFT_PART.size))
        data = self._file.bytes_of(region, _LEFT_PART.size, used * _LEFT_BYTES)
        for at in range(0, len(data), _LEFT_BYTES):
            yield data[at : at + _FRAME.size], data[at + _FRAME.size : at + _LEFT_BYTES]

    def _tids(self, regions: list[Region]) -> dict[int, int]:
        """What the system called the threads whose frames were kept."""
        heads = (self._file.bytes_of(each, 0, _FRAMES.size) for each in regions if each.kind == _END)
        return {thread: tid for thread, tid, _, _ in map(_FRAMES.unpack, heads) if tid}

    def _jumps(self, regions: list[Region], modules: int) -> tuple[RawJump, ...]:
        sums: Counter[tuple[int, int, int | None]] = Counter()
        for region in regions:
            if region.kind != _JUMPED:
                continue
            _, room, _ = _JUMPS.unpack(self._file.bytes_of(region, 0, _JUMPS.size))
            for _, record in self._file.records(region, _JUMPS.size, _JUMP, room):
                module, known, used, _, address, cell, count = _JUMP.unpack(record)
                if used and count:
                    if module >= modules:
                        raise self._file.bad("a jump belongs to no module")
                    sums[module, address, cell if known else None] += count
        return tuple(RawJump(m, address, count, cell) for (m, address, cell), count in sums.items() if count)

    def _notes(self, regions: list[Region], units: int) -> Iterator[RawNote]:
        sums: Counter[tuple[int, int, int]] = Counter()
        for region in regions:
            if region.kind not in (_NOTED, _NOTE_ARRAY):
                continue
            first = _NOTE_TABLE_BYTES if region.kind == _NOTED else 0
            shift = _NOTES.unpack(self._file.bytes_of(region, first, _NOTES.size))[3]
            if not 0 < shift <= 64:
                raise self._file.bad("a table of notes makes no sense")
            for _, record in self._file.records(region, first + _NOTES.size, _NOTE, 1 << (64 - shift)):
                unit, key, value, amount = _NOTE.unpack(record)
                if unit and unit != _TAKEN and amount:
                    if unit > units:
                        raise self._file.bad("a note belongs to no unit")
                    sums[unit - 1, key, value] += amount
        for (unit, key, value), amount in sums.items():
            yield note_from(unit, key, value, amount)

    def _lasts(self, regions: list[Region]) -> Iterator[RawLast]:
        for region in regions:
            if region.kind == _RING:
                try:
                    yield from lasts_in(self._file.bytes_of(region, 0, region.size), region.address)
                except (ValueError, struct.error) as error:
                    raise self._file.bad(str(error)) from error

    def _calls(self, regions: list[Region], units: int) -> Iterator[RawCall]:
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
                oldest = _TREE.unpack(self._file.bytes_of(region, 0, _TREE.size))[3]
                first = oldest - region.address
            elif region.kind != _CALL_CHUNK:
                continue
            if not 0 <= first <= region.size - _CHUNK.size:
                raise self._file.bad("a table of calls makes no sense")
            _, _, room, used = _CHUNK.unpack(self._file.bytes_of(region, first, _CHUNK.size))
            start = first + _CHUNK.size
            for number, record in self._file.records(region, start, _CALL, min(room, used)):
                nodes.append((region.address + start + number * _CALL.size, record))
        for address, record in nodes:
            key, to, count, _, parent, unit, function, _, _ = _CALL.unpack(record)
            if not key or unit == ROOT:
                continue
            if unit >= units or parent not in known:
                raise self._file.bad("a call comes from nowhere")
            if to == address:
                known[address] = len(known)
            else:
                known[-address] = len(known)
            yield RawCall(unit, function, known[parent], to != address, count)
