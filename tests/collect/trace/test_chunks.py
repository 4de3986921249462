"""Reading the chunks of a process from files that are whole, damaged, or anything at all."""

from __future__ import annotations

import os
import random
import struct
from pathlib import Path

import pytest

from trodden.collect.trace.chunk import Chunk, Frame
from trodden.collect.trace.chunks import ProcessTrace, read_chunks, spool_path
from trodden.collect.trace.extent import extent
from trodden.errors import LaterVersion, TroddenError
from trodden.program.trace_chunk import Flag

_HEADER = struct.Struct("<8sIIQQQIIIIQQQIIII")
_SPOOL = struct.Struct("<8sIIQQ")
_NO_FUNCTION = 0xFFFFFFFF
_PID, _START = 77, 123456789
_RECORDS = (
    *(b"\x01", b"\xe0", b"\xe1abc", b"\xe2\x01", b"\xe3" + bytes(8), b"\xe4\x01\x01\x01", b"\xe5abc"),
    *(b"\xe6" + bytes(12), b"\xe7" + bytes(20), b"\xe7\2\0\0\x80" + bytes(40), b"\xe9\0", b"\xf0" + bytes(8)),
    *(b"\xf1" + bytes(9), b"\xf2abc"),
)


def _chunk(
    thread: int, sequence: int, records: bytes, frames: tuple[Frame, ...] = (), ended: int = 1, flags: int = 0
) -> bytes:
    length = len(records) if ended else 0
    listed = b"".join(struct.pack("<IIQ", frame.module, 0, frame.address) for frame in frames)
    head = _HEADER.pack(
        *(b"TRODTRC1", thread, 0, sequence, 10 + sequence, ended, length, len(frames), _NO_FUNCTION, 0),
        *(0, 0, 0, flags, 0, 0, 0),
    )
    whole = head + listed + records
    return whole + bytes(-len(whole) % 8)


def _head(version: int = 1) -> bytes:
    return _SPOOL.pack(b"TRODSPOL", version, _SPOOL.size, _PID, _START)


def _read(directory: Path, *parts: bytes, raw: bytes = b"") -> ProcessTrace:
    (directory / "out.raw").write_bytes(raw)
    (directory / "out.raw.trace").write_bytes(b"".join(parts))
    return read_chunks(directory / "out.raw", _PID, _START)


def _read_keys(trace: ProcessTrace) -> list[tuple[int, int, bytes]]:
    return [(chunk.thread, chunk.sequence, chunk.records()) for chunk in trace.chunks]


def test_chunks_are_ordered_by_thread(tmp_path: Path) -> None:
    frames = (Frame(0, 0x1234), Frame(1, 1 << 63))
    trace = _read(
        tmp_path, _head(), _chunk(1, 0, b"ab"), _chunk(0, 0, b"c", frames), _chunk(1, 1, b"d" * 9, flags=16)
    )
    assert trace.damage == ()
    assert _read_keys(trace) == [(0, 0, b"c"), (1, 0, b"ab"), (1, 1, b"d" * 9)]
    first = trace.chunks[0]
    assert (first.frames, first.function, first.parent, first.independent) == (frames, None, None, True)
    assert {thread: len(chunks) for thread, chunks in trace.threads().items()} == {0: 1, 1: 2}
    assert trace.threads()[1][-1].flags == Flag.LAST


@pytest.mark.parametrize("record", _RECORDS, ids=lambda record: f"{record[0]}")
def test_records_that_are_not_complete_are_left_out(record: bytes) -> None:
    assert extent(record) == len(record)
    assert extent(b"\x05" + record * 3 + bytes(20)) == 1 + 3 * len(record)
    for length in range(1, len(record)):
        assert extent(record + record[:length]) == len(record)


def test_an_unknown_record_ends_a_chunk(tmp_path: Path) -> None:
    trace = _read(tmp_path, _head(), _chunk(0, 0, b"ab\xe8\x01"), _chunk(0, 1, b"c"))
    assert _read_keys(trace) == [(0, 0, b"ab"), (0, 1, b"c")]
    assert trace.damage == (f"{tmp_path}/out.raw.trace: bytes 32 to 136: a chunk is incomplete",)


def test_a_truncated_file(tmp_path: Path) -> None:
    """What is there of the last chunk is read, and where something is missing is said."""
    last = _chunk(0, 1, bytes(range(1, 201)), (Frame(0, 1),))
    before = _head() + _chunk(0, 0, b"abc")
    for size in range(len(last)):
        trace = _read(tmp_path, before, last[:size])
        found = _read_keys(trace)
        assert found[0] == (0, 0, b"abc")
        if size >= 112:
            assert found[1:] == [(0, 1, bytes(range(1, min(201, size - 112 + 1))))]
        else:
            assert found[1:] == []
        assert bool(trace.damage) == (0 < size < 312)
        where = f"{tmp_path}/out.raw.trace: bytes {len(before)} to"
        assert all(line.startswith(where) for line in trace.damage)


