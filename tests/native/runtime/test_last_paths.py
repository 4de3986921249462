"""The last paths of each thread, against logs that the threads keep themselves.

Every thread logs each path where it ends; its marks are on lines of their own, so that the blocks of a path
spell them.
"""

from __future__ import annotations

import platform
import re
import signal
import subprocess
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, environment, must, trodden
from tests.native.stepping import build, step_through
from trodden.collect.binary.program import read_program
from trodden.collect.rawfile.model import Ending, Raw
from trodden.collect.rawfile.raw import read_raw
from trodden.plan.paths.numbering import Numbering
from trodden.program.facts import FunctionFacts

_SOURCE = PROGRAMS / "last_paths.c"
_MARK = re.compile(r"^\s*mark\('(\w)'\);$")
_MARKS = {
    number: match.group(1)
    for number, line in enumerate(_SOURCE.read_text().splitlines(), 1)
    if (match := _MARK.match(line))
}
_PATHS = "--trodden-profile=paths"
LastPaths = dict[int, list[str]]


def _marks_of(facts: FunctionFacts, number: int) -> str:
    """A path as in the logs."""
    assert facts.plan.paths is not None
    route = Numbering(facts.graph, facts.plan.paths).regenerate(number)
    lines: list[int] = []
    for block in route.blocks:
        for ref in facts.blocks[block].lines:
            if ref.line in _MARKS and (not lines or lines[-1] != ref.line):
                lines.append(ref.line)
    return f"{facts.name} {''.join(_MARKS[line] for line in lines)} {route.ends.value}"


def _recorded(raw: Raw, *programs: Path) -> LastPaths:
    """The last paths of each thread, spelled out."""
    units = {tag: unit for program in programs for tag, unit in read_program(program).by_tag.items()}
    spelled = cache(lambda tag, function, path: _marks_of(units[tag].functions[function], path))
    found: LastPaths = defaultdict(list)
    for last in raw.last_paths:
        found[last.thread].append(spelled(last.tag, last.function, last.path))
    return dict(found)


def _logs(directory: Path, process: int, kept: int) -> LastPaths:
    return {
        int(path.suffix[1:]): path.read_text().splitlines()[-kept:]
        for path in directory.glob(f"book.{process}.*")
    }


def _build(directory: Path, kept: int, *flags: str) -> Path:
    program = directory / "program"
    must("cc", _PATHS, f"--trodden-last={kept}", *(flags or ("-O0",)), _SOURCE, "-o", program, cwd=directory)
    return program


def _run(program: Path, *arguments: str, cwd: Path) -> int:
    """The program's status; it leaves out.raw."""
    changes: Mapping[str, str] = {"TRODDEN_FILE": "out.raw"}
    done = subprocess.run([program, *arguments], cwd=cwd, env=environment(changes), check=False, timeout=60)
    return done.returncode


@pytest.mark.parametrize(
    ("how", "status", "ending"),
    [
        ("kill", -signal.SIGKILL, Ending.KILLED),
        ("abort", -signal.SIGABRT, Ending.SIGNAL),
        ("fault", -signal.SIGSEGV, Ending.SIGNAL),
        ("quick", 3, Ending.EXIT),
        ("return", 3, Ending.EXIT),
    ],
)
@pytest.mark.parametrize("kept", [1, 5, 64, 1000])
def test_the_last_paths_are_those_in_the_logs(
    how: str, status: int, ending: Ending, kept: int, tmp_path: Path
) -> None:
    """Of all threads, however the process ends: the last ones, in order, no more and no less."""
    program = _build(tmp_path, kept)
    assert _run(program, how, "150", cwd=tmp_path) == status
    raw = read_raw(tmp_path / "out.raw")
    logs = _logs(tmp_path, raw.pid, kept)
    assert (raw.ending, sorted(logs)) == (ending, [0, 1, 2, 3])
    assert _recorded(raw, program) == logs
    assert kept > 64 or {len(log) for log in logs.values()} == {kept}


