"""A chunk of a thread's trace: a header, the frames that were active when it began, and records.

``native/runtime/trace/chunk.h`` has the layout, ``docs/formats.md`` describes it.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass

from trodden.collect.trace.extent import extent
from trodden.errors import BadFile, InputMissing
from trodden.program.trace_chunk import MAGIC, MOST_FRAMES, MOST_RECORDS, Flag, PackedChunk

HEADER = struct.Struct("<8sIIQQQIIIIQQQIII4x")
FRAME = struct.Struct("<I4xQ")
NO_FUNCTION = 0xFFFFFFFF
_NO_PARENT = (1 << 64) - 1
_MOST_LEVELS = 32


@dataclass(frozen=True, slots=True)
class Frame:
    """A call that was active: the index of its module, and the return address in it."""

    module: int
    address: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """The header of a chunk, and where its records are.

    ``function`` (its number in the process) goes on at ``location``: ``2 * v`` if the region that starts at
    vertex v comes next, ``2 * v + 1`` if the call at the end of block v does.  It is ``None`` if the
    innermost frame waits in a call, or there is none.  Of a chunk of a signal handler (``level`` > 0),
    ``parent`` is the interrupted chunk of its thread, ``offset`` the position in its records, ``pc`` the
    interrupted instruction.
    ``inherited`` bytes of the records are those of the process that has forked this one.  ``length`` says how
    many bytes of complete records there are.  In a packed file they are ``compressed`` to so many bytes.
    """

    thread: int
    level: int
    sequence: int
    began: int
    ended: int
    function: int | None
    location: int
    frames: tuple[Frame, ...]
    parent: int | None
    offset: int
    pc: int
    flags: Flag
    signal: int
    inherited: int
    path: str
    position: int
    length: int
    compressed: int | None = None

    @property
    def independent(self) -> bool:
        """Whether it can be read without the chunk before it."""
        return not self.flags & Flag.DEPENDENT

    def records(self) -> bytes:
        """Its records, from the file."""
        if self.compressed is not None:
            return unpacked(self.stored(), self.length, self.path)
        return self.stored()

    def stored(self) -> bytes:
        """Its records as they are in the file."""
        size = self.length if self.compressed is None else self.compressed
        try:
            with open(self.path, "rb") as stream:
                return os.pread(stream.fileno(), size, self.position)
        except OSError as error:
            raise InputMissing(f"{self.path}: cannot be read: {error.strerror}") from error


def unpacked(data: bytes, size: int, source: str) -> bytes:
    """Records that were compressed, of which there are ``size`` bytes."""
    from zstandard import ZstdDecompressor, ZstdError

    try:
        records = ZstdDecompressor().decompress(data, max_output_size=max(size, 1))
    except ZstdError as error:
        raise BadFile(f"{source}: a chunk of its trace is damaged ({error})") from error
    if len(records) < size:
        raise BadFile(f"{source}: a chunk of its trace is damaged")
    return records[:size]


def chunk_at(descriptor: int, path: str, position: int, most: int) -> tuple[Chunk, int, bool]:
    """The chunk at that position of a file, its size there, and whether it is complete.

    There are at most so many bytes.  :class:`ValueError` says why there is no chunk.
    """
    data = os.pread(descriptor, min(most, HEADER.size), position)
    if len(data) < HEADER.size:
        raise ValueError("the header of a chunk is incomplete")
    length, count, ended = _checked_lengths(data)
    start = HEADER.size + count * FRAME.size
    frames = os.pread(descriptor, count * FRAME.size, position + HEADER.size)
    if start > most or len(frames) < count * FRAME.size:
        raise ValueError("the frames of a chunk are incomplete")
    known = length if ended else min(most - start, MOST_RECORDS)
    records = os.pread(descriptor, min(known, most - start), position + start)
    complete = len(records) == known if ended else True
    found = extent(records)
    if ended and complete and found < length:
        complete = False
    chunk = _chunk(data + frames, path, position + start, found)
    return chunk, start + -(-known // 8) * 8, complete


def packed_chunk(packed: PackedChunk, path: str) -> Chunk:
    """A chunk of a packed file; :class:`ValueError` if its header is not valid."""
    length, _, _ = _checked_lengths(packed.head)
    return _chunk(packed.head, path, packed.position, length, packed.compressed)


def _checked_lengths(head: bytes) -> tuple[int, int, int]:
    """How many bytes of records and how many frames a chunk has, and when it ended."""
    magic, _, level, _, _, ended, length, count, _, _, _, _, _, flags, _, _ = HEADER.unpack_from(head)
    if magic != MAGIC:
        raise ValueError("a chunk does not start where it should")
    if count > MOST_FRAMES or level >= _MOST_LEVELS or length > MOST_RECORDS or flags >> len(Flag):
        raise ValueError("the header of a chunk is not valid")
    return length, count, ended


def _chunk(head: bytes, path: str, position: int, length: int, compressed: int | None = None) -> Chunk:
    """The chunk with that header and frames, and so many bytes of complete records."""
    _, thread, level, sequence, began, ended, _, _, function, location, *rest = HEADER.unpack_from(head)
    parent, offset, pc, flags, signal, inherited = rest
    return Chunk(
        thread,
        level,
        sequence,
        began,
        ended,
        None if function == NO_FUNCTION else function,
        location,
        tuple(Frame(module, address) for module, address in FRAME.iter_unpack(head[HEADER.size :])),
        parent if level and parent != _NO_PARENT else None,
        offset,
        pc,
        Flag(flags),
        signal,
        min(inherited, length),
        path,
        position,
        length,
        compressed,
    )
