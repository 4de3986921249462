"""Chunks of traces: what is written reads back, and damage is named where it is."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trodden.errors import BadFile
from trodden.program.trace_chunk import (
    HEADER_SIZE,
    MAGIC,
    PACKED_MAGIC,
    ChunkFlags,
    ChunkFrame,
    ChunkHeader,
    packed_chunks,
    packed_entry,
    parse_header,
    size_of_header,
)

_U32, _U64 = st.integers(0, 2**32 - 1), st.integers(0, 2**64 - 1)

HEADERS = st.builds(
    ChunkHeader,
    thread=_U32,
    level=_U32,
    sequence=_U64,
    began=_U64,
    ended=_U64,
    length=st.integers(0, 1 << 20),
    function=_U32,
    location=_U32,
    parent=_U64,
    offset=_U64,
    pc=_U64,
    flags=st.sampled_from(list(ChunkFlags)),
    signal=_U32,
    frames=st.lists(st.builds(ChunkFrame, _U32, _U64), max_size=4).map(tuple),
)


@given(HEADERS)
def test_a_header_reads_back(header: ChunkHeader) -> None:
    data = header.encode()
    assert size_of_header(data, "x", 0) == len(data) == header.size
    assert parse_header(data, "x", 0) == header


@given(st.lists(st.tuples(HEADERS, st.binary(max_size=20)), max_size=4), st.integers(1, 60))
def test_packed_chunks_are_found_and_a_lost_end_is_named(
    chunks: list[tuple[ChunkHeader, bytes]], lost: int
) -> None:
    data = PACKED_MAGIC + b"".join(packed_entry(header.encode(), each) for header, each in chunks)
    found = list(packed_chunks(io.BytesIO(data), "x"))
    assert [each.header for each in found] == [header for header, _ in chunks]
    assert [data[each.position :][: each.compressed] for each in found] == [each for _, each in chunks]
    if chunks and lost < len(packed_entry(chunks[-1][0].encode(), chunks[-1][1])):
        before_the_end = packed_chunks(io.BytesIO(data[:-lost]), "x")
        assert [next(before_the_end).header for _ in chunks[:-1]] == [header for header, _ in chunks[:-1]]
        with pytest.raises(BadFile, match="ends in the chunk at byte"):
            next(before_the_end)


def test_damage_is_named() -> None:
    good = ChunkHeader(0, 0, 0, 1, 2, 3, 4, 5, 0, 0, 0, ChunkFlags(0), 0).encode()
    assert len(good) == HEADER_SIZE
    assert good.startswith(MAGIC)
    with pytest.raises(BadFile, match="x: no chunk of a trace starts at byte 7"):
        parse_header(b"?" + good[1:], "x", 7)
    with pytest.raises(BadFile, match="cannot have 4,294,967,295 frames"):
        size_of_header(good[:44] + b"\xff" * 4 + good[48:], "x", 0)
    with pytest.raises(BadFile, match="cannot have 4,294,967,295 bytes"):
        parse_header(good[:40] + b"\xff" * 4 + good[44:], "x", 0)
    with pytest.raises(BadFile, match="not a packed trace"):
        list(packed_chunks(io.BytesIO(b"something"), "x"))