def test_fewer_paths_than_the_ring_holds(tmp_path: Path) -> None:
    program = _build(tmp_path, 65536)
    assert _run(program, "kill", "6", cwd=tmp_path) == -signal.SIGKILL
    raw = read_raw(tmp_path / "out.raw")
    assert _recorded(raw, program) == _logs(tmp_path, raw.pid, 65536)


@pytest.mark.parametrize(
    "flags",
    [
        ("-O0", "--trodden-max-paths=none", "--trodden-metric=cycles"),
        ("-O0", "-fPIC", "--trodden-call-paths=on"),
        ("-O0", "--trodden-counters=checked", "-g"),
        ("-O0", "-static", "-target", "x86_64-linux-musl"),
    ],
    ids=" ".join,
)
def test_other_builds_keep_the_same(flags: tuple[str, ...], tmp_path: Path) -> None:
    program = _build(tmp_path, 20, *flags)
    for how, status in (("kill", -signal.SIGKILL), ("return", 3)):
        assert _run(program, how, "40", cwd=tmp_path) == status
        raw = read_raw(tmp_path / "out.raw")
        assert _recorded(raw, program) == _logs(tmp_path, raw.pid, 20)


@pytest.mark.parametrize(
    "flags",
    ["-O1 -fno-inline", "-O2", "-O2 --trodden-max-paths=none", "-Os --trodden-context=on", "-O3 -fPIC"],
)
@pytest.mark.parametrize(
    ("source", "words", "status"),
    [
        ("last_paths.c", ("return", "150"), 3),
        ("exact_flow.c", (), 42),
        ("path_log_longjmp.c", (), 58),
        ("exact_throws.cpp", (), 25),
    ],
)
def test_the_ring_agrees_with_the_counters(
    source: str, words: tuple[str, ...], status: int, flags: str, tmp_path: Path
) -> None:
    """In a ring that is large enough, each path occurs as often as its counter says."""
    program = tmp_path / "program"
    compiler = "c++" if source.endswith("cpp") else "cc"
    kept = "--trodden-last=65536"
    must(compiler, _PATHS, kept, *flags.split(), PROGRAMS / source, "-o", program, cwd=tmp_path)
    assert _run(program, *words, cwd=tmp_path) == status
    raw = read_raw(tmp_path / "out.raw")
    assert len(raw.last_paths) < 65536
    (unit,) = read_program(program).units.values()
    counted = Counter(
        {
            (number, path): raw.units[0].counters[facts.first_slot + len(facts.plan.measures) + path]
            for number, facts in enumerate(unit.functions)
            if facts.plan.paths is not None and facts.plan.paths.dense
            for path in range(facts.plan.paths.number)
        }
    )
    for each in raw.sparse_paths:
        counted[each.function, each.path] += each.amount
    assert len(+counted) > 5
    assert Counter((last.function, last.path) for last in raw.last_paths) == +counted


def test_rings_of_exited_threads_stay_until_they_are_reused(tmp_path: Path) -> None:
    program = _build(tmp_path, 16)
    assert _run(program, "ended", "50", cwd=tmp_path) == 3
    raw = read_raw(tmp_path / "out.raw")
    recorded = _recorded(raw, program)
    assert recorded == _logs(tmp_path, raw.pid, 16)
    assert sorted(recorded) == [0, 1, 2, 3]
    assert _run(program, "again", "50", cwd=tmp_path) == 3
    raw = read_raw(tmp_path / "out.raw")
    recorded, logs = _recorded(raw, program), _logs(tmp_path, raw.pid, 16)
    assert {0, 4, 5} < set(recorded) < set(logs)
    assert len(recorded) == 4
    assert recorded == {thread: logs[thread] for thread in recorded}


def test_a_forked_child_starts_with_none(tmp_path: Path) -> None:
    program = _build(tmp_path, 40)
    assert _run(program, "fork", "24", cwd=tmp_path) == 4
    parent = read_raw(tmp_path / "out.raw")
    (other,) = tmp_path.glob("out.*.raw")
    child = read_raw(other)
    assert child.parent == parent.pid
    for raw in (parent, child):
        assert _recorded(raw, program) == _logs(tmp_path, raw.pid, 40)


