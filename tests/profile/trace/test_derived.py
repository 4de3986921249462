"""Counts that follow from a trace: those of an edge profile, where frames ended inside of a block, too."""

from __future__ import annotations

import signal
from pathlib import Path

from tests.native.building import execute, must
from trodden.api.traces import with_counts
from trodden.profile.from_runs import collect
from trodden.source.lines import line_counts

PROGRAM = """\
static int *volatile none;
static volatile int x;
static int fault(void) {
    x += 1;
    x += *none;
    x += 2;
    return x;
}
int main(void) {
    x = 3;
    x += fault();
    x = 4;
    return 0;
}
"""
COUNTS = {4: 1, 5: 1, 6: 0, 7: 0, 10: 1, 11: 1, 12: 0, 13: 0}


def test_lines_behind_a_fault_were_not_executed(tmp_path: Path) -> None:
    (tmp_path / "p.c").write_text(PROGRAM)
    must("cc", "-O0", "-g", "--trodden-profile=trace", "p.c", "-o", "p", cwd=tmp_path)
    assert execute(["./p"], tmp_path, {"TRODDEN_FILE": "p.raw"}).returncode == -signal.SIGSEGV
    (lines,) = line_counts(with_counts(collect([tmp_path / "p.raw"]))).values()
    assert {number: lines[number].count for number in COUNTS} == COUNTS
