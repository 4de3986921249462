"""The hash tables of a live file: non-local exits, paths that have no counters, and paths over calls."""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator

from trodden.collect.rawfile.live_regions import LiveFile, Region, RegionKind
from trodden.collect.rawfile.live_units import LiveModules
from trodden.collect.rawfile.model import (
    CROSSING,
    CROSSING_ROW,
    RawCrossings,
    RawNonLocalExit,
    RawSparsePath,
    crossings_from,
    sparse_path_from,
)

_EXIT_TABLE = struct.Struct("<QQQ")
_EXIT = struct.Struct("<IBBHQQq")
_SPARSE_TABLE_BYTES = 40
_SPARSE_HEADER = struct.Struct("<QQQI4x")
_SPARSE_ENTRY = struct.Struct("<QQQQ")
_CROSSING_TABLE_BYTES = 24
_CROSSING_HEADER = struct.Struct("<QQQ")
_CROSSING_CHUNK = struct.Struct("<QQQ")
SPARSE_RESERVED = (1 << 64) - 1
"""In place of a unit: the entry was being written."""


def non_local_exits_in(
    file: LiveFile, regions: list[Region], modules: LiveModules
) -> tuple[RawNonLocalExit, ...]:
    """The sums over all tables, without those that are zero."""
    sums: Counter[tuple[int, int, int | None]] = Counter()
    for region in regions:
        if region.kind != RegionKind.NONLOCAL_EXITS:
            continue
        _, room, _ = _EXIT_TABLE.unpack(file.bytes_of(region, 0, _EXIT_TABLE.size))
        for _, record in file.records(region, _EXIT_TABLE.size, _EXIT, room):
            module, known, used, _, address, slot, count = _EXIT.unpack(record)
            if used and count:
                described = modules.knows(module)
                if described is None:
                    raise file.bad("a non-local exit belongs to no module")
                if described:
                    sums[modules.positions[module], address, slot if known else None] += count
    return tuple(
        RawNonLocalExit(module, address, count, slot)
        for (module, address, slot), count in sums.items()
        if count
    )


def sparse_paths_in(file: LiveFile, regions: list[Region], modules: LiveModules) -> Iterator[RawSparsePath]:
    """The sums over the tables of all threads."""
    sums: Counter[tuple[int, int, int]] = Counter()
    for region in regions:
        if region.kind not in (RegionKind.SPARSE_TABLE, RegionKind.SPARSE_ARRAY):
            continue
        first = _SPARSE_TABLE_BYTES if region.kind == RegionKind.SPARSE_TABLE else 0
        shift = _SPARSE_HEADER.unpack(file.bytes_of(region, first, _SPARSE_HEADER.size))[3]
        if not shift:
            continue  # nothing was written to it yet
        if shift > 64:
            raise file.bad("a sparse path table has no valid size")
        start, capacity = first + _SPARSE_HEADER.size, 1 << (64 - shift)
        for _, record in file.records(region, start, _SPARSE_ENTRY, capacity):
            unit, key, path, amount = _SPARSE_ENTRY.unpack(record)
            if unit and unit != SPARSE_RESERVED and amount:
                known = modules.knows_unit(unit - 1)
                if known is None:
                    raise file.bad("a sparse path belongs to no unit")
                if known:
                    sums[modules.units[unit - 1], key, path] += amount
    for (unit, key, path), amount in sums.items():
        yield sparse_path_from(unit, key, path, amount)


def crossings_in(file: LiveFile, regions: list[Region], modules: LiveModules) -> Iterator[RawCrossings]:
    """The rows of paths over calls and returns, and what the tables of all threads have counted of them."""
    chunks = {region.address: region for region in regions if region.kind == RegionKind.CROSSING_ROWS}
    heads = {
        each: _CROSSING_CHUNK.unpack(file.bytes_of(chunks[each], 0, _CROSSING_CHUNK.size)) for each in chunks
    }
    behind = {following for following, _, _ in heads.values()}
    rows: list[tuple[int, int, int, int, int, int]] = []
    at = next((address for address in chunks if address not in behind), 0)
    while at in heads:
        following, used, _ = heads.pop(at)
        rows += CROSSING_ROW.iter_unpack(
            file.bytes_of(chunks[at], _CROSSING_CHUNK.size, used * CROSSING_ROW.size)
        )
        at = following
    try:
        found = crossings_from(rows, _crossing_counts(file, regions), modules.units.get)
    except ValueError as error:
        if modules.incomplete:
            return
        raise file.bad(str(error)) from error
    for each in found:
        if each is not None:
            yield each
        elif not modules.incomplete:
            raise file.bad("a path over a call belongs to no unit")


def _crossing_counts(file: LiveFile, regions: list[Region]) -> Iterator[tuple[int, int, int]]:
    for region in regions:
        if region.kind not in (RegionKind.CROSSING_TABLE, RegionKind.CROSSING_ARRAY):
            continue
        first = _CROSSING_TABLE_BYTES if region.kind == RegionKind.CROSSING_TABLE else 0
        shift = _CROSSING_HEADER.unpack(file.bytes_of(region, first, _CROSSING_HEADER.size))[2]
        if not shift:
            continue  # nothing was written to it yet
        if shift > 64:
            raise file.bad("a table of paths over calls has no valid size")
        start, capacity = first + _CROSSING_HEADER.size, 1 << (64 - shift)
        for _, record in file.records(region, start, CROSSING, capacity):
            row, part, count = CROSSING.unpack(record)
            if row and row != SPARSE_RESERVED and count:
                yield row, part, count
