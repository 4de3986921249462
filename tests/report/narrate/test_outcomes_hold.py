"""What is claimed of conditions is never more than what happened, however the program was optimised.

Reference counts are kept by the programs themselves.  A claim that is counted more often than the part of the
condition had that value is wrong at least once.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import trodden
from tests.report.narrate.condition_programs import programs
from tests.report.narrate.marked_programs import plain, with_counters
from trodden.profile.model import Profile
from trodden.report.narrate.paths import Describer
from trodden.report.narrate.steps import Step

PROGRAMS = Path(__file__).parent / "programs"
PROGRAM = PROGRAMS / "conditions.c"
ENVIRONMENT = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
Parts = Counter[tuple[int, str, str]]
"""How often parts had a value: by line, text and value."""


def _run(folder: Path, *arguments: str) -> str:
    command = [sys.executable, "-m", "trodden", "run", "--quiet", *arguments]
    done = subprocess.run(
        command, capture_output=True, text=True, env=ENVIRONMENT, cwd=folder, check=False, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def truth(tmp_path_factory: pytest.TempPathFactory) -> dict[int, tuple[int, int]]:
    """For each line how often its condition was true and false, as the program itself counted."""
    folder = tmp_path_factory.mktemp("truth")
    rows = _run(folder, str(PROGRAM), "-O0", "-DTRUTH").splitlines()
    return {int(line): (int(yes), int(no)) for line, yes, no in map(str.split, rows)}


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_values_of_conditions(tmp_path: Path, truth: dict[int, tuple[int, int]], level: str) -> None:
    _run(tmp_path, "--profile", "paths", "-o", "x.trod", str(PROGRAM), "-g", level)
    profile = trodden.load(tmp_path / "x.trod")
    describer = Describer(profile)
    claimed: Counter[tuple[int, str]] = Counter()
    for function in profile.functions.values():
        for path in function.paths or ():
            for edge in path.edges:
                step = describer.decision(function, edge)
                if step is not None and step.outcome is not None and step.line in truth:
                    assert len(step.outcome.parts) <= 1
                    claimed.update({(step.line, part.value): path.count for part in step.outcome.parts})
    excess = {
        (line, value): (count, truth[line])
        for (line, value), count in claimed.items()
        if count > truth[line][value == "false"]
    }
    assert excess == {}
    certain = {line for line, _ in claimed}
    assert len(certain) >= (20 if level == "-O0" else 8)


def _reference(folder: Path, name: str, source: str) -> Parts:
    """The counts that a program with counters prints."""
    (folder / name).write_text(source)
    found: Parts = Counter()
    for row in _run(folder, "-o", "reference.trod", name, "-O0", "-w").splitlines():
        line, text, true, false = row.split("\t")
        found[int(line), text, "true"] += int(true)
        found[int(line), text, "false"] += int(false)
    return found


def _claims(step: Step | None, source: Path) -> Iterator[tuple[int, str, str]]:
    """The parts that a step claims if it lies in a source; headers have the same numbers of lines."""
    if step is None or step.outcome is None or step.line is None or step.file != str(source):
        return
    for part in step.outcome.parts:
        yield step.line, part.text, part.value


def _on_paths(profile: Profile, source: Path) -> Parts:
    """What the descriptions of all paths claim."""
    describer = Describer(profile)
    found: Parts = Counter()
    for function in profile.functions.values():
        for path in function.paths or ():
            for step in describer.describe(function, path).steps:
                for key in _claims(step, source):
                    found[key] += path.count
    return found


def _on_edges(profile: Profile, source: Path) -> Parts:
    """What is claimed of single edges; parts that several edges of an evaluation repeat count once."""
    describer = Describer(profile)
    found: Parts = Counter()
    for function in profile.functions.values():
        for edge in function.facts.graph.flow_edges():
            count = function.edge_counts[edge]
            for key in _claims(describer.decision(function, edge), source):
                if isinstance(count, int):
                    found[key] = max(found[key], count)
    return found


def _check(claimed: Parts, reference: Parts) -> float:
    """Check claims about lines whose parts were counted; the share of what happened that is claimed."""
    lines = {line for line, _, _ in reference}
    excess = {
        key: (count, reference[key])
        for key, count in claimed.items()
        if key[0] in lines and count > reference[key]
    }
    assert excess == {}
    tests = [
        key for key in reference if not any(sign in key[1] for sign in ("&&", "||", "?", " and ", " or "))
    ]
    return sum(claimed[key] for key in tests) / sum(reference[key] for key in tests)


Marked = Callable[[str], tuple[str, Parts]]


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Marked:
    """The source of a program without its marks, and its reference counts."""
    known: dict[str, tuple[str, Parts]] = {}

    def read(name: str) -> tuple[str, Parts]:
        if name not in known:
            source = (PROGRAMS / name).read_text("utf-8")
            folder = tmp_path_factory.mktemp("reference")
            known[name] = plain(source), _reference(folder, name, with_counters(source))
        return known[name]

    return read


LEAST = {
    ("parts.c", "-O0"): 0.97,
    ("parts.c", "-O1"): 0.3,
    ("parts.c", "-O2"): 0.25,
    ("parts.cpp", "-O0"): 0.97,
    ("parts.cpp", "-O1"): 0.3,
    ("parts.cpp", "-O2"): 0.2,
}
"""How much of what happened is claimed at the least."""


@pytest.mark.parametrize(("name", "level"), LEAST)
def test_values_of_parts(tmp_path: Path, marked: Marked, name: str, level: str) -> None:
    source, reference = marked(name)
    (tmp_path / name).write_text(source)
    _run(tmp_path, "--profile", "paths", "-o", "x.trod", name, "-g", "-w", level)
    profile = trodden.load(tmp_path / "x.trod")
    assert _check(_on_paths(profile, tmp_path / name), reference) >= LEAST[name, level]
    _check(_on_edges(profile, tmp_path / name), reference)


@pytest.mark.parametrize("seed", range(4))
def test_values_of_parts_of_random_conditions(tmp_path: Path, seed: int) -> None:
    [program] = programs(range(seed, seed + 1))
    reference = _reference(tmp_path, "reference.c", program.reference)
    (tmp_path / "plain.c").write_text(program.plain)
    for level in ("-O0", "-O1", "-O2"):
        _run(tmp_path, "--profile", "paths", "-o", "x.trod", "plain.c", "-g", "-w", level)
        profile = trodden.load(tmp_path / "x.trod")
        share = _check(_on_paths(profile, tmp_path / "plain.c"), reference)
        _check(_on_edges(profile, tmp_path / "plain.c"), reference)
        assert share >= (0.6 if level == "-O0" else 0.05)
