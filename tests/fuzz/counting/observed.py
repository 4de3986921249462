"""What a program has counted by itself: its lines, and the marks that each activation passed."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.native.mapped_counts import empty_counts, hits_by_file

_HEAD = 5
_RECORDS = 1 << 18
Line = tuple[int, int]
"""A file's number, and a line of it."""


@dataclass(frozen=True)
class Observed:
    """``walks`` are the marks of each activation in their order, ``order`` is that of all of them."""

    lines: Mapping[Line, int]
    walks: tuple[tuple[Line, ...], ...]
    order: tuple[Line, ...]
    complete: bool


def prepare(folder: Path) -> dict[str, str]:
    """Files for what a program counts, and the environment that names them."""
    counts, trace = folder / "own-counts", folder / "own-trace"
    empty_counts(counts)
    with trace.open("wb") as stream:
        stream.truncate(8 * (_HEAD + _RECORDS))
    return {"MAPPED_COUNTS": str(counts), "TRACE_FILE": str(trace)}


def observe(folder: Path) -> Observed:
    """What a program has counted, when it has ended."""
    with (folder / "own-trace").open("rb") as stream:
        (number,) = struct.unpack("<Q", stream.read(8))
        stream.seek(8 * _HEAD)
        used = min(number, _RECORDS)
        records = struct.unpack(f"<{used}Q", stream.read(8 * used))
    walks: dict[int, list[Line]] = defaultdict(list)
    order: list[Line] = []
    for record in records:
        if record:
            order.append((record >> 16 & 0xFF, record & 0xFFFF))
            walks[record >> 24].append(order[-1])
    lines = hits_by_file(folder / "own-counts")
    return Observed(lines, tuple(map(tuple, walks.values())), tuple(order), number <= _RECORDS)
