"""A process that is killed at any moment leaves a trace of what it has executed up to its last record.

What that is, the program has written down step by step in memory of its own.
"""

from __future__ import annotations

import random
import struct
import subprocess
import time
from collections import defaultdict
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, environment, must
from trodden.api.traces import use
from trodden.profile.from_runs import collect
from trodden.profile.trace.executed import Selection, executed
from trodden.profile.trace.reading import ThreadEvent
from trodden.recover.trace.events import Kind

SOURCE = PROGRAMS / "trace_killed.c"
THREADS, MOST_STEPS, PAGE = 2, 1 << 22, 4096
OWN_BYTES = PAGE + 2 * MOST_STEPS
MOST_UNKNOWN = 200
"""Steps since the last record: of a region, or of as many branches as bits can wait."""

BUILDS = {
    "paths": ("-O2", "--trodden-trace=paths"),
    "witnesses": ("-O2", "--trodden-trace=witnesses"),
    "bits": ("-O2", "--trodden-trace=bits"),
    "unoptimised": ("-O0", "--trodden-trace=paths"),
}
KILLS, LONGEST = 6, 60000


def _steps(own: Path, thread: int) -> list[int]:
    """The lines of the steps that a thread has written down."""
    with own.open("rb") as stream:
        stream.seek(thread * OWN_BYTES)
        (number,) = struct.unpack("<Q", stream.read(8))
        stream.seek(thread * OWN_BYTES + PAGE)
        lines = list(struct.unpack(f"<{number}H", stream.read(2 * number)))
    return lines[:-1] if lines and not lines[-1] else lines


def _begun(own: Path, thread: int) -> int:
    with own.open("rb") as stream:
        stream.seek(thread * OWN_BYTES)
        return int(struct.unpack("<Q", stream.read(8))[0])


def _killed(program: Path, folder: Path, steps: int) -> None:
    """Run until a thread has begun so many steps."""
    folder.mkdir()
    own = folder / "own"
    with own.open("wb") as stream:
        stream.truncate(THREADS * OWN_BYTES)
    process = subprocess.Popen(
        [program, own], cwd=folder, env=environment({"TRODDEN_FILE": str(folder / "out.raw")})
    )
    while max(_begun(own, thread) for thread in range(THREADS)) < steps:
        assert process.poll() is None
        time.sleep(0)
    process.kill()
    process.wait()


def _traced(folder: Path) -> dict[int, list[int]]:
    """The same lines by thread, as the trace says."""
    use()
    trace = collect([folder / "out.raw"]).trace
    wanted = {number for number, line in enumerate(_text(), 1) if line.strip() == "STEP();"}
    found: dict[int, list[int]] = defaultdict(list)
    for each in trace.threads:
        events = list(each.events())
        assert not [event for event in events if event.kind in (Kind.DAMAGED, Kind.LOST, Kind.STOPPED)]
        for row in executed((ThreadEvent(each, event) for event in events), Selection()):
            if row.line in wanted and row.file.endswith(SOURCE.name):
                found[each.number] += [row.line] * (1 + row.again)
    return found


def _text() -> list[str]:
    return SOURCE.read_text().splitlines()


@pytest.mark.parametrize("name", BUILDS)
def test_a_killed_process_has_a_trace_up_to_its_last_record(name: str, tmp_path: Path) -> None:
    program = tmp_path / "program"
    options = (*BUILDS[name], "--trodden-profile=trace", "-fno-unroll-loops", "-pthread")
    must("cc", *options, SOURCE, "-o", program, cwd=tmp_path)
    chance = random.Random(name)
    for kill in range(KILLS):
        folder = tmp_path / str(kill)
        _killed(program, folder, int(LONGEST ** chance.random()))
        traced = _traced(folder)
        for thread in range(THREADS):
            lines, known = _steps(folder / "own", thread), traced.get(thread, [])
            assert known == lines[: len(known)]
            assert len(lines) - len(known) < MOST_UNKNOWN
