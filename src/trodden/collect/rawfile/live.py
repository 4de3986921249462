"""The live file: what a process had counted when it was killed.

While an instrumented process runs, everything that it has counted is in shared mappings of this file
(``native/runtime/counters/live_file.h``).  The file holds regions of the memory of the process, with the
address of each, so that pointers between regions can be followed.  The process may have been stopped at any
instruction, and the file may be damaged or forged: nothing in it is trusted before it was compared with the
real size of the file, and only what was really written is read, since most of the file is holes.
"""

from __future__ import annotations

import os
import struct
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from trodden.collect.rawfile.family import MAGIC
from trodden.collect.rawfile.frame_record import FRAME, frame_from
from trodden.collect.rawfile.live_regions import REGION, LiveFile, Region, RegionKind
from trodden.collect.rawfile.model import (
    ROOT,
    SAVED_REGISTERS,
    Ending,
    Raw,
    RawCallNode,
    RawFrame,
    RawLastPath,
    RawModule,
    RawNonLocalExit,
    RawSavedRegisters,
    RawSparsePath,
    RawUnit,
    saved_registers_from,
    sparse_path_from,
)
from trodden.collect.rawfile.rings import last_paths_in
from trodden.errors import BadFile, LaterVersion
from trodden.recover.sparse_counters import SparseCounters

VERSION = 1
_HEADER = struct.Struct("<8sIIQQQQIIIIQQQ24x")
_MODULE = struct.Struct("<QIIII")
_UNIT = struct.Struct("<16sIIQ")
_FRAMES = struct.Struct("<IIII")
_ABANDONED_CHUNK = struct.Struct("<QQ")
_ABANDONED_BYTES = FRAME.size + SAVED_REGISTERS.size
_EXIT_TABLE = struct.Struct("<QQQ")
_EXIT = struct.Struct("<IBBHQQq")
_SPARSE_TABLE_BYTES = 40
_SPARSE_HEADER = struct.Struct("<QQQI4x")
_SPARSE_ENTRY = struct.Struct("<QQQQ")
_TREE = struct.Struct("<QQQQQ")
_CHUNK = struct.Struct("<QQQQ")
_CALL_NODE = struct.Struct("<QQQQQ72xIIII")
SPARSE_RESERVED = (1 << 64) - 1
"""In place of a unit: the entry was being written."""
STATES = (Ending.KILLED, Ending.EXEC, Ending.SIGNAL, Ending.EXIT)
"""How the process ended, by ``enum trodden_live_state``."""
INCOMPLETE = 1
"""The flag of a file that lacks some regions."""
NO_SPACE = 2
"""The flag of a file that had no space for them."""
_MOST_HEADER = 1 << 26
_LOW_TICKS = 0xFFFFFFFF


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


def read_live(descriptor: int, where: str, base: int = 0) -> Raw:
    """What the process with its header at ``base`` had counted; ``where`` names the file in messages."""
    return _Reader(descriptor, where, base).raw()


