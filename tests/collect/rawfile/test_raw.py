"""Raw files: read as written, and nothing but our own errors for anything else."""

from __future__ import annotations

import struct
import tracemalloc
import zlib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.making import raw_bytes
from trodden.collect.rawfile.model import (
    Ending,
    RawCallNode,
    RawFrame,
    RawModule,
    RawNonLocalExit,
    RawSparsePath,
    RawTrace,
    RawUnit,
    TraceEnd,
)
from trodden.collect.rawfile.raw import parse_raw, read_raw
from trodden.errors import BadFile, InputMissing, LaterVersion

ONE, TWO = "00112233445566778899aabbccddeeff", "ff" * 16
SMALL = raw_bytes(
    [(0x5000, "/bin/prog"), (0, "/lib/a.so")],
    [(ONE, 0, [1, 2**64 - 1]), (TWO, 1, [])],
    [(0, 0, 0x1234, 2**64 - 1), (1, 0xFFFFFFFF, 0)],
    non_local_exits=[(0, 0x1234, -(2**63)), (1, 0x10, 7, 0)],
    sparse_paths=[(0, 5, 9, 3), (0, 1 << 63 | 5, 9, 70), (1, 6, 2**64 - 2, 1)],
    call_nodes=[(2**32 - 1, 0, 0, 0, 0), (1, 4, 0, 0, 2**64 - 1), (0, 0, 1, 0, 0), (1, 4, 2, 1, 6)],
    ending=1,
)


def _resealed(data: bytes) -> bytes:
    """The same with a checksum that fits."""
    return data[:-16] + struct.pack("<QI", len(data), zlib.crc32(data[:-16])) + data[-4:]


def test_everything_is_read() -> None:
    raw = parse_raw(SMALL, "x.raw")
    assert (raw.path, raw.pid, raw.parent) == ("x.raw", 42, 7)
    assert (raw.ending, raw.signal, raw.frames_missing) == (Ending.DUMP, 0, False)
    assert raw.started == 1_700_000_000_000_000_000
    assert raw.modules == (RawModule(0x5000, "/bin/prog"), RawModule(0, "/lib/a.so"))
    assert raw.units == (RawUnit(ONE, 0, (1, 2**64 - 1)), RawUnit(TWO, 1, ()))
    assert raw.frames == (RawFrame(0, 0, 0x1234, 2**64 - 1), RawFrame(1, None, 0))
    assert raw.non_local_exits == (RawNonLocalExit(0, 0x1234, -(2**63)), RawNonLocalExit(1, 0x10, 7, 0))
    assert raw.sparse_paths == (
        RawSparsePath(0, 5, False, 9, 3),
        RawSparsePath(0, 5, True, 9, 70),
        RawSparsePath(1, 6, False, 2**64 - 2, 1),
    )
    assert raw.call_nodes == (
        RawCallNode(None, 0, 0, False, 0),
        RawCallNode(1, 4, 0, False, 2**64 - 1),
        RawCallNode(0, 0, 1, False, 0),
        RawCallNode(1, 4, 2, True, 6),
    )


numbers = st.integers(0, 2**64 - 1)


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(numbers, st.sampled_from(["", "/a", "/bin/prog", "/é/12345678"])), min_size=1, max_size=3
    ),
    st.lists(st.tuples(st.binary(min_size=16, max_size=16), st.lists(numbers, max_size=5)), max_size=3),
    st.lists(numbers, max_size=4),
    st.lists(st.tuples(numbers, st.integers(-(2**63), 2**63 - 1)), max_size=4),
)
def test_round_trip(
    modules: list[tuple[int, str]],
    units: list[tuple[bytes, list[int]]],
    addresses: list[int],
    exits: list[tuple[int, int]],
) -> None:
    last = len(modules) - 1
    data = raw_bytes(
        modules,
        [(name.hex(), last, counts) for name, counts in units],
        [(1, last, a) for a in addresses],
        non_local_exits=[(last, *each) for each in exits],
    )
    raw = parse_raw(data, "x.raw")
    assert [(module.bias, module.path) for module in raw.modules] == modules
    assert [(bytes.fromhex(unit.id), list(unit.counters)) for unit in raw.units] == units
    assert [frame.address for frame in raw.frames] == addresses
    assert [(each.address, each.count) for each in raw.non_local_exits] == exits
    assert raw.ending is Ending.EXIT


