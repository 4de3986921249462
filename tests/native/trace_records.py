"""A decoder of trace records that is independent of the package's."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.native.handwritten import Raw
from trodden.collect.rawfile.raw import read_raw
from trodden.collect.trace.chunks import ProcessTrace, read_chunks

Record = tuple[Any, ...]
"""Its name, and what it says."""
_DIGITS = {225: "wide", 228: "enter", 229: "resume", 242: "land"}


def records(data: bytes) -> Iterator[Record]:
    """All records; nothing may be left over."""
    at = 0
    while at < len(data):
        tag = data[at]
        assert tag, f"a zero at {at} of {len(data)}"
        if tag <= 224:
            yield "symbol", tag - 1
            at += 1
        elif tag in _DIGITS:
            digits = [byte - 1 for byte in data[at + 1 : at + 4]]
            yield _DIGITS[tag], sum(digit * 255**place for place, digit in enumerate(digits))
            at += 4
        elif tag >= 243:
            yield "enter", 255 * (tag - 243) + data[at + 1] - 1
            at += 2
        elif tag == 226:
            yield "trips", data[at + 1] - 1
            at += 2
        elif tag == 227:
            yield "trips", struct.unpack_from("<Q", data, at + 1)[0]
            at += 9
        elif tag == 230:
            yield "left", *struct.unpack_from("<IQ", data, at + 1)
            at += 13
        elif tag == 231:
            (count,) = struct.unpack_from("<I", data, at + 1)
            frames = [struct.unpack_from("<IQ", data, at + 21 + 12 * i)[1] for i in range(count & 0x7FFFFFFF)]
            yield "sync", *frames
            at += 21 + 12 * len(frames)
        elif tag == 241:
            yield "event", *struct.unpack_from("<BQ", data, at + 1)
            at += 10
        else:
            assert 233 <= tag <= 240, tag
            yield "bits", int.from_bytes(data[at + 1 : at + tag - 231], "little")
            at += tag - 231


def trace_of(raw: Path) -> ProcessTrace:
    """The chunks of a process, none of which is damaged."""
    found = read_raw(raw)
    trace = read_chunks(raw, found.pid, found.started)
    assert trace.damage == ()
    return trace


def bias_of(raw: Path) -> int:
    """The difference between addresses in memory and in the program's file."""
    return read_raw(raw).modules[0].bias


__all__ = ["Raw", "Record", "bias_of", "records", "trace_of"]
