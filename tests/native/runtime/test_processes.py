"""Processes: each has counts of its own, however it is created and whatever it executes."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.native.building import trodden
from tests.native.mapped_counts import (
    VARIANTS,
    CountedRun,
    ProgramBuilder,
    counts_of_lines,
    differences,
    prepare_run,
    run_counted,
)
from trodden.collect.rawfile.model import Ending
from trodden.native.execute.rundir import still_counting
from trodden.profile.store.trod import load

SOURCE = "process_trees.c"


def endings(done: CountedRun) -> Counter[Ending]:
    return Counter(raw.ending for raw in done.raws)


@pytest.mark.parametrize("mode", ["tree", "exec"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_trees_of_processes(programs: ProgramBuilder, tmp_path: Path, variant: str, mode: str) -> None:
    """Four levels below the first; with exec, every child executes the same program again."""
    done = run_counted(programs.build(SOURCE, variant), mode, "4", cwd=tmp_path)
    assert (done.status, done.errors) == (16, "")
    raws = done.raws
    assert len({raw.pid for raw in raws}) == 31
    assert endings(done) == +Counter({Ending.EXIT: 31, Ending.EXEC: 30 if mode == "exec" else 0})
    parents = {raw.pid: raw.parent for raw in raws}
    assert sum(parent in parents for parent in parents.values()) == 30
    done.check()


@pytest.mark.parametrize(
    ("mode", "others"),
    [("vfork", 3), ("spawn", 6), ("threads", 10), ("handler", 1)],
)
@pytest.mark.parametrize("variant", VARIANTS)
def test_processes_are_created(
    programs: ProgramBuilder, tmp_path: Path, variant: str, mode: str, others: int
) -> None:
    """On their parent's memory, by the C library, beside running threads, and in a signal handler."""
    done = run_counted(programs.build(SOURCE, variant), mode, cwd=tmp_path)
    assert (done.status, done.errors) == (8, "")
    assert endings(done) == {Ending.EXIT: 1 + others}
    done.check()


@pytest.mark.parametrize("mode", ["threads", "handler", "vfork"])
@pytest.mark.parametrize("variant", ["edges-O2", "paths-O2"])
def test_call_paths_of_processes(programs: ProgramBuilder, tmp_path: Path, variant: str, mode: str) -> None:
    """Call-path trees grow in other threads while a child copies its own."""
    program = programs.build(SOURCE, variant, "--trodden-call-paths=on", name="process_trees-calls")
    for iteration in range(8):
        done = run_counted(program, mode, cwd=tmp_path / str(iteration))
        assert (done.status, done.errors) == (8, "")
        done.check()
        profile = done.profile
        names = {(unit.id, n): f.name for unit in profile.units for n, f in enumerate(unit.functions)}
        called: Counter[str] = Counter()
        for path in profile.call_paths:
            called[names[path.functions[-1]]] += path.count
        assert +called == +Counter({f.name: f.entries for f in profile.functions.values()})


@pytest.mark.parametrize("variant", VARIANTS)
def test_children_that_are_killed(programs: ProgramBuilder, tmp_path: Path, variant: str) -> None:
    """Their parent's counts are exact, and theirs except for the blocks that they were in."""
    done = run_counted(programs.build(SOURCE, variant), "killed", cwd=tmp_path)
    assert (done.status, done.errors) == (8, "")
    assert endings(done) == {Ending.EXIT: 1, Ending.KILLED: 4}
    (parent,) = [raw.pid for raw in done.raws if raw.ending is Ending.EXIT]
    off = differences(done.counted(), done.reference())
    assert all(pid != parent and abs(one - other) <= 1 for (pid, _, _), (one, other) in off.items())


@pytest.mark.parametrize("variant", VARIANTS)
def test_executing_another_program_with_one_output_file(
    programs: ProgramBuilder, tmp_path: Path, variant: str
) -> None:
    """Both write to the same TRODDEN_FILE, and neither loses its counts."""
    first = programs.build(SOURCE, variant)
    second = programs.build(SOURCE, variant, "-DOTHER", name="process_trees-other")
    output = str(tmp_path / "counts" / "out.raw")
    done = run_counted(first, "other", second, cwd=tmp_path, file=output)
    assert (done.status, done.errors) == (4, "")
    assert sorted(path.name for path in done.counts.iterdir()) == ["out.1.raw", "out.raw"]
    assert [(raw.ending, Path(raw.modules[0].path).name) for raw in done.raws] == [
        (Ending.EXIT, second.name),
        (Ending.EXEC, first.name),
    ]
    done.check()


def test_an_output_file_without_the_process_id(programs: ProgramBuilder, tmp_path: Path) -> None:
    """Children add their process id."""
    output = str(tmp_path / "counts" / "out.raw")
    done = run_counted(programs.build(SOURCE, "edges-O2"), "tree", "2", cwd=tmp_path, file=output)
    assert done.status == 4
    first = min(raw.pid for raw in done.raws if raw.path == output)
    assert {Path(raw.path).name for raw in done.raws} == {
        "out.raw" if raw.pid == first else f"out.{raw.pid}.raw" for raw in done.raws
    }
    done.check()


@pytest.mark.parametrize("mode", ["daemon", "double"])
def test_a_daemon_outlives_its_run(programs: ProgramBuilder, tmp_path: Path, mode: str) -> None:
    """What it counts after trodden run has ended is collected after its own end."""
    _, mapped, variables = prepare_run(tmp_path)
    program = programs.build(SOURCE, "edges-O2")
    done = trodden(
        "run", "-o", "x.trod", program, mode, cwd=tmp_path, env={"MAPPED_COUNTS": variables["MAPPED_COUNTS"]}
    )
    assert done.returncode == (8 if mode == "double" else 0)
    message = re.fullmatch(
        r"trodden: process \d+: still running; at its end: trodden collect (\S+) -o FILE.trod\n", done.stderr
    )
    assert message
    directory = Path(message[1])
    (raw,) = directory.glob("*.raw")
    assert still_counting([raw], 10) == []
    later = CountedRun(0, "", "", (SOURCE,), directory, mapped)
    before = counts_of_lines(load(tmp_path / "x.trod"), (SOURCE,))
    assert +(before + counts_of_lines(later.profile, (SOURCE,))) == sum(later.reference().values(), Counter())
    raw.unlink()
    directory.rmdir()


def test_a_run_that_waits_for_its_daemon(programs: ProgramBuilder, tmp_path: Path) -> None:
    _, mapped, variables = prepare_run(tmp_path)
    program = programs.build(SOURCE, "edges-O2")
    began = time.monotonic()
    named = {"MAPPED_COUNTS": variables["MAPPED_COUNTS"]}
    done = trodden("run", "--wait", "-o", "x.trod", program, "double", cwd=tmp_path, env=named)
    assert (done.returncode, done.stderr) == (8, "")
    assert time.monotonic() - began > 1.5
    reference = CountedRun(0, "", "", (SOURCE,), tmp_path, mapped).reference()
    assert +counts_of_lines(load(tmp_path / "x.trod"), (SOURCE,)) == sum(reference.values(), Counter())
