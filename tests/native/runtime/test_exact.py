"""Block and line counts, against reference counts that programs keep themselves in the same run.

The reference counts are volatile, so that an optimiser can neither drop nor combine them; loops are not
unrolled, since a block that contains a line twice runs once.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, trodden
from trodden.native.options.declarations import COUNTER_SCHEMES
from trodden.profile.model import Profile
from trodden.profile.store.trod import load, save
from trodden.source.lines import line_counts

_ENTRY = re.compile(r"^(\d+):(\d+)=(\d+)$", re.MULTILINE)
_HIT = re.compile(r"^\s*(?:HEADER_)?HIT\(\);$")
_PLAIN_LOOPS = ("-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize")


@dataclass(frozen=True)
class Case:
    """A program: its files by number, flags, arguments, and its exit status."""

    files: tuple[tuple[int, str], ...]
    status: int
    flags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


CASES = {
    "flow": Case(((0, "exact_flow.c"),), 42),
    "tail": Case(((0, "exact_tail.c"),), 7),
    "exits": Case(((0, "exact_exits.c"),), 33, arguments=("33",)),
    "ends": Case(((0, "exact_ends.cpp"),), 9),
    "throws": Case(((0, "exact_throws.cpp"),), 25),
    "inlined": Case(((0, "exact_inlined.cpp"),), 11),
    "merged": Case(((0, "exact_merged.c"),), 12),
    "jumps": Case(((0, "exact_jumps.c"),), 37, flags=("-pthread",)),
    "threads": Case(((0, "exact_threads.c"),), 30, flags=("-pthread",)),
    "shared": Case(((0, "shared_one.cpp"), (1, "shared_two.cpp"), (2, "shared.h")), 58),
    "sections": Case(((0, "exact_flow.c"),), 42, flags=("-ffunction-sections", "-Wl,--gc-sections")),
}
LEVELS = ("-O0", "-O2")
STAGES = ("late", "early")
PATH_OPTIONS = ((), ("--context",), ("--max-paths", "none"), ("--cut-by", "loops"))


@dataclass(frozen=True)
class Outcome:
    reference: dict[tuple[int, int], int]
    profile: Profile


RunCase = Callable[..., Outcome]


@pytest.fixture(scope="session")
def run_case(tmp_path_factory: pytest.TempPathFactory) -> RunCase:
    """Build and run a case; every combination only once."""
    directory = tmp_path_factory.mktemp("exact")
    known: dict[tuple[str, ...], Outcome] = {}

    def run(name: str, level: str, stage: str, counters: str, *extra: str) -> Outcome:
        key = (name, level, stage, counters, *extra)
        if key not in known:
            known[key] = _run_case(directory, CASES[name], level, stage, counters, extra)
        return known[key]

    return run


def _run_case(
    directory: Path, case: Case, level: str, stage: str, counters: str, extra: tuple[str, ...]
) -> Outcome:
    output = directory / "exact.trod"
    output.unlink(missing_ok=True)
    sources = [PROGRAMS / name for _, name in case.files if not name.endswith(".h")]
    own = ["-o", str(output), "--stage", stage, "--counters", counters, *extra]
    done = trodden(
        "run", *own, *sources, level, *_PLAIN_LOOPS, *case.flags, "--", *case.arguments, cwd=directory
    )
    assert (done.returncode, done.stderr) == (case.status, "")
    found = {(int(file), int(line)): int(count) for file, line, count in _ENTRY.findall(done.stdout)}
    for file_number, name in case.files:
        for number, text in enumerate((PROGRAMS / name).read_text().splitlines(), 1):
            if _HIT.match(text):
                found.setdefault((file_number, number), 0)
    return Outcome(found, load(output))


def _lines_at(case: Case, outcome: Outcome) -> dict[tuple[int, int], int]:
    """What trodden counted for the lines with reference counts; a line without any code has not run."""
    lines = line_counts(outcome.profile)
    counted = {}
    for file_number, line in outcome.reference:
        here = lines.get(str(PROGRAMS / dict(case.files)[file_number]), {})
        counted[file_number, line] = int(here[line].count) if line in here else 0
    return counted


def _blocks_at(case: Case, outcome: Outcome) -> dict[tuple[int, int], int]:
    """How often the blocks ran that contain a counted line: an optimiser puts a line into several."""
    number_of = {str(PROGRAMS / name): file_number for file_number, name in case.files}
    counted = dict.fromkeys(outcome.reference, 0)
    for function in outcome.profile.functions.values():
        for block in function.blocks:
            for file, line in {(function.files[ref.file].path, ref.line) for ref in block.lines}:
                if (number_of.get(file), line) in counted:
                    counted[number_of[file], line] += int(block.count)
    return counted


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", CASES)
def test_lines_agree_with_the_reference(run_case: RunCase, name: str, level: str, stage: str) -> None:
    outcome = run_case(name, level, stage, "edges")
    assert sum(outcome.reference.values()) > 0
    assert _blocks_at(CASES[name], outcome) == outcome.reference
    if stage == "early" or level == "-O0":
        assert _lines_at(CASES[name], outcome) == outcome.reference
    assert {f.name: f.violations for f in outcome.profile.functions.values() if f.violations} == {}
    assert outcome.profile.messages == ()


@pytest.mark.parametrize("counters", [scheme for scheme in COUNTER_SCHEMES if scheme != "edges"])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["flow", "exits", "throws", "jumps", "merged"])
def test_every_scheme_counts_the_same_blocks(
    run_case: RunCase, name: str, level: str, stage: str, counters: str
) -> None:
    usual, other = run_case(name, level, stage, "edges"), run_case(name, level, stage, counters)
    assert other.reference == usual.reference
    assert _blocks(other.profile) == _blocks(usual.profile)
    assert not any(function.violations for function in other.profile.functions.values())


@pytest.mark.parametrize("more", PATH_OPTIONS, ids=" ".join)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", CASES)
def test_paths_agree_with_the_reference(
    run_case: RunCase, name: str, level: str, more: tuple[str, ...]
) -> None:
    """Blocks and lines follow from paths as they do from edges, and every edge is counted a second time."""
    outcome = run_case(name, level, "late", "checked", "--profile", "paths", *more)
    assert outcome.profile.kind == "paths"
    assert _blocks_at(CASES[name], outcome) == outcome.reference
    if level == "-O0":
        assert _lines_at(CASES[name], outcome) == outcome.reference
    assert {f.name: f.violations for f in outcome.profile.functions.values() if f.violations} == {}
    assert outcome.profile.messages == ()


@pytest.mark.parametrize("level", LEVELS)
def test_weights_of_an_earlier_run_change_no_count(run_case: RunCase, level: str, tmp_path: Path) -> None:
    usual = run_case("flow", level, "late", "edges")
    save(usual.profile, tmp_path / "before.trod")
    weighted = run_case("flow", level, "late", "edges", "--weights", str(tmp_path / "before.trod"))
    assert _blocks(weighted.profile) == _blocks(usual.profile)
    assert not any(function.violations for function in weighted.profile.functions.values())


def _blocks(profile: Profile) -> dict[str, list[int]]:
    return {name: list(function.counted_blocks) for name, function in profile.functions.items()}
