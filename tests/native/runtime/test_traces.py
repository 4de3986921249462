"""Traces that threads record: every record is there, in order.

This holds however the process ends; and something may happen to the file.
The program records consecutive numbers in each thread, and notes in shared memory how far it is.
"""

from __future__ import annotations

import os
import random
import re
import shlex
import signal
import struct
import subprocess
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.native.handwritten import Raw, RuntimeLinker, start
from tests.native.trace_records import records, trace_of
from trodden.collect.rawfile.live import regions_of
from trodden.collect.rawfile.live_regions import RegionKind
from trodden.collect.rawfile.model import TraceEnd
from trodden.collect.rawfile.raw import read_raw
from trodden.collect.trace.chunk import Chunk
from trodden.collect.trace.chunks import read_chunks
from trodden.program.trace_chunk import Flag

_SEGMENT = 256 << 10
_NUMBERS = 60000
"""Of nine bytes each: more than two segments."""
_NUMBER_BYTES = 9
_FUNCTION = 3


@pytest.fixture
def program(linker: RuntimeLinker) -> Path:
    return linker.build("trace_counts", "trace_counts.c")


def _numbers(chunks: tuple[Chunk, ...]) -> list[int]:
    found = [record for chunk in chunks for record in records(chunk.records())]
    return [record[1] for record in found if record[0] == "trips"]


def _progress(directory: Path, thread: int) -> int:
    return int(struct.unpack_from("<Q", (directory / "progress").read_bytes(), 8 * thread)[0])


@pytest.mark.parametrize("mode", ["return", "_exit", "quick", "abort", "exec", "endless"])
def test_every_record_is_there(program: Path, tmp_path: Path, mode: str) -> None:
    run = start(program, mode, str(_NUMBERS), "2", cwd=tmp_path)
    assert (run.status, run.errors) == ({"abort": -signal.SIGABRT, "exec": 0}.get(mode, 3), "")
    raw = read_raw(run.raw)
    assert raw.trace is not None
    assert (raw.trace.stopped, raw.trace.lost, raw.trace.first_functions) == (TraceEnd.RUNNING, False, (0,))
    threads = trace_of(run.raw).threads()
    assert sorted(threads) == [0, 1, 2]
    for thread, chunks in threads.items():
        numbers = _numbers(chunks)
        assert numbers == list(range(len(numbers)))
        assert _progress(tmp_path, thread) <= len(numbers) <= _progress(tmp_path, thread) + 1
        assert next(records(chunks[0].records())) == ("enter", _FUNCTION)
        assert [chunk.sequence for chunk in chunks] == list(range(len(chunks)))
        assert [bool(chunk.flags & Flag.FIRST) for chunk in chunks] == [True] + [False] * (len(chunks) - 1)
        assert all(chunk.began <= after.began for chunk, after in pairwise(chunks))
        ended = thread != 0 and mode != "endless"
        assert bool(chunks[-1].flags & Flag.LAST) == (ended or mode not in ("abort", "exec"))
    assert sorted(os.listdir(tmp_path)) == ["out.raw", "out.raw.trace", "progress"]


def test_a_chunk_in_the_middle_says_where_its_thread_is(program: Path, tmp_path: Path) -> None:
    run = start(program, "endless", str(_NUMBERS), "1", cwd=tmp_path)
    for thread, chunks in trace_of(run.raw).threads().items():
        for chunk in chunks[1:]:
            # The caller of the recording function, and its caller, which is the thread's first one.
            assert (chunk.function, chunk.location, len(chunk.frames)) == (_FUNCTION, 2 * thread, 2)
            assert chunk.flags & ~Flag.LAST == 0
        assert (chunks[0].function, chunks[0].frames) == (None, ())


