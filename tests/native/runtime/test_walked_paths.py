"""Programs that keep books of the paths they walk, against the paths that trodden tells of the same run.

Every mark that a program makes stands on a line of its own, so a path's blocks spell the marks it made.
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
    "trails_exit.c": {"main", "outer", "middle", "innermost"},
    "trails_jump.c": {"main", "target", "between", "inner"},
    "trails_throw.cpp": {"main", "third(int)", "second(int)", "lowest(int)"},
}
_STATUS = {"trails_exit.c": 19, "trails_jump.c": 58, "trails_throw.cpp": 90}
_AS_WRITTEN = ("-O0", "-O0 -fomit-frame-pointer")
_OPTIMISED = ("-O1", "-O2", "-Os", "-O2 -fno-omit-frame-pointer -fno-inline")
_WAYS: tuple[tuple[str, ...], ...] = (
    (),
    ("--max-paths", "none"),
    ("--max-paths", "1", "--counters", "checked"),
    ("--counters", "checked"),
)

Book = Counter[tuple[str, str, str]]


def _trail(function: FunctionProfile, path: PathCount, marks: dict[int, str]) -> str:
    """The marks that a path has made, in its order; neighbours on one line are one mark."""
    lines: list[int] = []
    for vertex in path.blocks:
        for ref in function.facts.blocks[vertex].lines:
            if ref.copy == 0 and ref.line > 0 and (not lines or lines[-1] != ref.line):
                lines.append(ref.line)
    return "".join(marks[line] for line in lines if line in marks)


def _told(profile: Profile, source: Path) -> Book:
    marks = {
        number: match.group(1)
        for number, line in enumerate(source.read_text().splitlines(), 1)
        if (match := _MARK.match(line))
    }
    told: Book = Counter()
    for name in _FUNCTIONS[source.name]:
        function = profile.functions[name]
        assert function.paths is not None
        assert not function.violations, (name, function.violations)
        for path in function.paths:
            told[name, _trail(function, path, marks), path.ends.value] += path.count
    return told


def _walk(name: str, flags: str, more: tuple[str, ...], directory: Path) -> tuple[Book, Profile]:
    """Run a program; answer its own book and the profile."""
    done = trodden("run", "--profile", "paths", *more, PROGRAMS / name, *flags.split(), cwd=directory)
    assert (done.returncode, done.stderr) == (_STATUS[name], "")
    book: Book = Counter()
    for function, marks, how, count in _ENTRY.findall(done.stdout):
        book[function, marks, how] += int(count)
    assert len(book) > 20
    return book, load(directory / "trodden.trod")


@pytest.mark.parametrize("flags", _AS_WRITTEN)
@pytest.mark.parametrize("name", sorted(_FUNCTIONS))
@pytest.mark.parametrize("more", [(), ("--max-paths", "none"), ("--counters", "checked")], ids=" ".join)
def test_paths_are_those_in_the_book(name: str, flags: str, more: tuple[str, ...], tmp_path: Path) -> None:
    """Whole paths, and the parts of paths that were walked before exit, longjmp or an exception."""
    book, profile = _walk(name, flags, more, tmp_path)
    told = _told(profile, PROGRAMS / name)
    assert {key: told[key] - book[key] for key in told | book if told[key] != book[key]} == {}


@pytest.mark.parametrize("flags", _OPTIMISED)
@pytest.mark.parametrize("name", sorted(_FUNCTIONS))
@pytest.mark.parametrize("more", _WAYS, ids=" ".join)
def test_what_was_cut_short_is_known_in_optimised_programs_too(
    name: str, flags: str, more: tuple[str, ...], tmp_path: Path
) -> None:
    """Loops are turned round and functions inlined, so paths end elsewhere: but as often as before.

    Every path and prefix decodes, and with counters on every edge beside them they say the same.
    """
    book, profile = _walk(name, flags, more, tmp_path)
    assert {key: each.violations for key, each in profile.functions.items() if each.violations} == {}
    if "-fno-inline" in flags:
        broken: Counter[str] = Counter()
        for (function, _, how), count in book.items():
            broken[function] += count if how == "unwound" else 0
        told: Counter[str] = Counter()
        for function in _FUNCTIONS[name]:
            for path in profile.functions[function].paths or ():
                told[function] += path.count if path.ends is PathEnd.UNWOUND else 0
        assert told == broken
