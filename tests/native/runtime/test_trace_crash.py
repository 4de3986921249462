"""A trace goes to the instruction at which the program crashed, whichever way led there."""

from __future__ import annotations

import re
import signal
import struct
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must, trodden
from trodden.api.traces import load_trace
from trodden.profile.trace.executed import Selection, executed
from trodden.profile.trace.reading import ThreadEvent

_SOURCE = PROGRAMS / "crash_ways.c"
_MARKED = {
    number
    for number, line in enumerate(_SOURCE.read_text().splitlines(), 1)
    if re.match(r" +MARK\(\);", line)
}
_ROUNDS = range(1, 5)
_ENDS = {"fault": -signal.SIGSEGV, "returned": -signal.SIGSEGV, "handler": 5, "nested": 5}


def _marks(path: Path) -> list[int]:
    number, *lines = struct.unpack("65536i", path.read_bytes())
    return lines[:number]


def _traced(path: Path) -> list[int]:
    (thread,) = load_trace(path).threads
    rows = executed((ThreadEvent(thread, event) for event in thread.events()), Selection())
    return [row.line for row in rows if row.line in _MARKED]


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2"])
def test_the_last_region_is_in_the_trace(level: str, tmp_path: Path) -> None:
    must("cc", "--trodden-profile=trace", level, _SOURCE, "-o", "crash", cwd=tmp_path)
    for rounds in _ROUNDS:
        for how, status in _ENDS.items():
            marks = tmp_path / "marks"
            marks.write_bytes(bytes(4 << 16))
            words = ("run", "-q", "-o", "crash.trod", "./crash", str(marks), str(rounds), how)
            assert trodden(*words, cwd=tmp_path).returncode == status
            assert _traced(tmp_path / "crash.trod") == _marks(marks), (rounds, how)


@pytest.mark.parametrize("encoding", ["witnesses", "bits"])
def test_counters_beside_a_trace_tell_a_way_that_it_does_not(encoding: str, tmp_path: Path) -> None:
    """In these encodings no register does, and what has one way is all that follows from the trace."""
    options = ("--trodden-profile=trace", f"--trodden-trace={encoding}", "--trodden-counters=checked", "-O0")
    must("cc", *options, _SOURCE, "-o", "crash", cwd=tmp_path)
    for rounds in _ROUNDS:
        marks = tmp_path / "marks"
        marks.write_bytes(bytes(4 << 16))
        words = ("run", "-q", "-o", "crash.trod", "./crash", str(marks), str(rounds), "fault")
        assert trodden(*words, cwd=tmp_path).returncode == -signal.SIGSEGV
        traced, marked = _traced(tmp_path / "crash.trod"), _marks(marks)
        assert traced == marked[: len(traced)]
        assert len(traced) >= len(marked) - 6
        assert "contradiction" not in trodden("report", "crash.trod", cwd=tmp_path).stdout
        assert must("profile-of", "crash.trod", "--profile", "edges", "-o", "edges.trod", cwd=tmp_path) == ""
