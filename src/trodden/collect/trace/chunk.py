"""A chunk of a thread's trace: a header, the frames that were active when it began, and records.

``native/runtime/trace/chunk.h`` has the layout, ``docs/formats.md`` describes it.
"""

from __future__ import annotations

import os
import struct
from dataclasses import dataclass
from enum import IntFlag

from trodden.collect.trace.extent import extent
from trodden.errors import InputMissing

MAGIC = b"TRODTRC1"
HEADER = struct.Struct("<8sIIQQQIIIIQQQIII4x")
FRAME = struct.Struct("<I4xQ")
NO_FUNCTION = 0xFFFFFFFF
_NO_PARENT = (1 << 64) - 1
_MOST_FRAMES = 512
_MOST_LEVELS = 32
_MOST_RECORDS = 1 << 20


class Flag(IntFlag):
    """The flags of a chunk: ``enum trodden_trace_flag``."""

    FRAMES_CUT = 1
    LOST_BEFORE = 2
    FIRST = 4
    CHILD = 8
    LAST = 16
    HANDLER = 32
    DEPENDENT = 64
    PARTIAL = 128


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
    many bytes of complete records there are.
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

    @property
    def independent(self) -> bool:
        """Whether it can be read without the chunk before it."""
        return not self.flags & Flag.DEPENDENT

    def records(self) -> bytes:
        """Its records, from the file."""
        try:
            with open(self.path, "rb") as stream:
                data = os.pread(stream.fileno(), self.length, self.position)
        except OSError as error:
            raise InputMissing(f"{self.path}: cannot be read: {error.strerror}") from error
        return data


def chunk_at(descriptor: int, path: str, position: int, most: int) -> tuple[Chunk, int, bool]:
    """The chunk at that position of a file, its size there, and whether it is complete.

    There are at most so many bytes.  :class:`ValueError` says why there is no chunk.
    """
    data = os.pread(descriptor, min(most, HEADER.size), position)
    if len(data) < HEADER.size:
        raise ValueError("the header of a chunk is incomplete")
    magic, thread, level, sequence, began, ended, length, count, function, location, *rest = HEADER.unpack(
        data
    )
    parent, offset, pc, flags, signal, inherited = rest
    if magic != MAGIC:
        raise ValueError("a chunk does not start where it should")
    if count > _MOST_FRAMES or level >= _MOST_LEVELS or length > _MOST_RECORDS or flags >> len(Flag):
        raise ValueError("the header of a chunk is not valid")
    start = HEADER.size + count * FRAME.size
    frames = os.pread(descriptor, count * FRAME.size, position + HEADER.size)
    if start > most or len(frames) < count * FRAME.size:
        raise ValueError("the frames of a chunk are incomplete")
    known = length if ended else min(most - start, _MOST_RECORDS)
    records = os.pread(descriptor, min(known, most - start), position + start)
    complete = len(records) == known if ended else True
    found = extent(records)
    if ended and complete and found < length:
        complete = False
    chunk = Chunk(
        thread,
        level,
        sequence,
        began,
        ended,
        None if function == NO_FUNCTION else function,
        location,
        tuple(Frame(module, address) for module, address in FRAME.iter_unpack(frames)),
        parent if level and parent != _NO_PARENT else None,
        offset,
        pc,
        Flag(flags),
        signal,
        min(inherited, found),
        path,
        position + start,
        found,
    )
    return chunk, start + -(-known // 8) * 8, complete
