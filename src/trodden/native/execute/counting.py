"""Which processes still count in a raw file: its own, and those that have no file of their own.

The latter have entries in the region table of the live file (``native/runtime/counters/live_family.c``).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

_HEADER = struct.Struct("<8sIIQQQQIIIIQQQ16xQ")
_REGION = struct.Struct("<QQQII")
_LIVE = b"TRODLIVE"
_MEMBER = 14
_MOST_HEADER = 1 << 22
_CLOSED = 1 << 63
_NO_OFFSET = (1 << 64) - 1
_ESTIMATED, _LATEST_ESTIMATE = 16, 200
"""The flag of a process that could not read when it was created, and how many ticks later it may think."""
_START_TICKS_FIELD = 22


def counting_processes(raw: Path) -> list[int]:
    """The ids of the processes that run and count in a file."""
    try:
        with raw.open("rb") as stream:
            return [pid for pid, ticks, late in _processes(stream) if _runs(pid, ticks, late)]
    except OSError:
        return []


def process_of(raw: Path) -> int:
    """The process that a raw file belongs to, or one that still counts in it."""
    with raw.open("rb") as stream:
        own: int = _header(stream, 0)[3]
    running = counting_processes(raw)
    return running[0] if running and own not in running else own


def _header(stream: BinaryIO, offset: int) -> tuple[Any, ...]:
    stream.seek(offset)
    return _HEADER.unpack(stream.read(_HEADER.size).ljust(_HEADER.size, b"\0"))


def _processes(stream: BinaryIO) -> Iterator[tuple[int, int, int]]:
    """The id of each process, when the kernel has created it, and how much later it may have been noted."""
    magic, _, header_bytes, pid, _, _, ticks, _, _, flags, _, _, used, _, members = _header(stream, 0)
    if magic != _LIVE:
        return
    yield pid, ticks, _LATEST_ESTIMATE if flags & _ESTIMATED else 0
    if not members & ~_CLOSED:
        return
    count = min(used, (min(header_bytes, _MOST_HEADER) - _HEADER.size) // _REGION.size)
    table = stream.read(max(count, 0) * _REGION.size)
    for at in range(0, len(table) - _REGION.size + 1, _REGION.size):
        offset, _, ticks, kind, pid = _REGION.unpack_from(table, at)
        if kind == _MEMBER:
            estimated = offset == _NO_OFFSET or _header(stream, offset)[9] & _ESTIMATED
            yield pid, ticks, _LATEST_ESTIMATE if estimated else 0


def _runs(pid: int, ticks: int, late: int) -> bool:
    found = start_ticks_of(pid)
    return found != 0 and ticks - late <= found <= ticks


def start_ticks_of(pid: int) -> int:
    """When a process started, in clock ticks since boot; 0 if it does not exist, or is a zombie."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return 0
    fields = text[text.rfind(")") + 2 :].split()
    if len(fields) <= _START_TICKS_FIELD - 3 or fields[0] in "ZX":
        return 0
    return int(fields[_START_TICKS_FIELD - 3])
