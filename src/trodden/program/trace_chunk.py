"""Spool files and packed files: how the chunks of a process's trace follow each other.

The runtime appends chunks to the spool file of a process (``native/runtime/trace/chunk.h``).  A *packed* file
has the same chunks with their records compressed one by one, so that each is read without the others.  What
a chunk contains is read elsewhere (:mod:`trodden.collect.trace.chunk`).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntFlag
from typing import BinaryIO

from trodden.errors import BadFile

SPOOL, PACKED = ".trace", ".trace.packed"
"""What is added to the name of a raw file for the spool file and the packed file of its process."""

MAGIC = b"TRODTRC1"
SPOOL_MAGIC = b"TRODSPOL"
PACKED_MAGIC = b"TRODTRZ1"

HEADER_SIZE = 96
FRAME_SIZE = 16
SPOOL_HEADER_SIZE = 32
MOST_FRAMES = 8192
MOST_RECORDS = 1 << 20
"""No chunk has more; what says so is damaged."""

_ENDED_LENGTH_FRAMES = struct.Struct("<QII")
_ENDED_OFFSET = 32
_LENGTHS = struct.Struct("<II")
_ALIGNMENT = 8


class Flag(IntFlag):
    """The flags of a chunk: ``enum trodden_trace_flag``. A profile keeps them as they are."""

    FRAMES_CUT = 1
    LOST_BEFORE = 2
    FIRST = 4
    CHILD = 8
    LAST = 16
    HANDLER = 32
    DEPENDENT = 64
    PARTIAL = 128


@dataclass(frozen=True, slots=True)
class ChunkExtent:
    """How many bytes the header of a chunk has with its frames, and its records; whether it is finished."""

    head: int
    records: int
    finished: bool

    @property
    def size(self) -> int:
        """What the chunk takes in a spool file."""
        return -(-(self.head + self.records) // _ALIGNMENT) * _ALIGNMENT


def chunk_extent(header: bytes, source: str, position: int) -> ChunkExtent:
    """The extent of a chunk that starts with these bytes, of which there are HEADER_SIZE."""
    if header[: len(MAGIC)] != MAGIC:
        raise BadFile(f"{source}: no chunk of a trace starts at byte {position}")
    ended, length, frames = _ENDED_LENGTH_FRAMES.unpack_from(header, _ENDED_OFFSET)
    if frames > MOST_FRAMES or length > MOST_RECORDS:
        raise BadFile(f"{source}: the header of the chunk at byte {position} is damaged")
    return ChunkExtent(HEADER_SIZE + frames * FRAME_SIZE, length, ended != 0)


def packed_entry(head: bytes, compressed: bytes) -> bytes:
    """A chunk in a packed file: the header and frames as they were, and the compressed records."""
    return _LENGTHS.pack(len(head), len(compressed)) + head + compressed


@dataclass(frozen=True, slots=True)
class PackedChunk:
    """A chunk of a packed file: its header with the frames, and where its compressed records are."""

    head: bytes
    records: int
    position: int
    compressed: int


def packed_chunks(stream: BinaryIO, source: str) -> Iterator[PackedChunk]:
    """The chunks of a packed file, in order, without their records; :class:`BadFile` where it is damaged.

    A file that ends in the middle of a chunk has lost that chunk; what comes before is given out first.
    """
    if stream.read(len(PACKED_MAGIC)) != PACKED_MAGIC:
        raise BadFile(f"{source}: not a packed trace")
    end = stream.seek(0, 2)
    position = len(PACKED_MAGIC)
    while position < end:
        stream.seek(position)
        lengths = stream.read(_LENGTHS.size)
        start = position + _LENGTHS.size
        size, compressed = _LENGTHS.unpack(lengths) if len(lengths) == _LENGTHS.size else (0, 0)
        if size < HEADER_SIZE or start + size + compressed > end:
            raise BadFile(f"{source}: the file ends in the chunk at byte {position}, or is damaged there")
        head = stream.read(size)
        extent = chunk_extent(head[:HEADER_SIZE], source, start)
        if extent.head != size:
            raise BadFile(f"{source}: the chunk at byte {position} is damaged")
        yield PackedChunk(head, extent.records, start + size, compressed)
        position = start + size + compressed
