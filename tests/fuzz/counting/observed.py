"""What a program has counted by itself: its lines, and the marks that each activation passed."""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.native.mapped_counts import empty_counts, hits_by_file

_HEAD = 5
_RECORDS = 1 << 18
_SEQUENCES, _SEQUENCE_LINES, _PAGE = 128, 1 << 18, 4096
_SEQUENCE = struct.Struct("<QQ")
_SEQUENCE_BYTES = _SEQUENCE.size + 2 * _SEQUENCE_LINES
Line = tuple[int, int]
"""A file's number, and a line of it."""


@dataclass(frozen=True)
class Observed:
    """``walks`` are the marks of each activation in their order, ``order`` is that of all of them.

    ``sequences`` are the lines that each thread of a process has executed, in order, by the process's id;
    ``None`` if they were too many.
    """

    lines: Mapping[Line, int]
    walks: tuple[tuple[Line, ...], ...]
    order: tuple[Line, ...]
    sequences: Mapping[int, Sequence[tuple[Line, ...]]] | None
    complete: bool


def prepare(folder: Path) -> dict[str, str]:
    """Files for what a program counts, and the environment that names them."""
    counts, trace, sequences = (folder / f"own-{name}" for name in ("counts", "trace", "sequences"))
    empty_counts(counts)
    with trace.open("wb") as stream:
        stream.truncate(8 * (_HEAD + _RECORDS))
    with sequences.open("wb") as stream:
        stream.truncate(_PAGE + _SEQUENCES * _SEQUENCE_BYTES)
    return {"MAPPED_COUNTS": str(counts), "TRACE_FILE": str(trace), "SEQUENCES": str(sequences)}


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
    sequences = _sequences(folder / "own-sequences")
    return Observed(lines, tuple(map(tuple, walks.values())), tuple(order), sequences, number <= _RECORDS)


def _sequences(path: Path) -> dict[int, list[tuple[Line, ...]]] | None:
    found: dict[int, list[tuple[Line, ...]]] = defaultdict(list)
    with path.open("rb") as stream:
        (claimed,) = struct.unpack("<Q", stream.read(8))
        if claimed > _SEQUENCES:
            return None
        for index in range(claimed):
            stream.seek(_PAGE + index * _SEQUENCE_BYTES)
            owner, number = _SEQUENCE.unpack(stream.read(_SEQUENCE.size))
            if number > _SEQUENCE_LINES:
                return None
            lines = struct.unpack(f"<{number}H", stream.read(2 * number))
            found[owner].append(tuple((line >> 15, line & 0x7FFF) for line in lines))
    return dict(found)