def test_a_killed_process_has_recorded_everything(program: Path, tmp_path: Path) -> None:
    chance = random.Random(19)
    for attempt in range(12):
        directory = tmp_path / str(attempt)
        directory.mkdir()
        environment = os.environ | {"TRODDEN_FILE": "out.raw"}
        process = subprocess.Popen([program, "return", "100000000", "2"], cwd=directory, env=environment)
        until = chance.randrange(100000)
        while not (directory / "progress").exists() or not (directory / "progress").stat().st_size:
            time.sleep(0.001)
        while _progress(directory, 0) < until:
            time.sleep(0)
        process.kill()
        process.wait()
        raw = read_raw(directory / "out.raw")
        trace = read_chunks(directory / "out.raw", raw.pid, raw.started)
        assert not [line for line in trace.damage if "incomplete" not in line]
        assert raw.trace is not None
        for thread, chunks in trace.threads().items():
            numbers = _numbers(chunks)
            done = _progress(directory, thread)
            assert numbers == list(range(len(numbers))), (thread, until)
            assert done <= len(numbers) <= done + 1


def test_a_dump_has_what_was_recorded_before_it(program: Path, tmp_path: Path) -> None:
    """It is a copy: the process goes on, here until it is killed."""
    run = start(program, "dump", str(_NUMBERS), "0", cwd=tmp_path)
    assert run.status == -signal.SIGKILL
    assert _numbers(trace_of(run.raw).chunks) == list(range(_NUMBERS))
    assert _numbers(trace_of(tmp_path / "out.raw.live").chunks) == list(range(_NUMBERS + 1))


def _traced(program: Path, cwd: Path, *arguments: str, status: int = 3, ring: str = "", **more: str) -> Path:
    settings = more | ({"TRODDEN_TRACE_RING": ring} if ring else {})
    environment = {**os.environ, "TRODDEN_FILE": "out.raw", **settings}
    done = subprocess.run([program, *arguments], cwd=cwd, env=environment, capture_output=True, timeout=60)
    assert (done.returncode, done.stderr) == (status, b"")
    return cwd / "out.raw"


def _stopped(raw: Path) -> TraceEnd:
    trace = read_raw(raw).trace
    assert trace is not None
    return trace.stopped


@pytest.mark.parametrize("limit", [1000, 100_000, 400_000])
def test_a_limit(program: Path, tmp_path: Path, limit: int) -> None:
    raw = _traced(program, tmp_path, "return", str(_NUMBERS), "0", TRODDEN_TRACE_LIMIT=str(limit))
    assert _stopped(raw) == TraceEnd.LIMIT
    trace = trace_of(raw)
    numbers = _numbers(trace.chunks)
    assert numbers == list(range(len(numbers)))
    assert limit - 200 * len(trace.chunks) < len(numbers) * _NUMBER_BYTES < limit
    assert list(records(trace.chunks[-1].records()))[-1] == ("event", 4, TraceEnd.LIMIT)
    assert (tmp_path / "out.raw.trace").stat().st_size < limit + 200


def test_a_limit_is_of_all_threads(program: Path, tmp_path: Path) -> None:
    raw = _traced(program, tmp_path, "return", str(4 * _NUMBERS), "3", TRODDEN_TRACE_LIMIT="600000")
    assert _stopped(raw) == TraceEnd.LIMIT
    assert (tmp_path / "out.raw.trace").stat().st_size < 600000 + 4 * _SEGMENT
    for chunks in trace_of(raw).threads().values():
        numbers = _numbers(chunks)
        assert numbers == list(range(len(numbers)))


@pytest.mark.parametrize("mode", ["return", "abort", "endless"])
def test_a_ring_keeps_the_last_records(program: Path, tmp_path: Path, mode: str) -> None:
    status = -signal.SIGABRT if mode == "abort" else 3
    raw = _traced(program, tmp_path, mode, str(_NUMBERS), "1", status=status, ring="256K")
    found = read_raw(raw)
    trace = read_chunks(raw, found.pid, found.started)
    assert trace.damage == ()
    for thread, chunks in trace.threads().items():
        numbers = _numbers(chunks)
        done = _progress(tmp_path, thread)
        assert numbers == list(range(numbers[0], numbers[-1] + 1))
        assert done <= numbers[-1] + 1 <= done + 1
        # Three segments are full at least, and there are four.
        assert 3 * (60 << 10) < len(numbers) * _NUMBER_BYTES < 4 * (64 << 10)
    assert (tmp_path / "out.raw.trace").stat().st_size < 2 * 4 * (64 << 10) + 100


