"""A live file on disk: a table of regions, mostly holes, whose sizes are checked before they are used."""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum

from trodden.errors import BadFile

REGION = struct.Struct("<QQQII")
NO_OFFSET = (1 << 64) - 1
"""In place of an offset: the region is not in the file."""
_MOST_AT_ONCE = 1 << 26


class RegionKind(IntEnum):
    """What a region holds: ``enum trodden_region_kind`` in ``native/runtime/counters/live_file.h``."""

    FREE = 0
    MODULE = 1
    SHARD = 2
    NONLOCAL_EXITS = 3
    SPARSE_TABLE = 4
    SPARSE_ARRAY = 5
    CALL_TREE = 6
    CALL_NODES = 7
    CALL_TABLE = 8
    FORK_FRAMES = 9
    END_FRAMES = 10
    SAVED_REGISTERS = 11
    RING = 12
    ABANDONED_FRAMES = 13
    MEMBER = 14
    FORMER_MEMBER = 15
    NEW_MEMBER = 16
    TRACE = 17
    CROSSING_TABLE = 18
    CROSSING_ARRAY = 19
    CROSSING_ROWS = 20


NO_MEMORY = (RegionKind.FREE, RegionKind.MEMBER, RegionKind.FORMER_MEMBER, RegionKind.NEW_MEMBER)
"""The kinds of regions that hold nothing but what the table says of them."""


@dataclass(frozen=True, slots=True)
class Region:
    """Where a region is in the file and was in memory, what it holds, and for which module.

    ``kind`` is a :class:`RegionKind`, or another number in a file of a later version.
    """

    offset: int
    size: int
    address: int
    kind: int
    module: int


class LiveFile:
    """An open live file; ``where`` names it in error messages.

    ``base`` is where the header of the process is: at the start, unless this is the file of another process.
    """

    def __init__(self, descriptor: int, where: str, base: int = 0) -> None:
        self.where = where
        self._descriptor = descriptor
        self._base = base
        self._size = os.fstat(descriptor).st_size

    def bad(self, what: str) -> BadFile:
        """The error for a file whose parts do not fit together."""
        return BadFile(f"{self.where}: corrupt: {what}; run the program again")

    def head(self, size: int) -> bytes:
        """The first bytes."""
        return os.pread(self._descriptor, size, self._base)

    def regions(self, first: int, count: int) -> list[Region]:
        """The regions that the file holds, from the table at the offset ``first`` behind the header."""
        data = os.pread(self._descriptor, count * REGION.size, self._base + first)
        found = []
        for position in range(0, len(data) - REGION.size + 1, REGION.size):
            region = Region(*REGION.unpack_from(data, position))
            if region.kind in NO_MEMORY or region.offset == NO_OFFSET:
                continue
            if region.offset > self._size or region.size > self._size - region.offset:
                raise self.bad("a region is outside of it")
            found.append(region)
        # Regions do not overlap; if all were the same one, it would be read again and again.
        if sum(region.size for region in found) > self._size:
            raise self.bad("its regions overlap")
        return found

    def data(self, region: Region, first: int = 0) -> Iterator[tuple[int, bytes]]:
        """What was written of a region from ``first`` on, in pieces with their offsets in it."""
        position, end = region.offset + first, region.offset + region.size
        while position < end:
            try:
                position = os.lseek(self._descriptor, position, os.SEEK_DATA)
                hole = os.lseek(self._descriptor, position, os.SEEK_HOLE)
            except OSError as error:
                if error.errno == errno.ENXIO:
                    return
                hole = end
            while position < min(hole, end):
                size = min(hole, end, position + (1 << 20)) - position
                piece = os.pread(self._descriptor, size, position)
                if not piece:
                    return
                yield position - region.offset, piece
                position += len(piece)

    def bytes_of(self, region: Region, first: int, size: int) -> bytes:
        """A part of a region; what was never written of it is zero."""
        if first > region.size or size > region.size - first or size > _MOST_AT_ONCE:
            raise self.bad("a region is too small for what it holds")
        return os.pread(self._descriptor, size, region.offset + first).ljust(size, b"\0")

    def records(
        self, region: Region, first: int, layout: struct.Struct, count: int
    ) -> Iterator[tuple[int, bytes]]:
        """Records that are not empty, with their numbers: whole ones out of what was written."""
        if count > (region.size - first) // layout.size:
            raise self.bad("a table is larger than its region")
        end = first + count * layout.size
        done = first
        for offset, piece in self.data(region, first):
            start = max(done, first + (offset - first) // layout.size * layout.size)
            stop = min(end, first + -(-(offset + len(piece) - first) // layout.size) * layout.size)
            if start >= stop:
                continue
            data = self.bytes_of(region, start, stop - start)
            for position in range(0, stop - start, layout.size):
                record = data[position : position + layout.size]
                if any(record):
                    yield (start + position - first) // layout.size, record
            done = stop
