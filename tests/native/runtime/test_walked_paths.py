"""Paths, against the log that programs keep themselves in the same run.

Every mark that a program makes is on a line of its own, so that the blocks of a path spell its marks.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, trodden
from trodden.plan.routes import PathCount, PathEnd
from trodden.profile.model import FunctionProfile, Profile
from trodden.profile.store.trod import load

_MARK = re.compile(r"^\s*mark\('(\w)'\);$")
_ENTRY = re.compile(r"^(\S+) (\w*) (exit|back_edge|cut|unwound) (\d+)$", re.MULTILINE)
_FUNCTIONS = {
    "path_log_exit.c": {"main", "outer", "middle", "innermost"},
    "path_log_longjmp.c": {"main", "target", "between", "inner"},
    "path_log_throw.cpp": {"main", "third(int)", "second(int)", "lowest(int)"},
}
_STATUS = {"path_log_exit.c": 19, "path_log_longjmp.c": 58, "path_log_throw.cpp": 90}
_AS_WRITTEN = ("-O0", "-O0 -fomit-frame-pointer")
_OPTIMISED = ("-O1", "-O2", "-Os", "-O2 -fno-omit-frame-pointer -fno-inline")
_OPTIONS: tuple[tuple[str, ...], ...] = (
    (),
    ("--max-paths", "none"),
    ("--max-paths", "1", "--counters", "checked"),
    ("--counters", "checked"),
    ("--overlap", "2"),
    ("--overlap", "max", "--pairs", "--counters", "checked"),
)

PathCounts = Counter[tuple[str, str, str]]


def _marks_of(function: FunctionProfile, path: PathCount, marks: dict[int, str]) -> str:
    """The marks of a path, in order; adjacent blocks on one line are one mark."""
    lines: list[int] = []
    for vertex in path.blocks:
        for ref in function.facts.blocks[vertex].lines:
            if ref.instance == 0 and ref.line > 0 and (not lines or lines[-1] != ref.line):
                lines.append(ref.line)
    return "".join(marks[line] for line in lines if line in marks)


def _recorded(profile: Profile, source: Path) -> PathCounts:
    marks = {
        number: match.group(1)
        for number, line in enumerate(source.read_text().splitlines(), 1)
        if (match := _MARK.match(line))
    }
    recorded: PathCounts = Counter()
    for name in _FUNCTIONS[source.name]:
        function = profile.functions[name]
        assert function.paths is not None
        assert not function.violations, (name, function.violations)
        for path in function.paths:
            recorded[name, _marks_of(function, path, marks), path.ends.value] += path.count
    return recorded


def _run(name: str, flags: str, more: tuple[str, ...], directory: Path) -> tuple[PathCounts, Profile]:
    """Run a program; return its own log and the profile."""
    done = trodden("run", "--profile", "paths", *more, PROGRAMS / name, *flags.split(), cwd=directory)
    assert (done.returncode, done.stderr) == (_STATUS[name], "")
    logged: PathCounts = Counter()
    for function, marks, how, count in _ENTRY.findall(done.stdout):
        logged[function, marks, how] += int(count)
    assert len(logged) > 20
    return logged, load(directory / "trodden.trod")


@pytest.mark.parametrize("flags", _AS_WRITTEN)
@pytest.mark.parametrize("name", sorted(_FUNCTIONS))
@pytest.mark.parametrize(
    "more", [(), ("--max-paths", "none"), ("--counters", "checked"), ("--overlap", "2")], ids=" ".join
)
def test_paths_are_those_in_the_log(name: str, flags: str, more: tuple[str, ...], tmp_path: Path) -> None:
    """Complete paths, and the prefixes of paths that exit, longjmp or an exception cut short."""
    logged, profile = _run(name, flags, more, tmp_path)
    recorded = _recorded(profile, PROGRAMS / name)
    assert {
        key: recorded[key] - logged[key] for key in recorded | logged if recorded[key] != logged[key]
    } == {}


@pytest.mark.parametrize("flags", _OPTIMISED)
@pytest.mark.parametrize("name", sorted(_FUNCTIONS))
@pytest.mark.parametrize("more", _OPTIONS, ids=" ".join)
def test_what_was_cut_short_is_known_in_optimised_programs_too(
    name: str, flags: str, more: tuple[str, ...], tmp_path: Path
) -> None:
    """Loops are rotated and functions inlined, so that paths end elsewhere: but as often as before.

    Every path and prefix decodes, and with additional counters on every edge both agree.
    """
    logged, profile = _run(name, flags, more, tmp_path)
    assert {key: each.violations for key, each in profile.functions.items() if each.violations} == {}
    if "-fno-inline" in flags:
        cut_short: Counter[str] = Counter()
        for (function, _, how), count in logged.items():
            cut_short[function] += count if how == "unwound" else 0
        recorded: Counter[str] = Counter()
        for function in _FUNCTIONS[name]:
            for path in profile.functions[function].paths or ():
                recorded[function] += path.count if path.ends is PathEnd.UNWOUND else 0
        assert recorded == cut_short
