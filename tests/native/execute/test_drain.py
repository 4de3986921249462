"""Spool files are drained while they grow: nothing is lost, nothing twice, and their space is given back."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from tests.program.test_trace_chunk import header
from trodden.collect.trace.chunk import unpacked
from trodden.native.execute.drain import Drain
from trodden.program.trace_chunk import SPOOL_MAGIC, packed_chunks

_SPOOL = SPOOL_MAGIC.ljust(32, b"\1")


def _chunk(rng: random.Random, size: int) -> tuple[bytes, bytes]:
    """Header and records."""
    return header(rng.randrange(5), size), rng.randbytes(size // 2) + b"\1" * (size - size // 2)


def _padded(chunk: tuple[bytes, bytes]) -> bytes:
    data = b"".join(chunk)
    return data + bytes(-len(data) % 8)


def _unpacked(path: Path) -> list[tuple[bytes, bytes]]:
    data = path.read_bytes()
    with path.open("rb") as stream:
        return [
            (each.head, unpacked(data[each.position :][: each.compressed], each.records, path.name))
            for each in packed_chunks(stream, path.name)
        ]


def test_chunks_that_arrive_in_pieces_are_packed_once_and_in_order(tmp_path: Path) -> None:
    rng = random.Random(5)
    spools, packed = tmp_path / "spools", tmp_path / "packed"
    spools.mkdir()
    packed.mkdir()
    chunks = {name: [_chunk(rng, rng.randrange(1, 200_000)) for _ in range(40)] for name in "ab"}
    drain = Drain(spools, packed)
    drain.start()
    streams = {name: (spools / f"{name}.raw.trace").open("ab", buffering=0) for name in chunks}
    left = {name: _SPOOL + b"".join(map(_padded, chunks[name])) for name in chunks}
    while any(left.values()):
        name = rng.choice([name for name, rest in left.items() if rest])
        piece = rng.randrange(1, 300_000)
        streams[name].write(left[name][:piece])
        left[name] = left[name][piece:]
        if rng.random() < 0.1:
            time.sleep(0.02)
    for stream in streams.values():
        stream.close()
    assert drain.finish() == packed
    assert sorted(path.name for path in packed.iterdir()) == ["a.raw.trace.packed", "b.raw.trace.packed"]
    assert not drain.messages
    for name, expected in chunks.items():
        assert _unpacked(spools / f"{name}.raw.trace.packed") == expected


def test_the_space_of_what_was_read_is_given_back(tmp_path: Path) -> None:
    rng = random.Random(1)
    chunks = [_chunk(rng, 1 << 20) for _ in range(4)]
    spools, packed = tmp_path / "spools", tmp_path / "packed"
    spools.mkdir()
    packed.mkdir()
    spool = spools / "x.raw.trace"
    rest = b"TRODTRC1 and the beginning of what a killed process was writing"
    spool.write_bytes(_SPOOL + b"".join(map(_padded, chunks)) + rest)
    held = spool.stat().st_blocks
    drain = Drain(spools, packed)
    drain.start()
    drain.finish()
    assert _unpacked(packed / "x.raw.trace.packed") == chunks
    assert spool.read_bytes().endswith(rest)
    assert spool.stat().st_blocks < held // 2


def test_what_is_no_chunk_is_left_alone_and_named(tmp_path: Path) -> None:
    spools, packed = tmp_path / "spools", tmp_path / "packed"
    spools.mkdir()
    packed.mkdir()
    spool = spools / "x.raw.trace"
    spool.write_bytes(_SPOOL + _padded(_chunk(random.Random(2), 5_000)) + b"?" * 200)
    before = spool.read_bytes()
    drain = Drain(spools, packed)
    drain.start()
    drain.finish()
    (message,) = drain.messages
    assert "no chunk of a trace starts at byte" in message
    assert spool.read_bytes() == before


def test_no_directory_is_made_where_nothing_is_traced(tmp_path: Path) -> None:
    drain = Drain(tmp_path)
    drain.start()
    assert drain.finish() is None
    assert os.listdir(tmp_path) == []
