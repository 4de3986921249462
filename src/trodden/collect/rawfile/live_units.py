"""The modules of a live file, and what they have counted: the sums over their shards."""

from __future__ import annotations

import os
import struct
from array import array
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass

from trodden.collect.rawfile.live_regions import LiveFile, Region, RegionKind
from trodden.collect.rawfile.model import RawUnit
from trodden.recover.sparse_counters import SparseCounters

_MODULE = struct.Struct("<QIIII")
_UNIT = struct.Struct("<16sIIQ")


@dataclass(frozen=True, slots=True)
class _Unit:
    id: bytes
    slots: int
    offset: int
    first_function: int
    """The number of its first function in traces, plus 1; 0 if it records none."""


@dataclass(frozen=True, slots=True)
class LiveModule:
    """A loaded module: where it was loaded, its path, and which units it has."""

    bias: int
    path: str
    first_unit: int
    units: tuple[_Unit, ...]


def modules_in(file: LiveFile, regions: list[Region]) -> list[LiveModule]:
    """The modules, by their indices."""
    found: dict[int, LiveModule] = {}
    for region in regions:
        if region.kind != RegionKind.MODULE:
            continue
        bias, index, count, first, length = _MODULE.unpack(file.bytes_of(region, 0, _MODULE.size))
        table = file.bytes_of(region, _MODULE.size, count * _UNIT.size)
        path = file.bytes_of(region, _MODULE.size + len(table), length)
        fields = _UNIT.iter_unpack(table)
        own = tuple(_Unit(name, slots, offset, traced) for name, slots, traced, offset in fields)
        found[index] = LiveModule(bias, os.fsdecode(path), first, own)
    modules = [found[index] for index in sorted(found)]
    units = 0
    for module in modules:
        if module.first_unit != units:
            raise file.bad("its units are not in order")
        units += len(module.units)
    if sorted(found) != list(range(len(found))):
        raise file.bad("a module is missing")
    return modules


def units_in(file: LiveFile, regions: list[Region], modules: list[LiveModule]) -> tuple[RawUnit, ...]:
    """The units of all modules, each with the sum of its counters over all threads."""
    sums: list[Counter[int]] = [Counter() for _ in modules]
    for region in regions:
        if region.kind != RegionKind.SHARD:
            continue
        if region.module >= len(modules):
            raise file.bad("counters belong to no module")
        counters = sums[region.module]
        for offset, piece in file.data(region):
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
                raise file.bad("units share counters")
            values = {position - first: words[position] for position in own}
            found.append(RawUnit(unit.id.hex(), index, SparseCounters(unit.slots, values)))
    return tuple(found)