def test_a_chunk_that_another_one_has_cut_off(tmp_path: Path) -> None:
    """A thread was killed while it wrote, and another one wrote behind that."""
    cut = _chunk(0, 0, b"a" * 500)[:333]
    trace = _read(tmp_path, _head(), cut, _chunk(1, 0, b"b" * 30), _chunk(1, 1, b"c"))
    assert _read_keys(trace) == [(0, 0, b"a" * (333 - 96)), (1, 0, b"b" * 30), (1, 1, b"c")]
    assert trace.damage == (f"{tmp_path}/out.raw.trace: bytes 32 to 365: a chunk is incomplete",)


def test_rubbish_between_chunks_is_skipped(tmp_path: Path) -> None:
    trace = _read(tmp_path, _head(), _chunk(0, 0, b"a"), b"rubbish" * 10, _chunk(0, 1, b"b"))
    assert _read_keys(trace) == [(0, 0, b"a"), (0, 1, b"b")]
    assert len(trace.damage) == 1


def test_chunks_that_are_missing(tmp_path: Path) -> None:
    trace = _read(tmp_path, _head(), _chunk(3, 5, b"a"), _chunk(3, 9, b"b"))
    where = "3 chunks of thread 3 before its chunk 9 are missing"
    assert trace.damage == (f"{tmp_path}/out.raw.trace: {where}",)


def test_the_longest_of_a_chunks_copies(tmp_path: Path) -> None:
    """A dump has copied it twice while it was in use."""
    copies = [_chunk(0, 0, b"a" * count, flags=128) for count in (3, 5)]
    whole = _chunk(0, 0, b"a" * 5)
    trace = _read(tmp_path, _head(), *copies, whole, _chunk(0, 1, b"b", flags=128))
    assert _read_keys(trace) == [(0, 0, b"a" * 5), (0, 1, b"b")]
    assert [chunk.flags for chunk in trace.chunks] == [0, Flag.PARTIAL]


def test_holes_where_somebody_has_read_the_file(tmp_path: Path) -> None:
    chunks = [_chunk(0, sequence, b"x" * 5000) for sequence in range(10)]
    _read(tmp_path, _head(), *chunks)
    spool = tmp_path / "out.raw.trace"
    with spool.open("r+b") as stream:
        data = stream.read()
        stream.truncate(0)
        stream.seek(4096 * 5)
        stream.write(data[4096 * 5 :])
    assert os.stat(spool).st_size == len(data)
    trace = read_chunks(tmp_path / "out.raw", _PID, _START)
    assert [chunk.sequence for chunk in trace.chunks] == [5, 6, 7, 8, 9]
    assert trace.damage == ()


def test_the_file_of_another_process(tmp_path: Path) -> None:
    _read(tmp_path, _head(), _chunk(0, 0, b"a"))
    for pid, start in ((_PID + 1, _START), (_PID, _START + 1)):
        found = read_chunks(tmp_path / "out.raw", pid, start)
        assert (found.chunks, found.damage) == ((), ())
        assert f"out.raw.trace is that of process {_PID}" in found.missing
        assert ("at another time" in found.missing) == (pid == _PID)
    assert len(read_chunks(tmp_path / "out.raw").chunks) == 1


def test_the_file_of_a_later_version(tmp_path: Path) -> None:
    with pytest.raises(LaterVersion):
        _read(tmp_path, _head(2))


def test_there_may_be_no_spool_file(tmp_path: Path) -> None:
    (tmp_path / "out.raw").write_bytes(b"")
    spool = f"{tmp_path / 'out.raw'}.trace"
    assert read_chunks(tmp_path / "out.raw") == ProcessTrace((), (), f"its trace {spool} is missing")
    assert spool_path("out.raw.live") == spool_path("out.raw") == "out.raw.trace"


def test_any_bytes_are_read_or_refused(tmp_path: Path) -> None:
    """Neither does it fail in another way, nor are records invented: they are parts of the file."""
    chance = random.Random(5)
    frames = (Frame(0, 5), Frame(1, 6))
    chunks = [_chunk(i % 3, i // 3, b"".join(_RECORDS) * 5, frames[: i % 3]) for i in range(12)]
    whole = _head() + b"".join(chunks)
    for _ in range(600):
        data = bytearray(whole)
        for _ in range(chance.choice((1, 3, 30))):
            data[chance.randrange(len(data))] = chance.choice((0, 1, 128, 255, chance.randrange(256)))
        if chance.random() < 0.3:
            del data[chance.randrange(len(data)) :]
        try:
            trace = _read(tmp_path, bytes(data))
        except TroddenError:
            continue
        assert all(isinstance(chunk, Chunk) and chunk.records() in data for chunk in trace.chunks)
        assert all(extent(chunk.records()) == chunk.length for chunk in trace.chunks)
