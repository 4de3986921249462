"""Traces of frames that are left without returning, of signal handlers, stacks and forked processes.

The program's functions print where their calls return to.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path

import pytest

from tests.native.handwritten import Run, RuntimeLinker, start
from tests.native.trace_records import Record, bias_of, records, trace_of
from trodden.collect.rawfile.raw import read_raw
from trodden.collect.trace.chunk import Chunk
from trodden.program.trace_chunk import Flag

_MAIN, _NEST, _ACTION, _HANDLER, _CHILD, _OTHER = (("enter", number) for number in range(6))
_NESTED = [_NEST, ("symbol", 1)]
_SIGUSR1, _SIGUSR2 = 10, 12
_LEFT_BYTES = 13


@pytest.fixture
def program(linker: RuntimeLinker) -> Path:
    return linker.build("trace_frames", "trace_frames.c")


@pytest.fixture
def static_program(static_linker: RuntimeLinker) -> Path:
    return static_linker.build("trace_frames", "trace_frames.c")


def _run(program: Path, cwd: Path, *arguments: str) -> Run:
    run = start(program, *arguments, cwd=cwd)
    assert (run.status, run.errors) == (0, "")
    return run


def _returns(run: Run) -> dict[str, list[int]]:
    """By name, to where calls of functions return, in the program's file."""
    found: dict[str, list[int]] = defaultdict(list)
    for line in run.output:
        name, address = line.split()
        found[name].append(int(address, 16) - bias_of(run.raw))
    return found


def _all_records(chunks: tuple[Chunk, ...], thread: int = 0, level: int = 0) -> list[Record]:
    own = [chunk for chunk in chunks if (chunk.thread, chunk.level) == (thread, level)]
    return [record for chunk in own for record in records(chunk.records())]


def _lefts(found: list[Record]) -> list[int]:
    return [record[2] for record in found if record[0] == "left"]


def _without_addresses(found: list[Record]) -> list[Record]:
    return [(record[0],) if record[0] in ("left", "sync") else record for record in found]


def _levels(chunks: tuple[Chunk, ...]) -> list[tuple[int, int | None, int, int]]:
    return [(chunk.level, chunk.parent, chunk.offset, chunk.signal) for chunk in chunks]


