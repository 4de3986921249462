"""The chunks of a process: those in its spool file, those that were drained from there, and those that were
still in its live file.

A process that was killed may have left a chunk in both, or half of one in the spool file.  A file that is
damaged is read as far as possible; what could not be read is said.
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from trodden.collect.rawfile.family import MAGIC as LIVE
from trodden.collect.rawfile.live import regions_of
from trodden.collect.rawfile.live_regions import RegionKind
from trodden.collect.trace.chunk import Chunk, chunk_at, packed_chunk
from trodden.errors import BadFile, InputMissing, LaterVersion
from trodden.program.trace_chunk import MAGIC, PACKED, SPOOL, SPOOL_MAGIC, Flag, packed_chunks

VERSION = 1
_SPOOL = struct.Struct("<8sIIQQ")
_LIVE_SUFFIX = ".live"
_PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class ProcessTrace:
    """The chunks of a process, by thread and in the order in which they began; and what could not be read.

    ``missing`` says what is wrong if there is no file with the chunks of this process.
    """

    chunks: tuple[Chunk, ...]
    damage: tuple[str, ...]
    missing: str = ""

    def threads(self) -> dict[int, tuple[Chunk, ...]]:
        """The chunks of each thread."""
        found: dict[int, list[Chunk]] = {}
        for chunk in self.chunks:
            found.setdefault(chunk.thread, []).append(chunk)
        return {thread: tuple(chunks) for thread, chunks in found.items()}


def spool_path(raw: str | os.PathLike[str]) -> str:
    """The name of the spool file that belongs to a raw file or live file."""
    return os.fspath(raw).removesuffix(_LIVE_SUFFIX) + SPOOL


class OtherProcess(Exception):
    """A spool file is that of another process."""


def read_chunks(
    raw: str | os.PathLike[str], process: int | None = None, started: int | None = None
) -> ProcessTrace:
    """The chunks of the process that has left this raw file or live file.

    The spool file is that of the process with this id that started then, if they are given.
    """
    name = os.fspath(raw)
    spool, packed = spool_path(name), name.removesuffix(_LIVE_SUFFIX) + PACKED
    damage: list[str] = []
    missing = ""
    spooled: list[Chunk] = []
    try:
        spooled = _spooled(spool, process, started, damage)
    except FileNotFoundError:
        if not os.path.exists(packed):
            missing = f"its trace {spool} is missing"
    except OtherProcess as error:
        missing = f"its trace is missing ({spool} is that of {error})"
    found: dict[tuple[int, int], Chunk] = {}
    for chunk in (*_packed(packed, damage), *spooled, *_in_live_file(name, damage)):
        key = chunk.thread, chunk.sequence
        known = found.get(key)
        if known is None or _is_better(chunk, known):
            found[key] = chunk
    chunks = tuple(found[key] for key in sorted(found))
    return ProcessTrace(chunks, (*damage, *_gaps(chunks)), missing)


def _is_better(chunk: Chunk, known: Chunk) -> bool:
    """One that was copied while it was in use is replaced by what it became."""
    return (chunk.length, not chunk.flags & Flag.PARTIAL) > (known.length, not known.flags & Flag.PARTIAL)


def _gaps(chunks: tuple[Chunk, ...]) -> Iterator[str]:
    """Chunks that are missing between two of a thread; the first ones of a ring are, too, but on purpose."""
    for before, after in pairwise(chunks):
        missing = after.sequence - before.sequence - 1
        if before.thread == after.thread and missing:
            where = f"{missing} chunks of thread {after.thread} before its chunk {after.sequence}"
            yield f"{after.path}: {where} are missing"


def _packed(path: str, damage: list[str]) -> list[Chunk]:
    """The chunks that were drained from the spool file while it was written."""
    found: list[Chunk] = []
    try:
        with open(path, "rb") as stream:
            found += (packed_chunk(each, path) for each in packed_chunks(stream, path))
    except FileNotFoundError:
        return []
    except (BadFile, ValueError) as error:
        damage.append(str(error))
    except OSError as error:
        raise InputMissing(f"{path}: cannot be read: {error.strerror}") from error
    return found


def _spooled(path: str, process: int | None, started: int | None, damage: list[str]) -> list[Chunk]:
    try:
        with open(path, "rb") as stream:
            return list(_in_spool(stream.fileno(), path, process, started, damage))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise InputMissing(f"{path}: cannot be read: {error.strerror}") from error


def _in_spool(
    descriptor: int, path: str, process: int | None, started: int | None, damage: list[str]
) -> Iterator[Chunk]:
    size = os.fstat(descriptor).st_size
    head = os.pread(descriptor, _SPOOL.size, 0)
    if len(head) == _SPOOL.size and not any(head):
        position = 0
    elif len(head) < _SPOOL.size or not head.startswith(SPOOL_MAGIC):
        damage.append(f"{path}: it does not start like a spool file")
        position = 0
    else:
        _, version, position, pid, start = _SPOOL.unpack(head)
        if version > VERSION:
            raise LaterVersion(f"{path}: written by a later trodden's runtime; update trodden to read it")
        if process not in (None, pid) or started not in (None, start):
            when = "" if pid != process else " that started at another time"
            raise OtherProcess(f"process {pid}{when}")
    while (position := _next_data(descriptor, position, size)) < size:
        following = size
        try:
            chunk, length, complete = chunk_at(descriptor, path, position, size - position)
            following = min(size, position + length)
            if position + length > size or (following < size and not _may_start(descriptor, following)):
                # Less of it may have been written than it says.
                following = min(following, _find_chunk(descriptor, position + 1, size))
                chunk, length, complete = chunk_at(descriptor, path, position, following - position)
        except ValueError as error:
            following = min(following, _find_chunk(descriptor, position + 1, size))
            damage.append(f"{path}: bytes {position} to {following}: {error}")
        else:
            if not complete:
                damage.append(f"{path}: bytes {position} to {following}: a chunk is incomplete")
            yield chunk
        position = following


def _may_start(descriptor: int, position: int) -> bool:
    """Whether a chunk starts there, or a hole."""
    return os.pread(descriptor, len(MAGIC), position) in (MAGIC, bytes(len(MAGIC)))


def _next_data(descriptor: int, position: int, size: int) -> int:
    """Holes have been punched where somebody has read the file already."""
    try:
        data = os.lseek(descriptor, position, os.SEEK_DATA)
    except OSError as error:
        return size if error.errno == errno.ENXIO else position
    return position if data == position else _find_chunk(descriptor, data, size)


def _find_chunk(descriptor: int, position: int, size: int) -> int:
    """Where the next chunk starts, or the end."""
    while position < size:
        piece = os.pread(descriptor, min(_PIECE, size - position), position)
        at = piece.find(MAGIC)
        if at >= 0:
            return position + at
        if len(piece) < len(MAGIC):
            break
        position += len(piece) - len(MAGIC) + 1
    return size


def _in_live_file(path: str, damage: list[str]) -> list[Chunk]:
    try:
        with open(path, "rb") as stream:
            if stream.read(len(LIVE)) != LIVE:
                return []
            found = []
            for region in regions_of(stream.fileno(), path):
                if region.kind != RegionKind.TRACE:
                    continue
                if os.pread(stream.fileno(), len(MAGIC), region.offset) != MAGIC:
                    continue
                try:
                    chunk, _, complete = chunk_at(stream.fileno(), path, region.offset, region.size)
                except ValueError as error:
                    damage.append(f"{path}: the segment at {region.offset}: {error}")
                    continue
                if not complete:
                    damage.append(f"{path}: the segment at {region.offset}: a chunk is incomplete")
                found.append(chunk)
            return found
    except OSError as error:
        raise InputMissing(f"{path}: cannot be read: {error.strerror}") from error
