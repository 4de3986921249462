"""Programs that keep books of their call paths, against the call paths that trodden tells of the same run."""

from __future__ import annotations

import platform
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, must, run, trodden
from tests.native.runtime.test_exact import CASES
from trodden import run as trodden_run
from trodden.profile.call_paths import named_call_paths
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile
from trodden.profile.store.trod import load, save

_ENTRY = re.compile(r"^(.+) (\d+)( again)?$")
_C = (PROGRAMS / "chains.c", PROGRAMS / "chain_library.c", "-pthread")
_BESIDE_LIBRARY = (PROGRAMS / "chains.c", "-pthread", "libchain.so", "-Wl,-rpath,$ORIGIN")
_STATUS = {"chains.c": 21, "chains.cpp": 22}
_CALLS = "--trodden-call-paths=on"

Book = dict[tuple[str, ...], tuple[int, bool]]


def _book(output: str) -> Book:
    """What a program and its children say; a chain may stand there several times."""
    counts: Counter[tuple[str, ...]] = Counter()
    again: set[tuple[str, ...]] = set()
    for line in output.splitlines():
        match = _ENTRY.match(line)
        assert match is not None, line
        chain = tuple(match.group(1).split(";"))
        counts[chain] += int(match.group(2))
        if match.group(3):
            again.add(chain)
    assert len(counts) > 50
    return {chain: (count, chain in again) for chain, count in counts.items()}


def _told(profile: Profile) -> Book:
    assert not profile.notes
    assert not any(function.violations for function in profile.functions.values())
    paths = named_call_paths(profile)
    assert [path.count for path in paths] == sorted((path.count for path in paths), reverse=True)
    return {path.functions: (path.count, path.recursive) for path in paths}


def _check(output: str, profile: Profile) -> None:
    book, told = _book(output), _told(profile)
    both = {chain: (told.get(chain), book.get(chain)) for chain in told | book}
    assert {chain: pair for chain, pair in both.items() if pair[0] != pair[1]} == {}


@pytest.mark.parametrize("flags", ["-O0", "-O1", "-O2", "-Os -fomit-frame-pointer"])
@pytest.mark.parametrize("kind", ["edges", "paths"])
@pytest.mark.parametrize("name", sorted(_STATUS))
def test_call_paths_are_those_in_the_book(name: str, kind: str, flags: str, tmp_path: Path) -> None:
    """Recursion, pointers, callbacks, tail calls, jumps, signals, threads, children; exceptions in C++."""
    sources = _C if name == "chains.c" else (PROGRAMS / name,)
    done = trodden("run", "--call-paths", "--profile", kind, *sources, *flags.split(), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (_STATUS[name], "")
    profile = load(tmp_path / "trodden.trod")
    _check(done.stdout, profile)
    save(profile, tmp_path / "again.trod")
    assert load(tmp_path / "again.trod").call_paths == profile.call_paths


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("name", sorted(CASES))
def test_calls_are_entries(name: str, level: str, tmp_path: Path) -> None:
    """Counted by other means: all paths to a function together are taken as often as it is entered."""
    case = CASES[name]
    sources = [PROGRAMS / file for _, file in case.files if not file.endswith(".h")]
    flags = (level, *case.flags, "--", *case.arguments)
    assert trodden("run", "--call-paths", *sources, *flags, cwd=tmp_path).returncode == case.status
    profile = load(tmp_path / "trodden.trod")
    calls: Counter[str] = Counter()
    for path in named_call_paths(profile):
        calls[path.functions[-1]] += path.count
    assert calls == {key: each.entries for key, each in profile.functions.items() if each.entries}


def test_paths_lead_into_libraries_and_back(tmp_path: Path) -> None:
    must("cc", _CALLS, "-O2", "-shared", "-fPIC", _C[1], "-o", "libchain.so", cwd=tmp_path)
    must("cc", _CALLS, "-O2", *_BESIDE_LIBRARY, "-o", "chains", cwd=tmp_path)
    done = run("./chains", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (21, "")
    _check(done.stdout, collect(sorted(tmp_path.glob("*.raw"))))


def test_what_has_no_probes_is_passed_over(tmp_path: Path) -> None:
    """A library without call paths calls back: what it calls hangs on who has called it."""
    must("cc", "-O2", "-shared", "-fPIC", _C[1], "-o", "libchain.so", cwd=tmp_path)
    must("cc", _CALLS, "-O2", *_BESIDE_LIBRARY, "-o", "chains", cwd=tmp_path)
    done = run("./chains", cwd=tmp_path)
    told = {chain: count for chain, (count, _) in _told(collect(sorted(tmp_path.glob("*.raw")))).items()}
    expected: Counter[tuple[str, ...]] = Counter()
    for chain, (count, _) in _book(done.stdout).items():
        if not chain[-1].startswith("library_"):
            expected[tuple(name for name in chain if not name.startswith("library_"))] += count
    # The book knows that the library is called again, and goes back to where it stood.
    by_callback, directly = ("main", "called_back", "leaf"), ("main", "leaf")
    assert (told[by_callback], told[directly]) == (28, 3)
    assert told[by_callback] + told[directly] == expected[by_callback] + expected[directly]
    assert told | {by_callback: 0, directly: 0} == expected | {by_callback: 0, directly: 0}


def test_static_programs(tmp_path: Path) -> None:
    target = f"{platform.machine()}-linux-musl"
    must("cc", _CALLS, "-O2", "-static", "-target", target, *_C, "-o", "chains", cwd=tmp_path)
    done = run("./chains", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (21, "")
    _check(done.stdout, collect(sorted(tmp_path.glob("*.raw"))))


def test_several_runs_add_up(tmp_path: Path) -> None:
    must("c++", _CALLS, "-O1", PROGRAMS / "chains.cpp", "-o", "chains", cwd=tmp_path)
    outputs = [run("./chains", cwd=tmp_path).stdout for _ in range(3)]
    _check("".join(outputs), collect(sorted(tmp_path.glob("*.raw"))))


def test_nothing_is_left_of_it_when_it_is_off(tmp_path: Path) -> None:
    source = PROGRAMS / "chains.cpp"
    plain = must("c++", "-O2", "-S", source, "-o", "-", cwd=tmp_path)
    kept = must("c++", "-O2", _CALLS, "-S", source, "-o", "-", cwd=tmp_path)
    words = re.compile(r"__trodden_(?:caller|keys|entered|place|call)\b|trodden_outside")
    assert not words.search(plain)
    assert words.search(kept)
    must("c++", "-O2", source, "-o", "chains", cwd=tmp_path)
    assert b"__trodden_caller" not in (tmp_path / "chains").read_bytes()
    assert run("./chains", cwd=tmp_path).returncode == 22
    assert collect(sorted(tmp_path.glob("*.raw"))).call_paths == ()


def test_from_python(capfd: pytest.CaptureFixture[str]) -> None:
    done = trodden_run(PROGRAMS / "chains.cpp", "-O1", call_paths=True)
    assert done.status == 22
    _check(capfd.readouterr().out, done.profile)


def test_a_unit_without_functions(tmp_path: Path) -> None:
    must("cc", _CALLS, "--trodden-leave=*", PROGRAMS / "exact_tail.c", "-c", "-o", "left.o", cwd=tmp_path)
    assert (tmp_path / "left.o").exists()


def test_not_before_optimisation(tmp_path: Path) -> None:
    done = trodden("run", "--call-paths", "--stage", "early", PROGRAMS / "exact_tail.c", cwd=tmp_path)
    assert (done.returncode, "late" in done.stderr, done.stderr.count("\n")) == (2, True, 1)
