"""Processes of real programs and how they ended: each with its threads, and completed if killed."""

from __future__ import annotations

import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.native.building import PROGRAMS, environment, must, trodden
from trodden.collect.rawfile.model import Ending
from trodden.profile.from_runs import collect
from trodden.profile.model import Profile
from trodden.profile.processes import family, only
from trodden.profile.store.trod import load
from trodden.report.views.summary import summarise

KILLS = 4


def _run(tmp_path: Path, name: str, *options: str) -> tuple[int, Profile]:
    source = PROGRAMS / f"{name}.c"
    done = trodden("run", "--quiet", "-o", "x.trod", *options, source, "-g", "-pthread", cwd=tmp_path)
    return done.returncode, load(tmp_path / "x.trod")


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_a_crash_shows_the_stack_of_every_thread(tmp_path: Path, level: str) -> None:
    status, profile = _run(tmp_path, "endings_crash", "--profile", "paths", level)
    assert status == -signal.SIGSEGV
    (process,) = profile.processes
    assert (process.ending, process.signal) == (Ending.SIGNAL, signal.SIGSEGV)
    assert f"process {process.pid} ended by SIGSEGV" in profile.messages
    rows = summarise(profile).threads
    stacks = {tuple(frame.function for frame in row.frames) for row in rows}
    assert rows[0].frames[0].function == "poke"
    assert ("poke", "main") in stacks
    assert ("waits",) in stacks
    assert stacks & {("work", "works"), ("works",)}
    poke, main = rows[0].frames
    assert poke.interrupted
    assert not main.interrupted
    assert poke.line <= 24 <= poke.last_line
    assert poke.unfinished is not None
    assert [(step.line, step.outcome_text) for step in poke.unfinished.steps] == [(23, "n > 3: true")]
    assert profile.functions["poke"].entries == 5
    assert [f.violations for f in profile.functions.values() if f.violations] == []


@pytest.mark.parametrize("kind", ["edges", "paths"])
def test_a_family_of_processes_is_distinguished(tmp_path: Path, kind: str) -> None:
    status, profile = _run(tmp_path, "endings_family", "--profile", kind, "-O1")
    assert status == 0
    processes = profile.processes
    assert sorted(process.ending.value for process in processes) == ["exec", "exit", "exit", "exit", "killed"]
    parent = processes[0]
    assert all(process.parent == parent.pid for process in processes[1:])
    image = next(process for process in processes if process.ending is Ending.EXEC)
    assert image.name == f"{image.pid}.1"
    became = next(process for process in processes if process.name == f"{image.pid}.2")
    depths = {processes[index].name: depth for depth, index in family(processes)}
    assert (depths[parent.name], depths[image.name], depths[became.name]) == (0, 1, 2)
    assert sorted(depths.values()) == [0, 1, 1, 1, 2]
    rounds = {}
    for process in processes:
        alone = only(profile, process.name, "x.trod")
        rounds[process.name] = max(alone.functions["work"].block_counts, default=0)
        assert [f.violations for f in alone.functions.values() if f.violations] == []
    assert rounds[parent.name] in (100, 101)
    assert rounds[image.name] in (20, 21)
    assert rounds[became.name] in (70, 71)
    assert sorted(count // 5 * 5 for count in rounds.values()) == [5, 20, 50, 70, 100]
    assert [f.violations for f in profile.functions.values() if f.violations] == []
    assert profile.functions["work"].entries == 5
    assert profile.functions["main"].entries == 2


@pytest.mark.parametrize(
    "options",
    [
        ("--trodden-profile=edges", "-O0"),
        ("--trodden-profile=edges", "-O2"),
        ("--trodden-profile=blocks", "-O1"),
        ("--trodden-counters=checked", "-O0"),
        ("--trodden-counters=checked", "-O2"),
        ("--trodden-profile=paths", "-O0"),
        ("--trodden-profile=paths", "-O2"),
        ("--trodden-profile=paths", "--trodden-context=on", "-O1"),
        ("--trodden-profile=paths", "--trodden-counters=checked", "-O0"),
        ("--trodden-profile=paths", "--trodden-counters=checked", "-O2"),
    ],
    ids=" ".join,
)
def test_counts_of_a_killed_process_are_consistent(tmp_path: Path, options: tuple[str, ...]) -> None:
    must("cc", *options, "-g", "-pthread", PROGRAMS / "endings_endless.c", "-o", "endless", cwd=tmp_path)
    for number in range(KILLS):
        raw = tmp_path / f"{number}.raw"
        with subprocess.Popen(
            [str(tmp_path / "endless")], stdout=subprocess.PIPE, env=environment({"TRODDEN_FILE": str(raw)})
        ) as running:
            assert running.stdout is not None
            assert running.stdout.read(1) == b"!"
            time.sleep(0.03 + 0.017 * number)
            running.kill()
        profile = collect([raw])
        (process,) = profile.processes
        assert process.ending is Ending.KILLED
        assert profile.messages[0].startswith(f"process {process.pid} was killed (or ended unseen)")
        assert {name: f.violations for name, f in profile.functions.items() if f.violations} == {}
        tree = profile.functions["tree"]
        assert tree.entries > 100
        assert all(count is None or count >= 0 for count in tree.edge_counts)


def test_the_last_paths_of_a_crash(tmp_path: Path) -> None:
    """``poke`` completed its path four times, each time after ``work``."""
    _, profile = _run(tmp_path, "endings_crash", "--profile", "paths", "--last", "8", "-O0")
    first = summarise(profile).threads[0]
    whole = [row for row in first.last if row.function == "poke"]
    assert [(step.line, step.outcome_text) for step in whole[-1].description.steps][:1] == [
        (23, "n > 3: false")
    ]
    assert {row.function for row in first.last} <= {"poke", "work", "main"}
    assert 0 < len(first.last) <= 8
    assert first.last[-1].function in ("work", "main")


def test_a_deadly_signal_while_another_thread_exits(tmp_path: Path) -> None:
    """The process ends when the raw file has been written, and not in the middle of it."""
    status, profile = _run(tmp_path, "killed_while_writing", "-O1")
    (process,) = profile.processes
    assert (status, process.ending) == (7, Ending.EXIT)
    assert not profile.messages


@pytest.mark.parametrize("arguments", [(), ("_exit",)])
def test_a_signal_that_arrives_while_the_counts_are_written(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    must("cc", "-O1", PROGRAMS / "signal_at_end.c", "-o", "program", cwd=tmp_path)
    done = subprocess.run(
        [str(tmp_path / "program"), *arguments],
        env=environment({"TRODDEN_FILE": str(tmp_path / "out.raw")}),
        capture_output=True,
        text=True,
        check=True,
    )
    profile = collect([tmp_path / "out.raw"])
    assert profile.functions["handler"].entries == done.stdout.count("handled")
