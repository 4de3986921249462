"""A trace that is damaged or truncated is read up to the damage, which is named, and behind it."""

from __future__ import annotations

import shutil
import struct
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from tests.native.building import must, trodden
from trodden.api.traces import library, load
from trodden.errors import BadFile
from trodden.profile.derived import derive
from trodden.profile.trace.threads import ThreadTrace
from trodden.program.record import HEAD_SIZE
from trodden.recover.trace.events import Event, Kind

PROGRAM = """\
#include <stdlib.h>
static volatile int found;
static __attribute__((noinline)) void seldom(void) {
    found++;
}
static __attribute__((noinline)) void often(int number) {
    if (number % 100000 == 0)
        seldom();
}
int main(void) {
    for (int i = 0; i < 400000; i++)
        often(i ^ (rand() & 1));
    return 0;
}
"""
WHERE = "trodden: process "


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("whole")
    (folder / "p.c").write_text(PROGRAM)
    must("run", "--profile", "trace", "--quiet", "-O1", "-o", "p.trod", "p.c", cwd=folder)
    return folder / "p.trod"


def _thread(path: Path) -> ThreadTrace:
    (thread,) = load(path).trace.threads
    return thread


def _chunks(path: Path, count: int) -> list[list[Event]]:
    """The blocks of each chunk; the first chunk in which they are damaged has these events, too."""
    found = [list(events) for events in _thread(path).by_chunk()]
    assert len(found) == count
    return [[each for each in events if each.kind in (Kind.BLOCK, Kind.DAMAGED)] for events in found]


def _without_positions(events: Sequence[Event]) -> list[Event]:
    return [event._replace(position=0) for event in events]


def _place(path: Path, chunk: int) -> int:
    """Where in the file the piece of a chunk begins."""
    thread = _thread(path)
    packed = sum(piece.packed for piece in load(path).trace.traces.all_pieces)
    return path.stat().st_size - packed + thread.main[chunk].piece.offset


def test_a_damaged_part_is_left_out_and_named(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.trod"
    shutil.copyfile(whole, path)
    count = len(_thread(whole).main)
    assert count >= 4
    data = bytearray(path.read_bytes())
    data[(_place(path, 1) + _place(path, 2)) // 2] ^= 4
    path.write_bytes(data)
    expected, found = _chunks(whole, count), _chunks(path, count)
    assert found[0] == expected[0]
    assert [event.kind for event in found[1]] == [Kind.DAMAGED]
    for one, other in zip(found[2:], expected[2:], strict=True):
        # A region that began in the damaged part is not known.
        left = _without_positions(one)
        assert left == _without_positions(other)[-len(left) :]
        assert len(other) - len(left) < 10
    for command in (["query", "p.trod", "count enter seldom"], ["replay", "p.trod", "--repeats"]):
        assert "behind block" in trodden(*command, cwd=tmp_path).stderr
    done = trodden("replay", "p.trod", "--function", "seldom", cwd=tmp_path)
    assert done.returncode == 0
    (line,) = done.stderr.splitlines()
    assert line.startswith(WHERE)
    assert f"behind block {len(expected[0]):,}, " in line
    assert any("behind block" in message for message in derive(load(path), "edges").profile.messages)


def test_a_truncated_file_is_read_up_to_its_end(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.trod"
    shutil.copyfile(whole, path)
    count = len(_thread(whole).main)
    end = _place(path, 2) + 10
    missing = path.stat().st_size - end
    with path.open("r+b") as stream:
        stream.truncate(end)
    expected, found = _chunks(whole, count), _chunks(path, count)
    assert found[:2] == expected[:2]
    assert [event.kind for event in found[2]] == [Kind.DAMAGED]
    assert not any(event.kind == Kind.BLOCK for events in found[2:] for event in events)
    (message,) = load(path).messages
    assert message == f"{path}: truncated: the last {missing:,} bytes of its trace are missing"
    done = trodden("replay", "p.trod", "--function", "seldom", cwd=tmp_path)
    assert done.returncode == 0
    assert f"behind block {len(expected[0]) + len(expected[1]):,}, " in done.stderr


@pytest.mark.parametrize("length", [1 << 40, (1 << 64) - 1])
def test_a_length_that_is_larger_than_any_memory(length: int, whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.trod"
    head = bytearray(whole.read_bytes()[:HEAD_SIZE])
    struct.pack_into("<Q", head, HEAD_SIZE - 8, length)
    path.write_bytes(head)
    with pytest.raises(BadFile, match="truncated"):
        load(path)


def test_a_chunk_that_starts_nowhere_is_named(whole: Path) -> None:
    """By both readers, and reading goes on behind it."""
    profile = load(whole)
    assert profile.traces is not None
    (process,) = profile.traces.processes
    chunks = list(process.chunks)
    chunks[0] = replace(chunks[0], function=1 << 20)
    program = profile.trace.program(process)
    found = []
    for reader in (None, library()):
        changed = replace(process, chunks=tuple(chunks))
        thread = ThreadTrace(profile.traces, changed, 0, program, reader)
        found.append([list(events) for events in thread.by_chunk(0, 2)])
    assert found[0] == found[1]
    first, second = found[0]
    assert [event.kind for event in first] == [Kind.DAMAGED]
    assert len([event for event in second if event.kind == Kind.BLOCK]) > 1000


def test_what_is_the_same_of_several_parts_is_said_once(whole: Path, tmp_path: Path) -> None:
    path = tmp_path / "p.trod"
    data = bytearray(whole.read_bytes())
    for chunk in (1, 2):
        data[(_place(whole, chunk) + _place(whole, chunk + 1)) // 2] ^= 4
    path.write_bytes(data)
    for arguments in (
        ("query", "count enter often"),
        ("query", "between enter main and signal"),
        ("replay", "--function", "seldom"),
        ("replay", "--function", "seldom", "--backwards"),
        ("replay", "--repeats"),
    ):
        verb, *options = arguments
        said = trodden(verb, path.name, *options, cwd=tmp_path).stderr.splitlines()
        assert len(said) == 1
        assert said[0].startswith(WHERE)
    messages = [each for each in derive(load(path), "edges").profile.messages if "at byte" in each]
    assert len(messages) == 1


@pytest.mark.parametrize("kept", [0.2, 0.5, 0.99])
def test_all_bytes_that_are_missing_are_counted(whole: Path, tmp_path: Path, kept: float) -> None:
    """Also those of the trace, where the file ends before it."""
    data = whole.read_bytes()
    left = HEAD_SIZE + int(kept * int.from_bytes(data[HEAD_SIZE - 8 : HEAD_SIZE], "little"))
    (tmp_path / "p.trod").write_bytes(data[:left])
    for command in ("report", "replay", "profile-of"):
        output = ["-o", "o.trod"] if command == "profile-of" else []
        done = trodden(command, "p.trod", *output, cwd=tmp_path)
        missing = f"{len(data) - left:,}"
        assert done.stderr == f"trodden: p.trod: truncated: {missing} bytes are missing at its end\n"
    (tmp_path / "p.trod").write_bytes(data[: HEAD_SIZE + 1])
    done = trodden("report", "p.trod", cwd=tmp_path)
    assert "truncated: at least " in done.stderr
