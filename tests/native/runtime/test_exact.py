"""Programs that keep books of every line they walk, against what trodden says of the same run.

The books are volatile, so that an optimiser can neither drop nor gather their entries; loops are not
unrolled, since a block that holds a line twice runs once.
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
    """A program: its files by the number of their book, flags, arguments, and the status it ends with."""

    files: tuple[tuple[int, str], ...]
    status: int
    flags: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()


CASES = {
    "flow": Case(((0, "exact_flow.c"),), 42),
    "tail": Case(((0, "exact_tail.c"),), 7),
    "exits": Case(((0, "exact_exits.c"),), 33, arguments=("33",)),
    "throws": Case(((0, "exact_throws.cpp"),), 25),
    "jumps": Case(((0, "exact_jumps.c"),), 37, flags=("-pthread",)),
    "threads": Case(((0, "exact_threads.c"),), 30, flags=("-pthread",)),
    "shared": Case(((0, "shared_one.cpp"), (1, "shared_two.cpp"), (2, "shared.h")), 58),
    "sections": Case(((0, "exact_flow.c"),), 42, flags=("-ffunction-sections", "-Wl,--gc-sections")),
}
LEVELS = ("-O0", "-O2")
STAGES = ("late", "early")
WAYS_TO_PROFILE_PATHS = ((), ("--context",), ("--max-paths", "none"), ("--cut-by", "loops"))


@dataclass(frozen=True)
class Outcome:
    books: dict[tuple[int, int], int]
    profile: Profile


Walk = Callable[..., Outcome]


@pytest.fixture(scope="session")
def walk(tmp_path_factory: pytest.TempPathFactory) -> Walk:
    """Build and run a case; every combination only once."""
    directory = tmp_path_factory.mktemp("exact")
    known: dict[tuple[str, ...], Outcome] = {}

    def walked(name: str, level: str, stage: str, counters: str, *extra: str) -> Outcome:
        key = (name, level, stage, counters, *extra)
        if key not in known:
            known[key] = _walk(directory, CASES[name], level, stage, counters, extra)
        return known[key]

    return walked


def _walk(
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
    found = {(int(book), int(line)): int(count) for book, line, count in _ENTRY.findall(done.stdout)}
    for book, name in case.files:
        for number, text in enumerate((PROGRAMS / name).read_text().splitlines(), 1):
            if _HIT.match(text):
                found.setdefault((book, number), 0)
    return Outcome(found, load(output))


def _lines_in_books(case: Case, outcome: Outcome) -> dict[tuple[int, int], int]:
    """What trodden counted at the lines that are in the books; a line that no code is left of has not run."""
    lines = line_counts(outcome.profile)
    counted = {}
    for book, line in outcome.books:
        here = lines.get(str(PROGRAMS / dict(case.files)[book]), {})
        counted[book, line] = int(here[line].count) if line in here else 0
    return counted


def _blocks_in_books(case: Case, outcome: Outcome) -> dict[tuple[int, int], int]:
    """How often the blocks ran that hold a line of the books: an optimiser puts a line into several."""
    book_of = {str(PROGRAMS / name): book for book, name in case.files}
    counted = dict.fromkeys(outcome.books, 0)
    for function in outcome.profile.functions.values():
        for block in function.blocks:
            for file, line in {(function.files[ref.file].path, ref.line) for ref in block.lines}:
                if (book_of.get(file), line) in counted:
                    counted[book_of[file], line] += int(block.count)
    return counted


@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", CASES)
def test_lines_agree_with_the_books(walk: Walk, name: str, level: str, stage: str) -> None:
    outcome = walk(name, level, stage, "edges")
    assert sum(outcome.books.values()) > 0
    assert _blocks_in_books(CASES[name], outcome) == outcome.books
    if stage == "early" or level == "-O0":
        assert _lines_in_books(CASES[name], outcome) == outcome.books
    assert {f.name: f.violations for f in outcome.profile.functions.values() if f.violations} == {}
    assert outcome.profile.notes == ()


@pytest.mark.parametrize("counters", [scheme for scheme in COUNTER_SCHEMES if scheme != "edges"])
@pytest.mark.parametrize("stage", STAGES)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["flow", "exits", "throws", "jumps"])
def test_every_scheme_counts_the_same_blocks(
    walk: Walk, name: str, level: str, stage: str, counters: str
) -> None:
    usual, other = walk(name, level, stage, "edges"), walk(name, level, stage, counters)
    assert other.books == usual.books
    assert _blocks(other.profile) == _blocks(usual.profile)
    assert not any(function.violations for function in other.profile.functions.values())


@pytest.mark.parametrize("more", WAYS_TO_PROFILE_PATHS, ids=" ".join)
@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", CASES)
def test_paths_agree_with_the_books(walk: Walk, name: str, level: str, more: tuple[str, ...]) -> None:
    """Blocks and lines follow from paths as they do from edges, and every edge has a second opinion."""
    outcome = walk(name, level, "late", "checked", "--profile", "paths", *more)
    assert outcome.profile.kind == "paths"
    assert _blocks_in_books(CASES[name], outcome) == outcome.books
    if level == "-O0":
        assert _lines_in_books(CASES[name], outcome) == outcome.books
    assert {f.name: f.violations for f in outcome.profile.functions.values() if f.violations} == {}
    assert outcome.profile.notes == ()


@pytest.mark.parametrize("level", LEVELS)
def test_weights_of_an_earlier_run_change_no_count(walk: Walk, level: str, tmp_path: Path) -> None:
    usual = walk("flow", level, "late", "edges")
    save(usual.profile, tmp_path / "before.trod")
    again = walk("flow", level, "late", "edges", "--weights", str(tmp_path / "before.trod"))
    assert _blocks(again.profile) == _blocks(usual.profile)
    assert not any(function.violations for function in again.profile.functions.values())


def _blocks(profile: Profile) -> dict[str, list[int]]:
    return {name: list(function.counted_blocks) for name, function in profile.functions.items()}