def test_a_file_truncated_anywhere_is_refused(tmp_path: Path) -> None:
    for length in range(len(SMALL)):
        path = tmp_path / "x.raw"
        path.write_bytes(SMALL[:length])
        with pytest.raises(BadFile, match="truncated"):
            read_raw(path)


def test_a_flipped_bit_never_goes_unnoticed() -> None:
    for position in range(len(SMALL)):
        damaged = bytearray(SMALL)
        damaged[position] ^= 0x10
        with pytest.raises((BadFile, LaterVersion)):
            parse_raw(bytes(damaged), "x.raw")


def test_damage_with_a_fitting_checksum_is_refused_or_harmless() -> None:
    for position in range(len(SMALL) - 8):
        for value in (0x00, 0x01, 0x7F, 0xFF):
            damaged = bytearray(SMALL)
            damaged[position] = value
            try:
                raw = parse_raw(_resealed(bytes(damaged)), "x.raw")
            except (BadFile, LaterVersion):
                continue
            assert (len(raw.modules), len(raw.units), len(raw.frames)) == (2, 2, 2)
            assert (len(raw.non_local_exits), len(raw.sparse_paths), len(raw.call_nodes)) == (2, 3, 4)


def test_sizes_are_checked_before_memory_is_allocated() -> None:
    greedy = bytearray(SMALL)
    slots = SMALL.index(bytes.fromhex(ONE)) + 20
    struct.pack_into("<III", greedy, slots, 0xFFFFFFFF, 0, 0xFFFFFFF0)
    tracemalloc.start()
    with pytest.raises(BadFile, match="too short for what its header says"):
        parse_raw(_resealed(bytes(greedy)), "x.raw")
    for count_at in range(40, 76, 4):
        greedy = bytearray(SMALL)
        struct.pack_into("<I", greedy, count_at, 0xFFFFFFFF)
        with pytest.raises(BadFile):
            parse_raw(_resealed(bytes(greedy)), "x.raw")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1 << 20


def test_how_a_process_ended() -> None:
    dying = parse_raw(raw_bytes([], [], ending=2, signal=11, flags=2), "x.raw")
    assert (dying.ending, dying.signal) == (Ending.SIGNAL, 11)
    assert dying.frames_missing
    with pytest.raises(BadFile, match="no ending with the number 3"):
        parse_raw(raw_bytes([], [], ending=3), "x.raw")


def test_what_is_left_over_is_no_profile() -> None:
    longer = SMALL[:-16] + bytes(8) + SMALL[-16:]
    with pytest.raises(BadFile, match="too long for what its header says"):
        parse_raw(_resealed(bytes(longer)), "x.raw")


def test_a_later_version_is_named_as_such() -> None:
    with pytest.raises(LaterVersion, match="later trodden"):
        parse_raw(raw_bytes([], [], version=7), "x.raw")


def test_a_trace_has_the_numbers_of_functions() -> None:
    units = [("00" * 16, 0, (1,)), ("11" * 16, 0, ()), ("22" * 16, 0, ())]
    trace = (1, 1, [(0, 1), (0, 0), (7, 1)])
    found = parse_raw(raw_bytes([(0, "a")], units, version=5, trace=trace), "x.raw").trace
    assert found == RawTrace(TraceEnd.LIMIT, True, (0, None, 7))
    assert parse_raw(raw_bytes([(0, "a")], units), "x.raw").trace is None
    for bad in ((8, 0, trace[2]), (0, 2, trace[2]), (0, 0, trace[2][1:])):
        with pytest.raises(BadFile, match="corrupt"):
            parse_raw(raw_bytes([(0, "a")], units, version=5, trace=bad), "x.raw")


def test_an_earlier_version_is_named_as_such() -> None:
    for version in (1, 2, 3):
        with pytest.raises(BadFile, match=f"version {version} is no longer read"):
            parse_raw(raw_bytes([], [], version=version), "x.raw")


@pytest.mark.parametrize("content", [b"TRODDEN\n" + bytes(80), b"\x7fELF", b"hello"])
def test_other_files_are_told_apart(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(BadFile, match=r"not a raw file"):
        read_raw(path)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputMissing, match=r"gone.raw: cannot be read: No such file"):
        read_raw(tmp_path / "gone.raw")
    with pytest.raises(InputMissing, match="Is a directory"):
        read_raw(tmp_path)