@pytest.mark.parametrize("given", ["", "-1", "65537", "many", "1e3"])
def test_numbers_that_make_no_sense_are_refused(given: str, tmp_path: Path) -> None:
    done = trodden("run", "--profile", "paths", f"--last={given}", _SOURCE, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert re.fullmatch(
        r"trodden: --last(=\S+)?: (a number of paths per thread|needs a value).*\n", done.stderr
    )


def test_last_goes_with_paths_only(tmp_path: Path) -> None:
    done = trodden("cc", "--trodden-last=4", "-c", _SOURCE, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "trodden: --trodden-last: goes with --trodden-profile=paths\n"


def test_nothing_remains_when_it_is_off(tmp_path: Path) -> None:
    """The same code, by the environment or not at all; and no variable."""
    must("cc", _PATHS, "-O2", "-S", _SOURCE, "-o", "without.s", cwd=tmp_path)
    must("cc", _PATHS, "--trodden-last=0", "-O2", "-S", _SOURCE, "-o", "none.s", cwd=tmp_path)
    must("cc", _PATHS, "-O2", "-S", _SOURCE, "-o", "with.s", cwd=tmp_path, env={"TRODDEN_LAST": "64"})
    without = (tmp_path / "without.s").read_text()
    assert (tmp_path / "none.s").read_text() == without
    assert "__trodden_ring" not in without
    assert "__trodden_ring" in (tmp_path / "with.s").read_text()


def _library(directory: Path, *flags: str) -> Path:
    made = directory / "library.so"
    source = PROGRAMS / "last_paths_library.c"
    must("cc", _PATHS, *flags, "-O1", "-fPIC", "-shared", source, "-o", made, cwd=directory)
    return made


@pytest.mark.parametrize(
    ("host", "kept"),
    [
        # All threads get rings when the library is loaded, and the last thread reuses that of the first.
        (("--trodden-profile=edges",), {0: 8, 2: 8}),
        # Existing rings stay as they are; but they are too small for a later thread.
        ((_PATHS, "--trodden-last=3"), {0: 3, 1: 3, 2: 8}),
        ((_PATHS, "--trodden-last=30"), {0: 20, 2: 30}),
    ],
)
def test_a_library_that_is_loaded_later(host: tuple[str, ...], kept: dict[int, int], tmp_path: Path) -> None:
    """Paths of the program and of its library are in one ring."""
    library = _library(tmp_path, "--trodden-last=8")
    program = tmp_path / "host"
    must("cc", *host, "-O1", PROGRAMS / "last_paths_host.c", "-pthread", "-ldl", "-o", program, cwd=tmp_path)
    assert _run(program, "./library.so", cwd=tmp_path) == 5
    raw = read_raw(tmp_path / "out.raw")
    names: dict[int, list[str]] = defaultdict(list)
    units = read_program(program).by_tag | read_program(library).by_tag
    for last in raw.last_paths:
        names[last.thread].append(units[last.tag].functions[last.function].name)
    assert {thread: len(found) for thread, found in names.items()} == kept
    assert set(names[2]) == {"choose_one"}
    both = ["choose_one"] if "edges" in host[0] else ["choose_one", "twice"]
    assert names[0] == (both * 10)[-kept[0] :]


@pytest.mark.skipif(platform.machine() != "x86_64", reason="steps with the trap flag of x86-64")
@pytest.mark.parametrize("flags", [("-O2",), ("-O2", "-g"), ("-O0",)], ids=" ".join)
def test_entering_a_path_does_not_hide_where_a_frame_is(flags: tuple[str, ...], tmp_path: Path) -> None:
    """A signal may stop a function anywhere, also between counting a path and entering it."""
    stepped = step_through(build(tmp_path, *flags, _PATHS, "--trodden-last=16"), tmp_path, 3)
    assert stepped.wrong == []
    assert stepped.located > 2000
    assert stepped.unlocated < 0.35 * stepped.located
