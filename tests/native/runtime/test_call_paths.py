"""Call paths, against the log that programs keep themselves in the same run."""

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
_C = (PROGRAMS / "call_paths.c", PROGRAMS / "call_paths_library.c", "-pthread")
_WITH_LIBRARY = (PROGRAMS / "call_paths.c", "-pthread", "libchain.so", "-Wl,-rpath,$ORIGIN")
_STATUS = {"call_paths.c": 21, "call_paths.cpp": 22}
_CALLS = "--trodden-call-paths=on"

CallPaths = dict[tuple[str, ...], tuple[int, bool]]


def _logged(output: str) -> CallPaths:
    """What a program and its children print; a path may occur several times."""
    counts: Counter[tuple[str, ...]] = Counter()
    recursive: set[tuple[str, ...]] = set()
    for line in output.splitlines():
        match = _ENTRY.match(line)
        assert match is not None, line
        path = tuple(match.group(1).split(";"))
        counts[path] += int(match.group(2))
        if match.group(3):
            recursive.add(path)
    assert len(counts) > 50
    return {path: (count, path in recursive) for path, count in counts.items()}


def _recorded(profile: Profile) -> CallPaths:
    assert not profile.messages
    assert not any(function.violations for function in profile.functions.values())
    paths = named_call_paths(profile)
    assert [path.count for path in paths] == sorted((path.count for path in paths), reverse=True)
    return {path.functions: (path.count, path.recursive) for path in paths}


def _check(output: str, profile: Profile) -> None:
    logged, recorded = _logged(output), _recorded(profile)
    both = {path: (recorded.get(path), logged.get(path)) for path in recorded | logged}
    assert {path: pair for path, pair in both.items() if pair[0] != pair[1]} == {}


@pytest.mark.parametrize("flags", ["-O0", "-O1", "-O2", "-Os -fomit-frame-pointer"])
@pytest.mark.parametrize("kind", ["edges", "paths"])
@pytest.mark.parametrize("name", sorted(_STATUS))
def test_call_paths_are_those_in_the_log(name: str, kind: str, flags: str, tmp_path: Path) -> None:
    """Recursion, pointers, callbacks, tail calls, jumps, signals, threads, children; exceptions in C++."""
    sources = _C if name == "call_paths.c" else (PROGRAMS / name,)
    done = trodden("run", "--call-paths", "--profile", kind, *sources, *flags.split(), cwd=tmp_path)
    assert (done.returncode, done.stderr) == (_STATUS[name], "")
    profile = load(tmp_path / "trodden.trod")
    _check(done.stdout, profile)
    save(profile, tmp_path / "again.trod")
    assert load(tmp_path / "again.trod").call_paths == profile.call_paths


@pytest.mark.parametrize(
    ("level", "called"), [("-O0", ("Left::Left(int)", "Left::~Left()", "jump")), ("-O2", ("jump",))]
)
def test_longjmp_to_an_invoked_setjmp_restores_the_call_path(
    level: str, called: tuple[str, ...], tmp_path: Path
) -> None:
    must("run", "--call-paths", PROGRAMS / "setjmp_invoked.cpp", level, cwd=tmp_path)
    caller = ("main", "iterations(int)")
    expected = {("main",): (1, False), caller: (1, False)}
    expected |= {(*caller, callee): (40, False) for callee in called}
    assert _recorded(load(tmp_path / "trodden.trod")) == expected


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
    must("cc", _CALLS, "-O2", *_WITH_LIBRARY, "-o", "paths", cwd=tmp_path)
    done = run("./paths", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (21, "")
    _check(done.stdout, collect(sorted(tmp_path.glob("*.raw"))))


def test_functions_without_probes_are_skipped(tmp_path: Path) -> None:
    """A library without call paths calls back: its callees are attributed to its caller."""
    must("cc", "-O2", "-shared", "-fPIC", _C[1], "-o", "libchain.so", cwd=tmp_path)
    must("cc", _CALLS, "-O2", *_WITH_LIBRARY, "-o", "paths", cwd=tmp_path)
    done = run("./paths", cwd=tmp_path)
    recorded = {
        path: count for path, (count, _) in _recorded(collect(sorted(tmp_path.glob("*.raw")))).items()
    }
    expected: Counter[tuple[str, ...]] = Counter()
    for path, (count, _) in _logged(done.stdout).items():
        if not path[-1].startswith("library_"):
            expected[tuple(name for name in path if not name.startswith("library_"))] += count
    # The log sees the recursive call of the library, which returns to its node.
    by_callback, directly = ("main", "called_back", "leaf"), ("main", "leaf")
    assert (recorded[by_callback], recorded[directly]) == (28, 3)
    assert recorded[by_callback] + recorded[directly] == expected[by_callback] + expected[directly]
    assert recorded | {by_callback: 0, directly: 0} == expected | {by_callback: 0, directly: 0}


def test_static_programs(tmp_path: Path) -> None:
    target = f"{platform.machine()}-linux-musl"
    must("cc", _CALLS, "-O2", "-static", "-target", target, *_C, "-o", "paths", cwd=tmp_path)
    done = run("./paths", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (21, "")
    _check(done.stdout, collect(sorted(tmp_path.glob("*.raw"))))


def test_several_runs_add_up(tmp_path: Path) -> None:
    must("c++", _CALLS, "-O1", PROGRAMS / "call_paths.cpp", "-o", "paths", cwd=tmp_path)
    outputs = [run("./paths", cwd=tmp_path).stdout for _ in range(3)]
    _check("".join(outputs), collect(sorted(tmp_path.glob("*.raw"))))


def test_nothing_remains_when_it_is_off(tmp_path: Path) -> None:
    source = PROGRAMS / "call_paths.cpp"
    plain = must("c++", "-O2", "-S", source, "-o", "-", cwd=tmp_path)
    recorded = must("c++", "-O2", _CALLS, "-S", source, "-o", "-", cwd=tmp_path)
    words = re.compile(r"__trodden_(?:caller|keys|entered|place|call)\b|trodden_outside")
    assert not words.search(plain)
    assert words.search(recorded)
    must("c++", "-O2", source, "-o", "paths", cwd=tmp_path)
    assert b"__trodden_caller" not in (tmp_path / "paths").read_bytes()
    assert run("./paths", cwd=tmp_path).returncode == 22
    assert collect(sorted(tmp_path.glob("*.raw"))).call_paths == ()


def test_from_python(capfd: pytest.CaptureFixture[str]) -> None:
    done = trodden_run(PROGRAMS / "call_paths.cpp", "-O1", call_paths=True)
    assert done.status == 22
    _check(capfd.readouterr().out, done.profile)


def test_a_unit_without_functions(tmp_path: Path) -> None:
    must("cc", _CALLS, "--trodden-leave=*", PROGRAMS / "exact_tail.c", "-c", "-o", "left.o", cwd=tmp_path)
    assert (tmp_path / "left.o").exists()


def test_not_before_optimisation(tmp_path: Path) -> None:
    done = trodden("run", "--call-paths", "--stage", "early", PROGRAMS / "exact_tail.c", cwd=tmp_path)
    assert (done.returncode, "late" in done.stderr, done.stderr.count("\n")) == (2, True, 1)
