"""Spool files are drained while they grow: nothing is lost, nothing twice, and their space is given back."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

from zstandard import ZstdDecompressor

from trodden.native.execute.drain import Drain
from trodden.program.trace_chunk import ChunkFlags, ChunkFrame, ChunkHeader, packed_chunks


def _chunk(rng: random.Random, number: int, size: int) -> tuple[ChunkHeader, bytes]:
    frames = tuple(ChunkFrame(0, rng.randrange(1 << 40)) for _ in range(rng.randrange(5)))
    header = ChunkHeader(1, 0, number, 10, 20, size, 3, 4, 0, 0, 0, ChunkFlags(0), 0, frames)
    return header, rng.randbytes(size // 2) + b"\1" * (size - size // 2)


def _unpacked(path: Path) -> list[tuple[ChunkHeader, bytes]]:
    data = path.read_bytes()
    with path.open("rb") as stream:
        return [
            (each.header, ZstdDecompressor().decompress(data[each.position :][: each.compressed] or b""))
            for each in packed_chunks(stream, path.name)
        ]


def test_chunks_that_arrive_in_pieces_are_packed_once_and_in_order(tmp_path: Path) -> None:
    rng = random.Random(5)
    spools, packed = tmp_path / "spools", tmp_path / "packed"
    spools.mkdir()
    packed.mkdir()
    chunks = {name: [_chunk(rng, n, rng.randrange(1, 200_000)) for n in range(40)] for name in "ab"}
    drain = Drain(spools, packed)
    drain.start()
    streams = {name: (spools / f"{name}.raw.trace").open("ab", buffering=0) for name in chunks}
    written = {name: b"".join(header.encode() + data for header, data in chunks[name]) for name in chunks}
    while any(written.values()):
        name = rng.choice([name for name, rest in written.items() if rest])
        piece = rng.randrange(1, 300_000)
        streams[name].write(written[name][:piece])
        written[name] = written[name][piece:]
        if rng.random() < 0.1:
            time.sleep(0.02)
    for stream in streams.values():
        stream.close()
    assert drain.finish() == packed
    assert sorted(path.name for path in packed.iterdir()) == ["a.raw.trace.packed", "b.raw.trace.packed"]
    assert not drain.messages
    assert not list(spools.iterdir())
    for name, expected in chunks.items():
        assert _unpacked(packed / f"{name}.raw.trace.packed") == expected


def test_the_space_of_what_was_read_is_given_back(tmp_path: Path) -> None:
    header, data = _chunk(random.Random(1), 0, 4 << 20)
    spool = tmp_path / "x.raw.trace"
    drain = Drain(tmp_path, tmp_path)
    spool.write_bytes(header.encode() + data)
    held = spool.stat().st_blocks
    keep = os.open(spool, os.O_RDONLY)
    with spool.open("ab") as stream:
        stream.write(b"TRODTRC1 and the beginning of what a killed process was writing")
    drain.start()
    drain.finish()
    assert _unpacked(tmp_path / "x.raw.trace.packed") == [(header, data)]
    assert spool.exists(), "the rest is left to the collector"
    assert os.fstat(keep).st_blocks < held // 2
    os.close(keep)


def test_what_is_no_chunk_is_left_alone_and_named(tmp_path: Path) -> None:
    header, data = _chunk(random.Random(2), 0, 5_000)
    spool = tmp_path / "x.raw.trace"
    spool.write_bytes(header.encode() + data + b"?" * 200)
    before = spool.read_bytes()
    drain = Drain(tmp_path, tmp_path)
    drain.start()
    drain.finish()
    assert len(drain.messages) == 1
    assert "no chunk of a trace starts at byte" in drain.messages[0]
    assert spool.read_bytes() == before


def test_no_directory_is_made_where_nothing_is_traced(tmp_path: Path) -> None:
    drain = Drain(tmp_path)
    drain.start()
    assert drain.finish() is None