def test_a_dump_of_a_ring(program: Path, tmp_path: Path) -> None:
    raw = _traced(program, tmp_path, "dump", str(_NUMBERS), "0", status=-signal.SIGKILL, ring="256K")
    numbers = _numbers(trace_of(raw).chunks)
    assert numbers == list(range(numbers[0], _NUMBERS))


def test_a_file_may_be_too_large(program: Path, tmp_path: Path) -> None:
    """The trace ends; the program does not notice, and its raw file is complete."""
    limited = f"ulimit -f 12000; exec {shlex.quote(str(program))} return 1000000 0"
    raw = _traced(Path("/bin/sh"), tmp_path, "-c", limited)
    assert _stopped(raw) == TraceEnd.TOO_LARGE
    assert (Raw.counts(Raw.read(raw, 5), "t"), _progress(tmp_path, 0)) == ((1,), 1000000)
    trace = read_chunks(raw)
    numbers = _numbers(trace.chunks)
    assert numbers == list(range(len(numbers)))
    assert len(numbers) * _NUMBER_BYTES > 5_000_000
    assert all("is incomplete" in line for line in trace.damage)


def test_a_full_disk(program: Path, tmp_path: Path) -> None:
    full = f"mount -t tmpfs -o size=8m tmpfs {tmp_path}/disk && cd disk && {program} return 2000000 1"
    (tmp_path / "disk").mkdir()
    environment = os.environ | {"TRODDEN_FILE": "out.raw"}
    copy = f"{full}; test $? = 3 && cp --sparse=always out.raw out.raw.trace progress {tmp_path}/kept"
    (tmp_path / "kept").mkdir()
    done = subprocess.run(["unshare", "-rm", "sh", "-c", copy], cwd=tmp_path, env=environment, timeout=60)
    assert done.returncode == 0
    raw = tmp_path / "kept" / "out.raw"
    assert _stopped(raw) == TraceEnd.NO_SPACE
    trace = read_chunks(raw)
    for chunks in trace.threads().values():
        numbers = _numbers(chunks)
        assert numbers == list(range(len(numbers)))
    assert sum(chunk.length for chunk in trace.chunks) > 2_000_000
    assert _progress(tmp_path / "kept", 0) == _progress(tmp_path / "kept", 1) == 2000000


def _run_while(program: Path, cwd: Path, *arguments: str, **settings: str) -> subprocess.Popen[bytes]:
    """A process that has recorded something."""
    environment = {**os.environ, "TRODDEN_FILE": "out.raw", **settings}
    process = subprocess.Popen([program, *arguments], cwd=cwd, env=environment)
    spool = cwd / "out.raw.trace"
    while not spool.exists() or spool.stat().st_size < _SEGMENT:
        time.sleep(0.001)
    return process


def _paused(program: Path, cwd: Path, numbers: str) -> subprocess.Popen[bytes]:
    """A process that has recorded half of its numbers, and waits."""
    environment = {**os.environ, "TRODDEN_FILE": "out.raw"}
    process = subprocess.Popen([program, "pause", numbers, "0"], cwd=cwd, env=environment)
    _, status = os.waitpid(process.pid, os.WUNTRACED)
    assert os.WIFSTOPPED(status)
    return process


def test_a_spool_file_that_is_deleted(program: Path, tmp_path: Path) -> None:
    process = _paused(program, tmp_path, "3000000")
    (tmp_path / "out.raw.trace").unlink()
    process.send_signal(signal.SIGCONT)
    assert process.wait(60) == 3
    assert _stopped(tmp_path / "out.raw") == TraceEnd.REMOVED
    assert read_chunks(tmp_path / "out.raw").chunks == ()


