"""Processes and their threads: distinguished, stored, and shown one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.profile.making import (
    CODE_AT,
    Flow,
    counts_of,
    elf_bytes,
    function,
    pack_unit,
    positions_in,
    raw_bytes,
    sites_bytes,
    unit_of,
    with_wrong,
)
from trodden.collect.binary.program import read_program
from trodden.collect.endings import (
    LastPath,
    Process,
    StoppedFrame,
    StoppedThread,
    named_processes,
    signal_name,
)
from trodden.collect.frames.frame_locator import FrameLocator
from trodden.collect.process_counts import count_process
from trodden.collect.rawfile.model import Ending, RawUnit
from trodden.collect.rawfile.raw import read_raw
from trodden.errors import BadFile, InputMissing, OtherBuild, UsageError
from trodden.export.json_document import to_document
from trodden.merging.merge import merge
from trodden.plan.counters.edges import every_edge
from trodden.profile.from_runs import collect, collect_all
from trodden.profile.model import Profile
from trodden.profile.processes import family, only
from trodden.profile.store.trod import MAGIC, from_bytes, load, save, to_bytes
from trodden.program.facts import UnitFacts
from trodden.program.record import seal, unseal
from trodden.report.render.plain import to_plain
from trodden.report.views.summary import summarise

LOOP = "a>b b>b b>c c>exit"
UNIT = unit_of(
    function("main", LOOP, {"a": [1], "b": [2], "c": [3]}),
    function("exits", "e>x x>exit", line=9),
    sites=[(0, 1), (1, 0), (0, -1)],
)
LABELS = [(0x10, 0, False), (0x18, 0, True), (0x20, 1, False), (0x28, 1, True), (0x30, 2, False)]
EXIT, DUMP, SIGNAL = range(3)
WRONG: tuple[Any, ...] = (-2, 1 << 70, None, "x", [[]], {})


def walk(rounds: int) -> Flow:
    return {"a>b": 1, "b>b": rounds, "b>c": 1, "c>exit": 1}


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "prog"
    sites = sites_bytes(UNIT, [(CODE_AT + at, site, after) for at, site, after in LABELS])
    path.write_bytes(elf_bytes({".trodden": pack_unit(UNIT), ".trodden_sites": sites}))
    return str(path)


def write(
    program: str,
    name: str,
    rounds: int,
    frames: Sequence[tuple[int, int]] = (),
    *,
    unit: UnitFacts = UNIT,
    flow: Flow | None = None,
    pid: int = 42,
    parent: int = 7,
    started: int = 1,
    ending: int = EXIT,
    signal: int = 0,
) -> str:
    """A raw file beside the program; frames are (thread, address)."""
    path = Path(program).parent / name
    counts = counts_of(unit, {"main": walk(rounds) if flow is None else flow})
    active = [(thread, 0, CODE_AT + at) for thread, at in frames]
    path.write_bytes(
        raw_bytes(
            [(0, program)],
            [(unit.id, 0, counts)],
            active,
            pid=pid,
            parent=parent,
            started=started,
            ending=ending,
            signal=signal,
        )
    )
    return str(path)


@pytest.fixture
def three(program: str) -> Profile:
    """A parent and two children; the second was ended by a signal inside a call of ``main``."""
    return collect(
        [
            write(program, "2.raw", 20, pid=11, parent=10, started=200),
            write(program, "1.raw", 10, pid=10, parent=1, started=100),
            write(
                program,
                "3.raw",
                30,
                [(0, 0x18), (1, 0x28), (1, 0x34)],
                flow={"a>b": 1, "b>b": 30},
                pid=12,
                parent=10,
                started=300,
                ending=SIGNAL,
                signal=11,
            ),
        ]
    )


def test_processes_are_distinguished(three: Profile) -> None:
    assert [(p.name, p.pid, p.parent, p.ending, p.signal) for p in three.processes] == [
        ("10", 10, 1, Ending.EXIT, 0),
        ("11", 11, 10, Ending.EXIT, 0),
        ("12", 12, 10, Ending.SIGNAL, 11),
    ]
    assert [p.executed for p in three.processes] == [13, 23, 33]
    assert (
        sum(three.functions["main"].block_counts[:-1]) + sum(three.functions["exits"].block_counts[:-1]) == 69
    )
    assert three.messages == ("process 12 ended by SIGSEGV",)
    assert family(three.processes) == [(0, 0), (1, 1), (1, 2)]


def test_one_process_alone(three: Profile) -> None:
    first = only(three, "11", "x.trod")
    assert list(first.functions["main"].block_counts) == [1, 21, 1, 1]
    assert first.messages == ()
    assert [p.name for p in first.processes] == ["11"]
    assert first.threads == ()
    last = only(three, "12", "x.trod")
    assert list(last.functions["main"].block_counts) == [1, 31, 0, 1]
    assert last.functions["main"].cut_short == {1: 1}
    assert last.messages == three.messages
    assert [thread.process for thread in last.threads] == [0, 0]


def test_processes_add_up_to_the_whole(three: Profile) -> None:
    for key, function_profile in three.functions.items():
        parts = [only(three, p.name, "x").functions[key].block_counts for p in three.processes]
        assert [sum(counts) for counts in zip(*parts, strict=True)] == list(function_profile.block_counts)


def test_unknown_processes_are_refused(three: Profile) -> None:
    with pytest.raises(UsageError, match="no process 13; it has 10, 11, 12"):
        only(three, "13", "x.trod")
    with pytest.raises(UsageError, match="has no counts of single processes"):
        only(replace(three, processes=()), "10", "x.trod")


def test_threads_of_what_did_not_end_by_itself(three: Profile) -> None:
    assert three.threads == (
        StoppedThread(2, 0, None, (StoppedFrame(UNIT.id, 0, 1, position=0),)),
        StoppedThread(2, 1, None, (StoppedFrame(UNIT.id, 1, 0, position=0), StoppedFrame(UNIT.id, 0, None))),
    )


def test_an_exit_in_a_call_is_not_listed_but_running_threads_are(program: str) -> None:
    plain = write(program, "1.raw", 3, [(0, 0x18)], flow={"a>b": 1, "b>b": 3}, pid=1, started=1)
    assert collect([plain]).threads == ()
    beside = write(program, "1.raw", 3, [(3, 0x18)], flow={"a>b": 1, "b>b": 3}, pid=1, started=1)
    (thread,) = collect([beside]).threads
    assert (thread.number, len(thread.frames)) == (3, 1)


def test_a_single_process_needs_no_counts_of_its_own(program: str) -> None:
    profile = collect([write(program, "1.raw", 3)])
    (process,) = profile.processes
    assert (process.unit_counts, process.executed) == ((), None)
    assert only(profile, "42", "x") == profile


def _process(pid: int, started: int, ending: Ending = Ending.EXIT, parent: int = 1) -> Process:
    return Process("", pid, parent, started, "prog", ending)


def test_images_of_one_process_have_numbers() -> None:
    images = named_processes([_process(7, 1, Ending.EXEC), _process(7, 2), _process(8, 3, parent=7)])
    assert [image.name for image in images] == ["7.1", "7.2", "8"]
    assert family(images) == [(0, 0), (1, 1), (2, 2)]


def test_a_reused_pid_is_another_process() -> None:
    assert family(named_processes([_process(7, 1), _process(9, 2, parent=7), _process(7, 3)])) == [
        (0, 0),
        (1, 1),
        (0, 2),
    ]


def test_an_ambiguous_pid_needs_a_number(program: str) -> None:
    profile = collect([write(program, f"{n}.raw", n, pid=5, started=n) for n in (1, 2)])
    assert [process.name for process in profile.processes] == ["5.1", "5.2"]
    with pytest.raises(UsageError, match=r"5 is the pid of several processes: name one of 5\.1, 5\.2"):
        only(profile, "5", "x.trod")
    assert only(profile, "5.2", "x.trod").functions["main"].block_counts[1] == 3


def test_profiles_keep_processes_and_threads(three: Profile, tmp_path: Path) -> None:
    lasts = (LastPath(UNIT.id, 0, 0),)
    assert UNIT.functions[0].plan.paths is None
    path = tmp_path / "x.trod"
    save(three, path)
    assert load(path) == three
    threads = (replace(three.threads[0], last=lasts), *three.threads[1:])
    with pytest.raises(BadFile, match="a last path does not exist"):
        from_bytes(to_bytes(replace(three, threads=threads)), "x")


def test_profiles_without_processes_are_read_as_before(three: Profile) -> None:
    document, _ = unseal(MAGIC, to_bytes(three), "x")
    del document["processes"], document["threads"]
    older = from_bytes(seal(MAGIC, document), "x")
    assert (older.processes, older.threads) == ((), ())
    assert older.functions == three.functions


def test_everything_in_a_profile_is_validated(three: Profile) -> None:
    document, _ = unseal(MAGIC, to_bytes(three), "x")
    refused = Counter[str]()
    for part in ("processes", "threads"):
        for position in positions_in(document[part], (part,)):
            for wrong in WRONG:
                try:
                    from_bytes(seal(MAGIC, with_wrong(document, position, wrong)), "x")
                except BadFile:
                    refused[part] += 1
    assert min(refused["processes"], refused["threads"]) > 50


def test_a_directory_stands_for_the_raw_files_in_it(program: str, tmp_path: Path) -> None:
    folder = tmp_path / "raws"
    folder.mkdir()
    for number in (1, 2):
        write(program, f"raws/{number}.raw", number, pid=number, started=number)
    write(program, "raws/other", 3, pid=3, started=3)
    (folder / ".4.raw").write_bytes(b"TRODRAW1 hidden")
    (folder / "notes.txt").write_text("not a raw file")
    (folder / "1.raw.live").write_bytes((folder / "2.raw").read_bytes())
    (folder / "2.raw").unlink()
    assert [p.pid for p in collect([folder]).processes] == [2, 3]
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(InputMissing, match="no raw file in it"):
        collect([empty])


def test_a_raw_file_given_twice_counts_once(program: str, tmp_path: Path) -> None:
    raw = write(program, "1.raw", 5)
    copy = tmp_path / "2.raw"
    copy.write_bytes(Path(raw).read_bytes())
    profile = collect([raw, copy, raw])
    assert profile.functions["main"].block_counts[1] == 6
    assert profile.messages == (
        f"{copy}: is the same as {raw}; it is counted once",
        f"{raw}: is the same as {raw}; it is counted once",
    )


def test_damaged_files_are_named_and_left_out(program: str, tmp_path: Path) -> None:
    good = write(program, "1.raw", 5)
    bad = tmp_path / "2.raw"
    bad.write_bytes(Path(good).read_bytes()[:-1])
    collected = collect_all([bad, good])
    assert [line.startswith(f"{bad}: truncated") for line in collected.left_out.messages] == [True]
    assert collected.profile.messages == collected.left_out.messages
    assert collected.profile.functions["main"].block_counts[1] == 6
    with pytest.raises(BadFile, match="truncated"):
        collect([bad, bad])


def test_a_file_that_is_left_out_has_no_effect(program: str, tmp_path: Path) -> None:
    """A raw file of another build: nothing of it may be counted."""
    good = write(program, "1.raw", 5)
    other = unit_of(function("main", LOOP, {"a": [7]}))
    bad = write(program, "2.raw", 9, unit=other)
    collected = collect_all([good, bad])
    assert collected.left_out.number == 1
    assert collected.profile == replace(collect([good]), messages=collected.left_out.messages)
    with pytest.raises(OtherBuild):
        collect([bad])


def test_a_killed_process_is_completed(program: str) -> None:
    """``main`` is known to have iterated its loop, but not to have left it."""
    path = write(program, "1.raw", 0, flow={"a>b": 1, "b>b": 8, "b>c": 0, "c>exit": 0}, pid=9)
    facts = read_program(program)
    raw = replace(read_raw(path), ending=Ending.KILLED, counts_missing=True)
    plan = every_edge(UNIT.functions[0].graph)
    unit = unit_of(function("main", LOOP, planner=lambda graph: plan))
    counts = counts_of(unit, {"main": {"a>b": 1, "b>b": 8}})
    other = replace(facts, units={unit.id: unit})
    killed = replace(raw, units=(RawUnit(unit.id, 0, counts),))
    process = count_process(killed, {0: other}, FrameLocator)
    (counted,) = process.unit_counts
    assert counted.active == {(0, 1): 1}
    assert process.completed == ((unit.id, 0),)
    assert process.messages == (
        " was killed (or ended unseen): functions active then are not known,"
        " counts may be off by one for each of them",
        ": counts were completed in main",
        ": not all of its counts were in the file; those of some threads or libraries are missing",
    )
    exited = count_process(replace(killed, ending=Ending.EXIT), {0: other}, FrameLocator)
    assert (exited.completed, exited.unit_counts[0].active) == ((), {})


def test_merging_keeps_how_many_there_were(three: Profile, tmp_path: Path) -> None:
    names = [str(tmp_path / f"{number}.trod") for number in range(3)]
    for name in names[:2]:
        save(three, name)
    save(merge(names[:2]).profile, names[2])
    merged = merge([names[2], names[0]]).profile
    assert (merged.processes, merged.threads, merged.merged) == ((), (), 3)
    assert load(names[2]).merged == 2
    assert merged.functions["main"].block_counts[1] == 3 * three.functions["main"].block_counts[1]
    summary = summarise(merged)
    assert summary.to_document()["merged"] == 3
    assert "merged\t3\n" in to_plain(summary)
    assert to_document(merged)["merged"] == 3


def test_signals_have_names() -> None:
    assert (signal_name(9), signal_name(35)) == ("SIGKILL", "signal 35")
