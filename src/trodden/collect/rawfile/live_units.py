"""The modules of a live file, and what they have counted: the sums over their shards."""

from __future__ import annotations

import os
import struct
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
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


@dataclass(frozen=True)
class LiveModules:
    """The modules that the file describes, and where modules and units have come to be by their numbers.

    A file that is ``incomplete`` may have had no space for a module, but for what belongs to it.
    """

    modules: tuple[LiveModule, ...]
    positions: Mapping[int, int]
    units: Mapping[int, int]
    incomplete: bool

    def knows(self, number: int) -> bool | None:
        """Whether there is a module of that number; ``None`` if there can be none."""
        return True if number in self.positions else False if self.incomplete else None

    def knows_unit(self, number: int) -> bool | None:
        """Whether there is a unit of that number; ``None`` if there can be none."""
        return True if number in self.units else False if self.incomplete else None


def modules_in(file: LiveFile, regions: list[Region], incomplete: bool) -> LiveModules:
    """The modules, by their indices."""
    found: dict[int, LiveModule] = {}
    for region in regions:
        if region.kind != RegionKind.MODULE:
            continue
        bias, index, count, first, length = _MODULE.unpack(file.bytes_of(region, 0, _MODULE.size))
        if not count and (not length or index in found):
            continue  # not all was written to it yet: the number of units comes last
        table = file.bytes_of(region, _MODULE.size, count * _UNIT.size)
        path = file.bytes_of(region, _MODULE.size + len(table), length)
        fields = _UNIT.iter_unpack(table)
        own = tuple(_Unit(name, slots, offset, traced) for name, slots, traced, offset in fields)
        found[index] = LiveModule(bias, os.fsdecode(path), first, own)
    positions = {index: position for position, index in enumerate(sorted(found))}
    modules = tuple(found[index] for index in positions)
    units: dict[int, int] = {}
    following = 0
    for module in modules:
        if not module.units:
            continue
        if module.first_unit < following or (module.first_unit > following and not incomplete):
            raise file.bad("its units are not in order")
        following = module.first_unit + len(module.units)
        for number in range(module.first_unit, following):
            units[number] = len(units)
    if not incomplete and list(positions) != list(range(len(found))):
        raise file.bad("a module is missing")
    return LiveModules(modules, positions, units, incomplete)


def uncounted_in(regions: list[Region], modules: LiveModules) -> frozenset[int]:
    """The modules of an incomplete file that has no counters of them."""
    counted = {region.module for region in regions if region.kind == RegionKind.SHARD}
    missing = {position for index, position in modules.positions.items() if index not in counted}
    return frozenset(missing) if modules.incomplete else frozenset()


def units_in(file: LiveFile, regions: list[Region], modules: LiveModules) -> tuple[RawUnit, ...]:
    """The units of all modules, each with the sum of its counters over all threads."""
    sums: list[Counter[int]] = [Counter() for _ in modules.modules]
    for region in regions:
        if region.kind != RegionKind.SHARD:
            continue
        known = modules.knows(region.module)
        if known is None:
            raise file.bad("counters belong to no module")
        if not known:
            continue
        counters = sums[modules.positions[region.module]]
        for offset, piece in file.data(region):
            first = offset // 8
            for number, value in enumerate(array("Q", piece[: len(piece) // 8 * 8])):
                if value:
                    counters[first + number] += value
    found = []
    for index, module in enumerate(modules.modules):
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