class _Reader:
    def __init__(self, descriptor: int, where: str, base: int) -> None:
        self._file = LiveFile(descriptor, where, base)
        self._where = where

    def raw(self) -> Raw:
        head = self._file.head(_HEADER.size)
        if len(head) < _HEADER.size:
            raise BadFile(f"{self._where}: truncated: its header is incomplete; run the program again")
        magic, version, header_bytes, pid, parent, start, ticks, state, signal, flags, missing, _, used, _ = (
            _HEADER.unpack(head)
        )
        if magic != MAGIC:
            raise BadFile(f"{self._where}: not the file of a running program")
        if version > VERSION:
            raise LaterVersion(
                f"{self._where}: written by a later trodden's runtime; update trodden to read it"
            )
        if state >= len(STATES) or not _HEADER.size <= header_bytes <= _MOST_HEADER:
            raise self._file.bad("its header is not valid")
        regions = self._file.regions(_HEADER.size, min(used, (header_bytes - _HEADER.size) // REGION.size))
        modules = self._modules(regions)
        units = self._units(regions, modules)
        frames, saved_registers, missing_at_end = self._frames(regions, RegionKind.END_FRAMES, len(modules))
        inherited, _, missing_at_fork = self._frames(regions, RegionKind.FORK_FRAMES, len(modules))
        return Raw(
            path=self._where,
            ending=STATES[state],
            signal=signal,
            pid=pid,
            parent=parent,
            started=start,
            modules=tuple(RawModule(module.bias, module.path) for module in modules),
            units=units,
            frames=frames,
            inherited=inherited,
            non_local_exits=self._non_local_exits(regions, len(modules)),
            frames_missing=bool(missing) or missing_at_end or missing_at_fork,
            sparse_paths=tuple(self._sparse_paths(regions, len(units))),
            call_nodes=tuple(self._call_nodes(regions, len(units), bool(flags & INCOMPLETE))),
            saved_registers=saved_registers,
            last_paths=tuple(self._last_paths(regions)),
            counts_missing=bool(flags & INCOMPLETE),
            no_space=bool(flags & NO_SPACE),
            start_ticks=ticks & _LOW_TICKS,
            tids=self._tids(regions),
        )

    def _modules(self, regions: list[Region]) -> list[_Module]:
        found: dict[int, _Module] = {}
        for region in regions:
            if region.kind != RegionKind.MODULE:
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
            if region.kind != RegionKind.SHARD:
                continue
            if region.module >= len(modules):
                raise self._file.bad("counters belong to no module")
            counters = sums[region.module]
            for offset, piece in self._file.data(region):
                first = offset // 8
                for number, value in enumerate(array("Q", piece[: len(piece) // 8 * 8])):
                    if value:
                        counters[first + number] += value
        found = []
        for index, module in enumerate(modules):
            words = sums[index]
            positions = sorted(words)
            left = len(positions)
            for unit in module.units:
                first = unit.offset // 8
                own = positions[bisect_left(positions, first) : bisect_left(positions, first + unit.slots)]
                left -= len(own)
                if left < 0:
                    raise self._file.bad("units share counters")
                values = {position - first: words[position] for position in own}
                found.append(RawUnit(unit.id.hex(), index, SparseCounters(unit.slots, values)))
        return tuple(found)

    def _frames(
        self, regions: list[Region], kind: int, modules: int
    ) -> tuple[tuple[RawFrame, ...], tuple[RawSavedRegisters, ...], bool]:
        """The frames of all threads, the registers of those that were interrupted, and if any are missing."""
        frames: list[RawFrame] = []
        firsts: dict[int, int] = {}
        missing = False
        for region in regions:
            if region.kind != kind:
                continue
            thread, _, count, incomplete = _FRAMES.unpack(self._file.bytes_of(region, 0, _FRAMES.size))
            missing = missing or bool(incomplete)
            firsts.setdefault(thread, len(frames))
            data = self._file.bytes_of(region, _FRAMES.size, count * FRAME.size)
            frames += [self._frame(fields, modules) for fields in FRAME.iter_unpack(data)]
        saved = []
        for region in regions if kind == RegionKind.END_FRAMES else ():
            if region.kind == RegionKind.SAVED_REGISTERS:
                data = self._file.bytes_of(region, 0, SAVED_REGISTERS.size)
                thread, number, registers = saved_registers_from(data)
                index = firsts.get(thread, len(frames)) + number
                if index < len(frames) and frames[index].thread == thread:
                    saved.append(replace(registers, frame=index))
            elif region.kind == RegionKind.ABANDONED_FRAMES:
                for frame, data in self._abandoned(region):
                    saved.append(replace(saved_registers_from(data)[2], frame=len(frames)))
                    frames.append(self._frame(FRAME.unpack(frame), modules))
        return tuple(frames), tuple(saved), missing

    def _frame(self, fields: tuple[int, ...], modules: int) -> RawFrame:
        try:
            found = frame_from(fields, modules)
        except ValueError as error:
            raise self._file.bad(str(error)) from error
        if found.module is None:
            raise self._file.bad("a frame belongs to no module")
        return found

    def _abandoned(self, region: Region) -> Iterator[tuple[bytes, bytes]]:
        """Frames that were interrupted and left before the end, each with its registers."""
        _, used = _ABANDONED_CHUNK.unpack(self._file.bytes_of(region, 0, _ABANDONED_CHUNK.size))
        data = self._file.bytes_of(region, _ABANDONED_CHUNK.size, used * _ABANDONED_BYTES)
        for at in range(0, len(data), _ABANDONED_BYTES):
            yield data[at : at + FRAME.size], data[at + FRAME.size : at + _ABANDONED_BYTES]

    def _tids(self, regions: list[Region]) -> dict[int, int]:
        """The kernel's ids of the threads whose frames were kept."""
        heads = (
            self._file.bytes_of(each, 0, _FRAMES.size)
            for each in regions
            if each.kind == RegionKind.END_FRAMES
        )
        return {thread: tid for thread, tid, _, _ in map(_FRAMES.unpack, heads) if tid}

    def _non_local_exits(self, regions: list[Region], modules: int) -> tuple[RawNonLocalExit, ...]:
        sums: Counter[tuple[int, int, int | None]] = Counter()
        for region in regions:
            if region.kind != RegionKind.NONLOCAL_EXITS:
                continue
            _, room, _ = _EXIT_TABLE.unpack(self._file.bytes_of(region, 0, _EXIT_TABLE.size))
            for _, record in self._file.records(region, _EXIT_TABLE.size, _EXIT, room):
                module, known, used, _, address, slot, count = _EXIT.unpack(record)
                if used and count:
                    if module >= modules:
                        raise self._file.bad("a non-local exit belongs to no module")
                    sums[module, address, slot if known else None] += count
        return tuple(
            RawNonLocalExit(module, address, count, slot)
            for (module, address, slot), count in sums.items()
            if count
        )

    def _sparse_paths(self, regions: list[Region], units: int) -> Iterator[RawSparsePath]:
        sums: Counter[tuple[int, int, int]] = Counter()
        for region in regions:
            if region.kind not in (RegionKind.SPARSE_TABLE, RegionKind.SPARSE_ARRAY):
                continue
            first = _SPARSE_TABLE_BYTES if region.kind == RegionKind.SPARSE_TABLE else 0
            shift = _SPARSE_HEADER.unpack(self._file.bytes_of(region, first, _SPARSE_HEADER.size))[3]
            if not 0 < shift <= 64:
                raise self._file.bad("a sparse path table has no valid size")
            start, capacity = first + _SPARSE_HEADER.size, 1 << (64 - shift)
            for _, record in self._file.records(region, start, _SPARSE_ENTRY, capacity):
                unit, key, path, amount = _SPARSE_ENTRY.unpack(record)
                if unit and unit != SPARSE_RESERVED and amount:
                    if unit > units:
                        raise self._file.bad("a sparse path belongs to no unit")
                    sums[unit - 1, key, path] += amount
        for (unit, key, path), amount in sums.items():
            yield sparse_path_from(unit, key, path, amount)

    def _last_paths(self, regions: list[Region]) -> Iterator[RawLastPath]:
        for region in regions:
            if region.kind == RegionKind.RING:
                try:
                    yield from last_paths_in(self._file.bytes_of(region, 0, region.size), region.address)
                except (ValueError, struct.error) as error:
                    raise self._file.bad(str(error)) from error

    def _call_nodes(self, regions: list[Region], units: int, incomplete: bool) -> Iterator[RawCallNode]:
        """The call-path trees, parents first: nodes are in the order in which they were made.

        A file that is ``incomplete`` may have had no space for a node, but for those below it.
        """
        known: dict[int, int] = {}
        for region in regions:
            if region.kind == RegionKind.CALL_TREE:
                known[region.address + _TREE.size] = len(known)
                yield RawCallNode(None, 0, 0, False, 0)
        nodes: list[tuple[int, bytes]] = []
        for region in regions:
            first = 0
            if region.kind == RegionKind.CALL_TREE:
                oldest = _TREE.unpack(self._file.bytes_of(region, 0, _TREE.size))[3]
                first = oldest - region.address
            elif region.kind != RegionKind.CALL_NODES:
                continue
            if not 0 <= first <= region.size - _CHUNK.size:
                raise self._file.bad("a call-path tree has no valid size")
            _, _, room, used = _CHUNK.unpack(self._file.bytes_of(region, first, _CHUNK.size))
            start = first + _CHUNK.size
            for number, record in self._file.records(region, start, _CALL_NODE, min(room, used)):
                nodes.append((region.address + start + number * _CALL_NODE.size, record))
        for address, record in nodes:
            key, target, count, _, parent, unit, function, _, _ = _CALL_NODE.unpack(record)
            if not key or unit == ROOT:
                continue
            if incomplete and parent not in known:
                continue
            if unit >= units or parent not in known:
                raise self._file.bad("a node of a call-path tree has no valid parent or function")
            if target == address:
                known[address] = len(known)
            else:
                known[-address] = len(known)
            yield RawCallNode(unit, function, known[parent], target != address, count)