@pytest.mark.parametrize("which", ["program", "static_program"])
def test_a_jump_leaves_frames_from_the_innermost_on(
    which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """Also when the same jump is made again, and the counts of its frames come from a cache."""
    run = _run(request.getfixturevalue(which), tmp_path, "jump", "3", "4")
    nested = [*_NESTED * 4, _ACTION, *[("left",)] * 5]
    found = _all_records(trace_of(run.raw).chunks)
    assert _without_addresses(found) == [
        _MAIN,
        *[("symbol", 10), *nested, ("symbol", 11)] * 4,
        ("symbol", 99),
    ]
    returns = _returns(run)
    lefts = _lefts(found)
    for time in range(4):
        # The first is the call of siglongjmp; the last call returns to the function that is jumped to.
        expected = [returns["action"][time], *returns["nest"][4 * time + 1 : 4 * time + 4][::-1]]
        assert lefts[5 * time + 1 : 5 * time + 5] == expected


def test_a_jump_over_more_frames_than_a_segment_has_room_for(program: Path, tmp_path: Path) -> None:
    depth = 60000
    run = _run(program, tmp_path, "jump", str(depth), "3", "quiet")
    trace = trace_of(run.raw)
    found = _without_addresses(_all_records(trace.chunks))
    once = [("symbol", 10), *_NESTED * (depth + 1), _ACTION, *[("left",)] * (depth + 2), ("symbol", 11)]
    assert found == [_MAIN, *once * 3, ("symbol", 99)]
    within = [chunk for chunk in trace.chunks if not chunk.independent]
    assert len(within) >= 3 * depth * _LEFT_BYTES // (256 << 10) - 3
    assert {chunk.frames for chunk in within} == {()}
    others = [chunk for chunk in trace.chunks if chunk.independent][1:]
    assert {len(chunk.frames) for chunk in others} == {512}
    assert all(chunk.flags & Flag.FRAMES_CUT for chunk in others)


@pytest.mark.parametrize("mode", ["exit", "cancel"])
@pytest.mark.parametrize("which", ["program", "static_program"])
def test_the_end_of_a_thread_leaves_its_frames(
    mode: str, which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run = _run(request.getfixturevalue(which), tmp_path, mode)
    chunks = trace_of(run.raw).chunks
    found = _all_records(chunks, 1)
    returns = _returns(run)
    assert _without_addresses(found)[:9] == [_OTHER, ("symbol", 5), *_NESTED * 3, _ACTION]
    assert {record[0] for record in found[9:]} == {"left"}
    expected = [returns["action"][0], *returns["nest"][::-1]]
    # Those of a static C library are between them.
    assert [address for address in _lefts(found) if address in expected] == expected
    assert chunks[-1].flags == Flag.FIRST | Flag.LAST


@pytest.mark.parametrize("mode", ["signal", "alternate"])
@pytest.mark.parametrize("which", ["program", "static_program"])
def test_handlers_have_chunks_of_their_own(
    mode: str, which: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    run = _run(request.getfixturevalue(which), tmp_path, mode, "0", "2")
    chunks = trace_of(run.raw).chunks
    once = [*_NESTED * 2, _ACTION, ("symbol", 20), ("symbol", 101), ("symbol", 101), ("symbol", 11)]
    assert _all_records(chunks) == [_MAIN, *once * 2, ("symbol", 99)]
    assert _all_records(chunks, level=1) == [_HANDLER, ("symbol", _SIGUSR1), ("symbol", 50 + _SIGUSR1)] * 2
    assert _levels(chunks) == [(0, None, 0, 0), (1, 0, 10, _SIGUSR1), (1, 0, 22, _SIGUSR1)]
    assert all(chunk.flags == Flag.HANDLER and chunk.pc for chunk in chunks[1:])


def test_handlers_that_record_nothing_have_no_chunks(program: Path, tmp_path: Path) -> None:
    assert _levels(trace_of(_run(program, tmp_path, "silent", "0", "3").raw).chunks) == [(0, None, 0, 0)]


def test_nested_handlers(program: Path, tmp_path: Path) -> None:
    chunks = trace_of(_run(program, tmp_path, "nested").raw).chunks
    assert _levels(chunks) == [(0, None, 0, 0), (1, 0, 10, _SIGUSR1), (2, 1, 3, _SIGUSR2)]
    inner = [("symbol", 100 + _SIGUSR1), ("symbol", 50 + _SIGUSR1)]
    assert _all_records(chunks, level=1) == [_HANDLER, ("symbol", _SIGUSR1), *inner]
    assert _all_records(chunks, level=2) == [_HANDLER, ("symbol", _SIGUSR2), ("symbol", 50 + _SIGUSR2)]


@pytest.mark.parametrize(
    ("mode", "levels"),
    [("out", 1), ("alternate-out", 1), ("nested-out", 2)],
    ids=["own", "alternate", "nested"],
)
def test_a_jump_out_of_handlers(program: Path, tmp_path: Path, mode: str, levels: int) -> None:
    """Their chunks end; the code that they have interrupted leaves its call, and others go on."""
    times = 40
    chunks = trace_of(_run(program, tmp_path, mode, "0", str(times)).raw).chunks
    found = _all_records(chunks)
    once = [*_NESTED * 2, _ACTION, ("left",), ("sync",), ("symbol", 11)]
    assert _without_addresses(found) == [_MAIN, *once * times, ("symbol", 99)]
    assert {len(record) for record in found if record[0] == "sync"} == {3}
    assert [chunk.level for chunk in chunks] == [0, *list(range(1, levels + 1)) * times]


def test_a_record_that_is_stored_when_a_signal_arrives(program: Path, tmp_path: Path) -> None:
    """It is before what the handler does; when the handler has returned, it is not there twice."""
    chunks = trace_of(_run(program, tmp_path, "between").raw).chunks
    assert _all_records(chunks) == [_MAIN, ("symbol", 30), ("symbol", 31), ("symbol", 99)]
    assert chunks[1].offset == 3


def test_a_record_that_is_stored_when_a_handler_jumps_out(program: Path, tmp_path: Path) -> None:
    chunks = trace_of(_run(program, tmp_path, "between-out").raw).chunks
    expected = [_MAIN, ("symbol", 30), ("left",), ("sync",), ("symbol", 11), ("symbol", 99)]
    assert _without_addresses(_all_records(chunks)) == expected


def test_a_thread_that_switches_between_stacks(program: Path, tmp_path: Path) -> None:
    """A record says which frames it goes on with: none, where a function starts on its stack."""
    run = _run(program, tmp_path, "stacks")
    found = _all_records(trace_of(run.raw).chunks)
    assert _without_addresses(found) == [
        *[_MAIN, _CHILD, ("sync",), _OTHER, *_NESTED * 2, _ACTION, ("sync",), ("symbol", 42)],
        *[_CHILD, ("sync",), ("symbol", 40), ("symbol", 101), ("symbol", 101), ("symbol", 41), ("sync",)],
        *[("symbol", 42), ("symbol", 99)],
    ]
    first, *there, last = [record[1:] for record in found if record[0] == "sync"]
    returns = _returns(run)
    assert first == ()
    assert [frames[1] for frames in (there[0], last)] == returns["there"]
    assert there[1][1:] == (returns["back"][0], *returns["nest"][::-1])


def test_a_forked_child_has_a_trace_of_its_own(program: Path, tmp_path: Path) -> None:
    run = _run(program, tmp_path, "fork")
    (name,) = tmp_path.glob("out.*.raw")
    child = trace_of(name).chunks
    rest = [("symbol", 101)] * 2 + [("symbol", 99)]
    parent = [_MAIN, *_NESTED * 2, _ACTION, ("event", 1, read_raw(name).pid), ("symbol", 60), ("symbol", 62)]
    assert _all_records(trace_of(run.raw).chunks) == parent + rest
    assert _all_records(child) == [("symbol", 61), ("symbol", 63), *rest]
    returns = _returns(run)
    addresses = [frame.address for frame in child[0].frames]
    assert addresses[1:] == [returns["action"][0], *returns["nest"][::-1]]
    assert child[0].flags == Flag.FIRST | Flag.CHILD | Flag.LAST


def test_a_child_that_is_forked_in_a_handler(program: Path, tmp_path: Path) -> None:
    """What the handler has interrupted goes on in the child where it was."""
    run = _run(program, tmp_path, "handler-fork")
    (name,) = tmp_path.glob("out.*.raw")
    chunks = trace_of(name).chunks
    rest = [("symbol", 31), ("symbol", 99)]
    assert _all_records(trace_of(run.raw).chunks) == [_MAIN, ("symbol", 30), *rest]
    assert [(chunk.level, chunk.sequence, chunk.inherited) for chunk in chunks] == [(0, 0, 3), (1, 1, 0)]
    assert list(records(chunks[0].records()[chunks[0].inherited :])) == rest
    assert _all_records(chunks, level=1) == [("symbol", 61)]
    assert all(chunk.flags & Flag.CHILD for chunk in chunks)
    assert (chunks[1].parent, chunks[1].offset) == (0, 3)


def test_a_child_of_vfork_writes_to_its_parents_trace(program: Path, tmp_path: Path) -> None:
    """Its exec fails: then the frames that it had left are active again."""
    run = _run(program, tmp_path, "vfork")
    found = _all_records(trace_of(run.raw).chunks)
    assert _without_addresses(found) == [
        *[_MAIN, ("symbol", 71), *_NESTED * 2, _ACTION, ("left",), ("left",), ("left",)],
        *[("event", 2, 0), ("sync",), ("symbol", 70), ("left",), ("left",), ("left",)],
        *[("symbol", 72), ("symbol", 99)],
    ]
    lefts = _lefts(found)
    (sync,) = (record[1:] for record in found if record[0] == "sync")
    assert (sync[:3], lefts[1:3]) == (tuple(lefts[:3]), lefts[4:])


def test_an_exec_that_fails(program: Path, tmp_path: Path) -> None:
    found = _all_records(trace_of(_run(program, tmp_path, "exec").raw).chunks)
    assert found == [_MAIN, *_NESTED, _ACTION, ("event", 2, 0), ("symbol", 70)]


def test_addresses_are_those_of_the_file(program: Path, tmp_path: Path) -> None:
    """Where the program is loaded makes no difference."""
    first, second = (_run(program, tmp_path, "jump", "1") for _ in range(2))
    assert _returns(first) == _returns(second)
    assert re.match(r"nest 0x[0-9a-f]+$", first.output[0])
