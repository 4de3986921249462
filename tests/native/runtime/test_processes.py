"""Processes: each has counts of its own, whatever it comes from and whatever it becomes."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.native.building import trodden
from tests.native.ledger import VARIANTS, Walk, Workshop, differences, lines_of, prepare_walk, walk
from trodden.collect.rawfile.model import Ending
from trodden.native.execute.rundir import still_counting
from trodden.profile.store.trod import load

SOURCE = "ledger_processes.c"


def endings(done: Walk) -> Counter[Ending]:
    return Counter(raw.ending for raw in done.raws)


@pytest.mark.parametrize("mode", ["tree", "exec"])
@pytest.mark.parametrize("variant", VARIANTS)
def test_trees_of_processes(workshop: Workshop, tmp_path: Path, variant: str, mode: str) -> None:
    """Four levels below the first; with exec, every child becomes the same program again."""
    done = walk(workshop.build(SOURCE, variant), mode, "4", cwd=tmp_path)
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
def test_ways_to_make_a_process(
    workshop: Workshop, tmp_path: Path, variant: str, mode: str, others: int
) -> None:
    """On their parent's memory, by the C library, beside running threads, and in a signal's handler."""
    done = walk(workshop.build(SOURCE, variant), mode, cwd=tmp_path)
    assert (done.status, done.errors) == (8, "")
    assert endings(done) == {Ending.EXIT: 1 + others}
    done.check()


@pytest.mark.parametrize("mode", ["threads", "handler", "vfork"])
@pytest.mark.parametrize("variant", ["edges-O2", "paths-O2"])
def test_call_paths_of_processes(workshop: Workshop, tmp_path: Path, variant: str, mode: str) -> None:
    """Trees of calls grow in other threads while a child copies those of its own."""
    program = workshop.build(SOURCE, variant, "--trodden-call-paths=on", name="ledger_processes-calls")
    for turn in range(8):
        done = walk(program, mode, cwd=tmp_path / str(turn))
        assert (done.status, done.errors) == (8, "")
        done.check()
        profile = done.profile
        names = {(unit.id, n): f.name for unit in profile.units for n, f in enumerate(unit.functions)}
        called: Counter[str] = Counter()
        for path in profile.call_paths:
            called[names[path.functions[-1]]] += path.count
        assert +called == +Counter({f.name: f.entries for f in profile.functions.values()})


@pytest.mark.parametrize("variant", VARIANTS)
def test_children_that_are_killed(workshop: Workshop, tmp_path: Path, variant: str) -> None:
    """Their parent's counts are exact, and theirs but for where they were."""
    done = walk(workshop.build(SOURCE, variant), "killed", cwd=tmp_path)
    assert (done.status, done.errors) == (8, "")
    assert endings(done) == {Ending.EXIT: 1, Ending.KILLED: 4}
    (parent,) = [raw.pid for raw in done.raws if raw.ending is Ending.EXIT]
    off = differences(done.counted(), done.books())
    assert all(pid != parent and abs(one - other) <= 1 for (pid, _, _), (one, other) in off.items())


@pytest.mark.parametrize("variant", VARIANTS)
def test_becoming_another_program_under_one_name(workshop: Workshop, tmp_path: Path, variant: str) -> None:
    """Both write to the same TRODDEN_FILE, and neither loses its counts."""
    first = workshop.build(SOURCE, variant)
    second = workshop.build(SOURCE, variant, "-DOTHER", name="ledger_processes-other")
    place = str(tmp_path / "counts" / "out.raw")
    done = walk(first, "other", second, cwd=tmp_path, file=place)
    assert (done.status, done.errors) == (4, "")
    assert sorted(path.name for path in done.counts.iterdir()) == ["out.1.raw", "out.raw"]
    assert [(raw.ending, Path(raw.modules[0].path).name) for raw in done.raws] == [
        (Ending.EXIT, second.name),
        (Ending.EXEC, first.name),
    ]
    done.check()


def test_a_name_without_the_process(workshop: Workshop, tmp_path: Path) -> None:
    """Children put their number into it."""
    place = str(tmp_path / "counts" / "out.raw")
    done = walk(workshop.build(SOURCE, "edges-O2"), "tree", "2", cwd=tmp_path, file=place)
    assert done.status == 4
    first = min(raw.pid for raw in done.raws if raw.path == place)
    assert {Path(raw.path).name for raw in done.raws} == {
        "out.raw" if raw.pid == first else f"out.{raw.pid}.raw" for raw in done.raws
    }
    done.check()


@pytest.mark.parametrize("mode", ["daemon", "double"])
def test_a_daemon_outlives_its_run(workshop: Workshop, tmp_path: Path, mode: str) -> None:
    """What it counts after trodden run has ended is there at its own end."""
    _, ledger, variables = prepare_walk(tmp_path)
    program = workshop.build(SOURCE, "edges-O2")
    done = trodden("run", "-o", "x.trod", program, mode, cwd=tmp_path, env={"LEDGER": variables["LEDGER"]})
    assert done.returncode == (8 if mode == "double" else 0)
    told = re.fullmatch(
        r"trodden: process \d+: still running; at its end: trodden collect (\S+) -o FILE.trod\n", done.stderr
    )
    assert told
    directory = Path(told[1])
    (raw,) = directory.glob("*.raw")
    assert still_counting([raw], 10) == []
    later = Walk(0, "", "", (SOURCE,), directory, ledger)
    before = lines_of(load(tmp_path / "x.trod"), (SOURCE,))
    assert +(before + lines_of(later.profile, (SOURCE,))) == sum(later.books().values(), Counter())
    raw.unlink()
    directory.rmdir()


def test_a_run_that_waits_for_its_daemon(workshop: Workshop, tmp_path: Path) -> None:
    _, ledger, variables = prepare_walk(tmp_path)
    program = workshop.build(SOURCE, "edges-O2")
    began = time.monotonic()
    named = {"LEDGER": variables["LEDGER"]}
    done = trodden("run", "--wait", "-o", "x.trod", program, "double", cwd=tmp_path, env=named)
    assert (done.returncode, done.stderr) == (8, "")
    assert time.monotonic() - began > 1.5
    books = Walk(0, "", "", (SOURCE,), tmp_path, ledger).books()
    assert +lines_of(load(tmp_path / "x.trod"), (SOURCE,)) == sum(books.values(), Counter())
