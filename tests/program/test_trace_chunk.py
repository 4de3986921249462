"""Packed files: what is written reads back, and damage is named where it is."""

from __future__ import annotations

import io
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trodden.errors import BadFile
from trodden.program.trace_chunk import MAGIC, PACKED_MAGIC, chunk_extent, packed_chunks, packed_entry


def header(frames: int = 0, records: int = 0, ended: int = 1) -> bytes:
    """The header of a chunk with its frames."""
    head = MAGIC + bytes(24) + struct.pack("<QII", ended, records, frames)
    return head.ljust(96, b"\x07") + b"frame".ljust(16, b"\0") * frames


def test_the_extent_of_a_chunk_is_in_its_header() -> None:
    extent = chunk_extent(header(3, 21), "x", 0)
    assert (extent.head, extent.records, extent.finished, extent.size) == (144, 21, True, 168)
    assert not chunk_extent(header(ended=0), "x", 0).finished


@given(st.lists(st.tuples(st.integers(0, 4), st.binary(max_size=20)), max_size=4), st.integers(1, 60))
def test_packed_chunks_are_found_and_a_lost_end_is_named(chunks: list[tuple[int, bytes]], lost: int) -> None:
    heads = [header(frames, len(data)) for frames, data in chunks]
    entries = [packed_entry(head, data) for head, (_, data) in zip(heads, chunks, strict=True)]
    data = PACKED_MAGIC + b"".join(entries)
    found = list(packed_chunks(io.BytesIO(data), "x"))
    assert [each.head for each in found] == heads
    assert [data[each.position :][: each.compressed] for each in found] == [each for _, each in chunks]
    assert [each.records for each in found] == [len(each) for _, each in chunks]
    if entries and lost < len(entries[-1]):
        before_the_end = packed_chunks(io.BytesIO(data[:-lost]), "x")
        assert [next(before_the_end).head for _ in heads[:-1]] == heads[:-1]
        with pytest.raises(BadFile, match="ends in the chunk at byte"):
            next(before_the_end)


def test_damage_is_named() -> None:
    with pytest.raises(BadFile, match="x: no chunk of a trace starts at byte 7"):
        chunk_extent(b"?" + header()[1:], "x", 7)
    for damaged in (header(0, 1 << 21), header(0)[:44] + b"\xff" * 4 + header(0)[48:]):
        with pytest.raises(BadFile, match="x: the header of the chunk at byte 9 is damaged"):
            chunk_extent(damaged, "x", 9)
    with pytest.raises(BadFile, match="not a packed trace"):
        list(packed_chunks(io.BytesIO(b"something"), "x"))
    with pytest.raises(BadFile, match="the chunk at byte 8 is damaged"):
        list(packed_chunks(io.BytesIO(PACKED_MAGIC + packed_entry(header(2)[:112], b"")), "x"))
