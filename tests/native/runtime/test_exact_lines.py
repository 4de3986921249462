"""Line counts of random programs, after the counts that they keep themselves.

Functions are left by longjmp, exceptions, exit, abort and faults, in the middle of blocks, and by forked
children in which nobody entered them.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, trodden
from tests.native.line_programs import line_program
from tests.native.mapped_counts import empty_counts, hits_of_all
from trodden.profile.store.trod import load
from trodden.source.lines import LineCount, line_counts

BUILDS = {
    "edges": ("--profile", "edges"),
    "paths": ("--profile", "paths"),
    "early": ("--stage", "early"),
}


@pytest.mark.parametrize(
    ("seed", "language", "build", "level"),
    [
        (6, "c", "edges", "-O0"),
        (3, "cpp", "edges", "-O0"),
        (13, "c", "paths", "-O0"),
        (4, "cpp", "paths", "-O0"),
        (17, "c", "early", "-O0"),
        (7, "cpp", "early", "-O2"),
    ],
)
def test_line_counts_are_those_of_the_program(
    tmp_path: Path, seed: int, language: str, build: str, level: str
) -> None:
    source = tmp_path / f"lines.{language}"
    source.write_text(line_program(seed, language == "cpp", faults=build != "early"))
    counts = empty_counts(tmp_path / "counts")
    options = ("--quiet", "-o", "lines.trod", *BUILDS[build])
    trodden(
        *("run", *options, source, level, "-w", f"-I{PROGRAMS}", "-pthread"),
        cwd=tmp_path,
        env={"MAPPED_COUNTS": str(counts)},
    )
    expected = hits_of_all(counts)
    marked = [n for n, text in enumerate(source.read_text().splitlines(), 1) if "HIT()" in text]
    profile = load(tmp_path / "lines.trod")
    assert any(function.stops for function in profile.functions.values())
    found = line_counts(profile)[str(source)]
    assert {line: found.get(line) for line in marked} == {
        line: LineCount(expected.get(line, 0)) for line in marked
    }