def test_a_spool_file_that_is_truncated(program: Path, tmp_path: Path) -> None:
    """What is recorded afterwards is there, and that something is missing is said."""
    process = _paused(program, tmp_path, "3000000")
    os.truncate(tmp_path / "out.raw.trace", 0)
    process.send_signal(signal.SIGCONT)
    assert process.wait(60) == 3
    trace = read_chunks(tmp_path / "out.raw")
    numbers = _numbers(trace.chunks)
    assert numbers == list(range(3000000 - len(numbers), 3000000))
    assert trace.damage == (f"{tmp_path}/out.raw.trace: it does not start like a spool file",)


def test_nobody_drains(program: Path, tmp_path: Path) -> None:
    raw = _traced(program, tmp_path, "return", "2000000", "0", TRODDEN_TRACE_DRAINED=str(1 << 20))
    assert _stopped(raw) == TraceEnd.NOT_DRAINED
    numbers = _numbers(trace_of(raw).chunks)
    assert numbers == list(range(len(numbers)))
    assert 1 << 20 < (tmp_path / "out.raw.trace").stat().st_size < 3 << 20


def test_somebody_drains(program: Path, tmp_path: Path) -> None:
    """The process waits for whoever reads the file, and nothing is lost."""
    process = _run_while(program, tmp_path, "return", "1000000", "0", TRODDEN_TRACE_DRAINED=str(1 << 20))
    spool = tmp_path / "out.raw.trace"
    read = bytearray()
    most = 0
    while (ended := process.poll()) is None or len(read) < spool.stat().st_size:
        with spool.open("rb") as stream:
            stream.seek(len(read))
            read += stream.read()
        if ended is None and len(read) >> 12:
            subprocess.run(["fallocate", "-p", "-o", "0", "-l", str(len(read) & ~4095), spool], check=True)
        most = max(most, spool.stat().st_blocks * 512)
    assert ended == 3
    assert most < 3 << 20
    (tmp_path / "copy.raw.trace").write_bytes(read)
    (tmp_path / "copy.raw").write_bytes((tmp_path / "out.raw").read_bytes())
    assert _numbers(trace_of(tmp_path / "copy.raw").chunks) == list(range(1000000))
    assert _stopped(tmp_path / "out.raw") == TraceEnd.RUNNING
    # What is left in the file is not damaged.
    left = trace_of(tmp_path / "out.raw").chunks
    assert _numbers(left) == list(range(1000000 - len(_numbers(left)), 1000000))


def test_threads_use_the_segments_of_those_that_have_exited(program: Path, tmp_path: Path) -> None:
    run = start(program, "series", "40000", "30", cwd=tmp_path)
    assert run.status == -signal.SIGKILL
    threads = trace_of(run.raw).threads()
    assert {thread: len(_numbers(chunks)) for thread, chunks in threads.items()} == dict.fromkeys(
        range(1, 31), 40000
    )
    with run.raw.open("rb") as stream:
        kinds = [region.kind for region in regions_of(stream.fileno(), "live")]
    assert kinds.count(RegionKind.TRACE) == 1


def test_a_process_without_a_trace_pays_nothing(linker: RuntimeLinker, tmp_path: Path) -> None:
    """Neither a file nor memory."""
    run = start(linker.build("simple", "simple.c"), cwd=tmp_path)
    assert sorted(os.listdir(tmp_path)) == ["out.raw"]
    assert Raw.read(run.raw).pid
    assert read_raw(run.raw).trace is None
    assert read_chunks(run.raw).chunks == ()


def test_the_spool_file_of_an_earlier_process_is_replaced(program: Path, tmp_path: Path) -> None:
    (tmp_path / "out.raw.trace").write_bytes(b"old" * 100000)
    run = start(program, "return", "10", "0", cwd=tmp_path)
    assert _numbers(trace_of(run.raw).chunks) == list(range(10))


def test_the_names_of_files(program: Path, tmp_path: Path) -> None:
    start(program, "return", "10", "0", cwd=tmp_path, file="%p.raw")
    names = sorted(os.listdir(tmp_path))
    assert [re.sub(r"^\d+", "N", name) for name in names] == ["N.raw", "N.raw.trace", "progress"]
