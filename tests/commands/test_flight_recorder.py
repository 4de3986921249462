"""The flight recorder: what a ring keeps before a crash is the end of the whole trace."""

from __future__ import annotations

import signal
from itertools import islice
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must, trodden
from trodden.api.traces import load_trace
from trodden.profile.trace.executed import Executed, Selection, executed
from trodden.profile.trace.reading import ThreadEvent

BRANCHES, KEPT = 3_000_000, 100_000
_SMALL = "256K"


def _last(profile: Path) -> list[tuple[object, ...]]:
    """The last lines that the only thread has executed, the last one first."""
    trace = load_trace(profile)
    (thread,) = trace.threads
    events = (ThreadEvent(thread, event) for event in thread.backwards())
    rows = executed(events, Selection(), backwards=True)
    return [_told(row) for row in islice(rows, KEPT)]


def _told(row: Executed) -> tuple[object, ...]:
    return row.depth, row.function, row.block, row.file, row.line, row.again


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("encoding", ["paths", "witnesses", "bits"])
def test_the_last_lines_before_a_crash_are_those_of_a_whole_trace(
    encoding: str, level: str, tmp_path: Path
) -> None:
    options = ("--trodden-profile=trace", f"--trodden-trace={encoding}", level, "-g")
    must("cc", *options, PROGRAMS / "flight.c", "-o", "flight", cwd=tmp_path)
    for name, ring in (("whole", ()), ("ring", ("--trace-ring", _SMALL))):
        words = ("-q", *ring, "-o", f"{name}.trod", "./flight", str(BRANCHES))
        assert trodden("run", *words, cwd=tmp_path).returncode == -signal.SIGSEGV
    whole, ring_end = _last(tmp_path / "whole.trod"), _last(tmp_path / "ring.trod")
    assert len(whole) == KEPT
    assert ring_end == whole
    line = 1 + (PROGRAMS / "flight.c").read_text().splitlines().index("            *nowhere = sum;")
    assert whole[0][1] == "main"
    assert whole[0][4] == line
    done = trodden("report", "ring.trod", cwd=tmp_path)
    assert f"flight.c:{line}  main" in done.stdout


BEHIND = """\
static int values[3];
__attribute__((noinline)) static void store(int *target, int value) {
    *target = value;
    values[value & 1]++;
}
int main(int argc, char **argv) {
    for (int i = 0; i < 3; i++)
        store(i < 2 ? &values[i] : (int *)8, i);
    return 0;
}
"""


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("encoding", ["paths", "witnesses", "bits"])
def test_lines_behind_the_crash_in_its_block_are_not_shown(encoding: str, level: str, tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text(BEHIND)
    options = ("--trodden-profile=trace", f"--trodden-trace={encoding}", level, "-g")
    must("cc", *options, "a.c", "-o", "a", cwd=tmp_path)
    assert trodden("run", "-q", "-o", "a.trod", "./a", cwd=tmp_path).returncode == -signal.SIGSEGV
    backwards = _last(tmp_path / "a.trod")
    trace = load_trace(tmp_path / "a.trod")
    forwards = [_told(row) for row in executed(trace, Selection())]
    assert forwards == backwards[::-1]
    lines = [line for _, function, _, _, line, _ in forwards if function == "store"]
    assert lines[-1] == 3
    assert lines.count(3) == 3
    shown = must("report", "a.trod", cwd=tmp_path)
    told = [line.split()[0] for line in shown.splitlines() if line.startswith("    a.c:")]
    assert told[-1] == "a.c:3"
