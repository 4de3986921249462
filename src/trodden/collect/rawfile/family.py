"""Processes that have no file of their own, but are in the live file of an ancestor, or named by it.

A process that may create no file counts in that of its parent, which it has inherited; one that there is no
space for leaves its id there until it has written its counts (``native/runtime/counters/live_family.c``).
"""

from __future__ import annotations

import errno
import os
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from trodden.collect.rawfile.live_regions import NO_OFFSET, REGION, RegionKind
from trodden.errors import BadFile

MAGIC = b"TRODLIVE"
HEADER = struct.Struct("<8sIIQQQQIIIIQQQ16xQ")
MEMBERS_ONLY = 8
"""The flag of a live file whose own process has written its counts elsewhere."""
_CLOSED = 1 << 63
_MOST_HEADER = 1 << 26
_WHY = {
    errno.ENOSPC: "there was no space for a file of its own",
    errno.EDQUOT: "there was no space for a file of its own",
    errno.EFBIG: "a limit on the size of files left it no space",
    errno.ENOENT: "the directory of its file was not to be found in its root directory",
}
_NOT_PERMITTED = "it could make no file of its own ({})"


class Inside(str):
    """The name of what one process has counted in the live file of another; its text is for messages."""

    __slots__ = ("base", "file")

    file: str
    base: int

    def __new__(cls, file: str, pid: int, base: int) -> Inside:
        """What the process ``pid`` has counted, with its header at the offset ``base``."""
        found = super().__new__(cls, f"{file} (process {pid})")
        found.file, found.base = file, base
        return found


@dataclass(frozen=True, slots=True)
class Lost:
    """A process that has left its id alone: ``error`` is why it could have no file."""

    pid: int
    error: int


@dataclass(frozen=True)
class Family:
    """Who else is in a file: what can be read, and processes that have left nothing, with and without an id.

    ``alone`` is whether the process of the file itself is in it, too.
    """

    inside: tuple[Inside, ...] = ()
    lost: tuple[Lost, ...] = ()
    unnamed: int = 0
    alone: bool = True


def family_of(name: str) -> Family:
    """The processes in a file; none in one that is no live file, or cannot be read."""
    try:
        with open(name, "rb") as stream:
            return _family(stream.fileno(), name)
    except OSError:
        return Family()


def _family(descriptor: int, name: str) -> Family:
    head = os.pread(descriptor, HEADER.size, 0)
    if len(head) < HEADER.size or not head.startswith(MAGIC):
        return Family()
    fields = HEADER.unpack(head)
    flags, count = fields[9], fields[-1] & ~_CLOSED
    if not count:
        return Family(alone=not flags & MEMBERS_ONLY)
    size = os.fstat(descriptor).st_size
    table = list(_table(descriptor, 0, size))
    members = [fields for fields in table if fields[3] == RegionKind.MEMBER]
    inside = {offset: pid for offset, _, _, _, pid in members if offset != NO_OFFSET}
    used = _used(table) + sum(HEADER.size + _used(_table(descriptor, base, size)) for base in inside)
    if used > size or len(inside) < sum(offset != NO_OFFSET for offset, *_ in members):
        raise BadFile(f"{name}: corrupt: its processes share memory; run the program again")
    return Family(
        tuple(Inside(name, pid, base) for base, pid in inside.items()),
        tuple(Lost(pid, error) for offset, error, _, _, pid in members if offset == NO_OFFSET),
        min(count, _MOST_HEADER) - len(members) if count > len(members) else 0,
        not flags & MEMBERS_ONLY,
    )


def _table(descriptor: int, base: int, size: int) -> Iterator[tuple[int, int, int, int, int]]:
    """The region table of the header at an offset."""
    head = os.pread(descriptor, HEADER.size, base) if base < size else b""
    if len(head) < HEADER.size:
        return
    fields = HEADER.unpack(head)
    header_bytes, used = fields[2], fields[12]
    if HEADER.size <= header_bytes <= _MOST_HEADER:
        count = min(used, (header_bytes - HEADER.size) // REGION.size)
        data = os.pread(descriptor, count * REGION.size, base + HEADER.size)
        yield from REGION.iter_unpack(data[: len(data) // REGION.size * REGION.size])


def _used(table: Iterable[tuple[int, int, int, int, int]]) -> int:
    return sum(
        size
        for offset, size, _, kind, _ in table
        if kind not in (RegionKind.FREE, RegionKind.MEMBER) and offset != NO_OFFSET
    )


def losses(families: Iterable[Family]) -> Iterator[tuple[str, str]]:
    """What is to be said of processes that have left nothing: the process, and a message behind its name."""
    for family in families:
        for process in family.lost:
            yield str(process.pid), f" has left no counts: {_why(process.error)}, and it has written none"


def _why(error: int) -> str:
    return _WHY.get(error) or _NOT_PERMITTED.format(os.strerror(error).lower() if error else "unknown error")


def unnamed_losses(families: Iterable[Family]) -> Iterator[str]:
    """A message about processes that there was no space for at all, not even for their ids."""
    number = sum(family.unnamed for family in families)
    if number:
        yield (
            f"{number:,} more process{'es have' if number > 1 else ' has'} left no counts: there was no space"
            " for a file, and none to name them"
        )
