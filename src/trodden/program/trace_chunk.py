"""A chunk of a trace: the records of one thread between two times, with what it takes to read them alone.

The runtime writes chunks (``native/runtime/trace``), one after the other, into the spool file of a process;
the one that is being filled is in the live file.  A *packed* file has the same chunks with their records
compressed, so that each is read without the others.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntFlag
from typing import BinaryIO

from trodden.errors import BadFile

MAGIC = b"TRODTRC1"
PACKED_MAGIC = b"TRODTRZ1"
NO_FUNCTION = 0xFFFFFFFF

SPOOL, PACKED = ".trace", ".trace.packed"
"""What is added to the name of a raw file for the spool file and the packed file of its process."""

_HEADER = struct.Struct("<8sIIQQQIIIIQQQII")
_FRAME = struct.Struct("<IIQ")
_LENGTHS = struct.Struct("<II")

HEADER_SIZE = _HEADER.size
MOST_FRAMES = 1 << 16
MOST_BYTES = 1 << 26
"""No chunk is larger; a length beyond that is damage."""


class ChunkFlags(IntFlag):
    """What is to be known of a chunk before its records are read."""

    FRAMES_CUT_OFF = 1
    RECORDS_LOST = 2
    FIRST_OF_THREAD = 4
    FORKED = 8
    LAST_OF_THREAD = 16
    HANDLER_STARTS = 32


@dataclass(frozen=True, slots=True)
class ChunkFrame:
    """A frame that was active when the chunk began: where its call returns to."""

    module: int
    address: int


@dataclass(frozen=True, slots=True)
class ChunkHeader:
    """What comes before the records of a chunk.

    ``level`` is 0 for the thread's own code, n for signal handlers n deep; ``parent`` and ``offset`` say
    which chunk such a handler has interrupted, and where in its records, ``pc`` the interrupted instruction.
    ``ended`` is 0 while the chunk is in use.  The function with the number ``function`` goes on at
    ``location``: twice the vertex where its next region starts, or one more in the call of that vertex.
    ``frames`` are the other active ones, innermost first.
    """

    thread: int
    level: int
    sequence: int
    began: int
    ended: int
    length: int
    function: int
    location: int
    parent: int
    offset: int
    pc: int
    flags: ChunkFlags
    signal: int
    frames: tuple[ChunkFrame, ...] = ()

    @property
    def size(self) -> int:
        """The bytes of the header, its frames included."""
        return HEADER_SIZE + len(self.frames) * _FRAME.size

    def encode(self) -> bytes:
        """The header as the runtime writes it."""
        head = _HEADER.pack(
            MAGIC,
            self.thread,
            self.level,
            self.sequence,
            self.began,
            self.ended,
            self.length,
            len(self.frames),
            self.function,
            self.location,
            self.parent,
            self.offset,
            self.pc,
            self.flags,
            self.signal,
        )
        return head + b"".join(_FRAME.pack(each.module, 0, each.address) for each in self.frames)


def size_of_header(data: bytes | memoryview, source: str, position: int) -> int:
    """How many bytes the header that starts with ``data`` has with its frames; ``data`` has HEADER_SIZE."""
    if bytes(data[:8]) != MAGIC:
        raise BadFile(f"{source}: no chunk of a trace starts at byte {position}")
    frames = _HEADER.unpack_from(data)[7]
    if frames > MOST_FRAMES:
        raise BadFile(f"{source}: the chunk at byte {position} cannot have {frames:,} frames")
    return HEADER_SIZE + int(frames) * _FRAME.size


def parse_header(data: bytes | memoryview, source: str, position: int) -> ChunkHeader:
    """The header that starts with ``data``, which has all of its frames."""
    size = size_of_header(data, source, position)
    _, thread, level, sequence, began, ended, length, _, *rest = _HEADER.unpack_from(data)
    function, location, parent, offset, pc, flags, signal = rest
    if length > MOST_BYTES:
        raise BadFile(f"{source}: the chunk at byte {position} cannot have {length:,} bytes of records")
    frames = tuple(
        ChunkFrame(module, address) for module, _, address in _FRAME.iter_unpack(data[HEADER_SIZE:size])
    )
    return ChunkHeader(
        thread,
        level,
        sequence,
        began,
        ended,
        length,
        function,
        location,
        parent,
        offset,
        pc,
        ChunkFlags(flags & sum(ChunkFlags)),
        signal,
        frames,
    )


def packed_entry(header: bytes, compressed: bytes) -> bytes:
    """A chunk in a packed file: the header as it was, and the compressed records."""
    return _LENGTHS.pack(len(header), len(compressed)) + header + compressed


@dataclass(frozen=True, slots=True)
class PackedChunk:
    """Where in a packed file the compressed records of a chunk are."""

    header: ChunkHeader
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
        if len(lengths) < _LENGTHS.size:
            raise BadFile(f"{source}: the file ends in the chunk at byte {position}")
        head, compressed = _LENGTHS.unpack(lengths)
        start = position + _LENGTHS.size
        if head < HEADER_SIZE or start + head + compressed > end:
            raise BadFile(f"{source}: the file ends in the chunk at byte {position}, or is damaged there")
        data = stream.read(head)
        if size_of_header(data, source, start) != head:
            raise BadFile(f"{source}: the chunk at byte {position} is damaged")
        header = parse_header(data, source, start)
        yield PackedChunk(header, start + head, compressed)
        position = start + head + compressed
