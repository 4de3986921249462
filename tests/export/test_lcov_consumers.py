"""Tracefiles read by the tools that read them: what they count is what was exported.

lcov itself needs Perl packages that PyPI does not have; ``recipes/test_lcov.py`` runs it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.export.tracefiles import PROGRAMS, Totals, totals_of, tracefile


@pytest.fixture(scope="module", params=[(name, level) for name in PROGRAMS for level in ("-O0", "-O2")])
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    name, level = request.param
    return tracefile(name, level, tmp_path_factory.mktemp("exported"))


def test_other_tools_count_what_was_exported(exported: Path) -> None:
    expected = totals_of(exported.read_text())
    assert expected.lines[1] > 10
    folder = exported.parent
    _module("lcov_cobertura", str(exported), "--base-dir", "/", "--output", "coverage.xml", folder=folder)
    xml = (folder / "coverage.xml").read_text()
    read = [
        int(re.search(rf'\b{name}="(\d+)"', xml)[1])  # type: ignore[index]
        for name in ("lines-covered", "lines-valid", "branches-covered", "branches-valid")
    ]
    assert (tuple(read[:2]), tuple(read[2:])) == (expected.lines, expected.branches)
    summary = ("--json-summary", "summary.json", "--root", str(folder))
    _module("gcovr", "--cobertura-add-tracefile", "coverage.xml", *summary, folder=folder)
    found = json.loads((folder / "summary.json").read_text())
    assert (found["line_covered"], found["line_total"]) == expected.lines


def test_records_are_consistent(exported: Path) -> None:
    """What lcov 2 checks: see ``_checkConsistency`` of its module ``lcovutil``."""
    for section in exported.read_text().split("end_of_record\n")[:-1]:
        lines = {int(line): int(count) for line, count in re.findall(r"^DA:(\d+),(\d+)$", section, re.M)}
        starts = {name: int(line) for line, name in re.findall(r"^FN:(\d+),(.+)$", section, re.M)}
        entered: Counter[int] = Counter()
        for count, name in re.findall(r"^FNDA:(\d+),(.+)$", section, re.M):
            entered[starts[name]] += int(count)
        firsts = sorted(entered)
        for first, following in zip(firsts, [*firsts[1:], 1 << 32], strict=True):
            assert first in lines
            executed = any(count for line, count in lines.items() if first <= line < following)
            assert executed == (entered[first] > 0), (first, section)
        taken: dict[int, list[str]] = {}
        for line, count in re.findall(r"^BRDA:(\d+),\d+,\d+,(.+)$", section, re.M):
            taken.setdefault(int(line), []).append(count)
        for number, counts in taken.items():
            assert (lines[number] > 0) == any(count not in ("-", "0") for count in counts)


def test_branches_are_numbered_on_their_lines(exported: Path) -> None:
    numbers: dict[tuple[str, str], list[int]] = {}
    for section in exported.read_text().split("end_of_record\n"):
        for line, number in re.findall(r"^BRDA:(\d+),(\d+),", section, re.M):
            numbers.setdefault((section[:200], line), []).append(int(number))
    assert numbers
    assert all(sorted(set(each)) == list(range(max(each) + 1)) for each in numbers.values())


def test_totals_are_those_of_the_coverage_verb(exported: Path) -> None:
    profile = exported.with_suffix(".trod")
    command = [sys.executable, "-m", "trodden", "coverage", str(profile), "--json"]
    document = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    found = Totals(*((document[key]["covered"], document[key]["total"]) for key in ("lines", "branches")))
    assert found == totals_of(exported.read_text())


def _module(name: str, *arguments: str, folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", name, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
