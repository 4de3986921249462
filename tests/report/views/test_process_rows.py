"""What reports say of processes and of threads that were stopped."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands.calling import at_a_terminal, click, process
from tests.profile.walking import stored
from tests.report.printed import rows_of, text_of, wide_console
from tests.report.sample_paths import GOOD, run
from trodden.collect.endings import LastPath, Process, StoppedFrame, StoppedThread
from trodden.collect.rawfile.model import Ending
from trodden.plan.paths.numbering import Numbering
from trodden.profile.model import Profile
from trodden.profile.store.trod import save
from trodden.report.render.plain import to_plain
from trodden.report.render.terminal import print_tables
from trodden.report.views.summary import summarise


def _number(profile: Profile, function: int, labels: str) -> int:
    """The number of the path of a function through some blocks."""
    facts = profile.units[0].functions[function]
    assert facts.plan.paths is not None
    numbering = Numbering(facts.graph, facts.plan.paths)
    for path in range(numbering.number):
        if [facts.graph.labels[block] for block in numbering.regenerate(path).blocks] == labels.split():
            return path
    raise AssertionError(labels)


def _block(profile: Profile, function: int, label: str) -> int:
    return profile.units[0].functions[function].graph.labels.index(label)


@pytest.fixture
def crashed(tmp_path: Path) -> Profile:
    """``classify`` was interrupted in a branch; ``handle`` had called it.  A child was killed."""
    profile = stored(run(GOOD, tmp_path))
    unit = profile.units[0].id
    frames = (
        StoppedFrame(unit, 0, _block(profile, 0, "pos"), interrupted=True),
        StoppedFrame(unit, 1, _block(profile, 1, "in")),
        StoppedFrame(unit, 2, None),
    )
    last = (
        LastPath(unit, 0, _number(profile, 0, "in pos odd out")),
        LastPath(unit, 0, _number(profile, 0, "in pos even out")),
    )
    processes = (
        Process("10", 10, 1, 100, "/bin/prog", Ending.SIGNAL, 11, 90, profile.unit_counts),
        Process("11", 11, 10, 200, "/bin/prog", Ending.KILLED, 0, 10, completed=((unit, 1),)),
    )
    thread = StoppedThread(0, 3, 1234, frames, 2, last)
    return replace(profile, processes=processes, threads=(thread,))


def test_rows(crashed: Profile) -> None:
    rows = rows_of(to_plain(summarise(crashed)))
    found = [
        row for row in rows if row[0] in ("process", "completed", "thread", "frame", "unfinished", "last")
    ]
    assert found[:3] == [
        ["process", "10", "1", "0", "/bin/prog", "SIGSEGV", "90", "0.900000"],
        ["process", "11", "10", "1", "/bin/prog", "killed, or ended unseen", "10", "0.100000"],
        ["completed", "11", "handle"],
    ]
    assert found[3] == ["thread", "10", "3", "1234", "3", "2", "2"]
    kinds = [(row[0], row[4]) for row in found[4:]]
    assert kinds == [
        ("frame", "classify"),
        ("unfinished", "starts at the function entry (line 2)"),
        ("frame", "handle"),
        ("unfinished", "starts at the function entry (line 10)"),
        ("frame", "complain"),
        ("last", "classify"),
        ("last", "classify"),
    ]
    assert found[4][5:7] == ["pos", crashed.functions["classify"].file]
    assert found[4][7:] == ["4", "4", "interrupted", ""]
    assert found[5][5] == "2: x < 0: false"
    assert found[6][7:] == ["10", "10", "in a call", ""]
    assert found[8][5:] == ["", crashed.functions["complain"].file, "19", "19", "in a call", ""]
    assert found[9][6:] == [
        "starts at the function entry (line 2)",
        "2: x < 0: false → 4: x % 2: true → 5: return 1;",
        "exits the function at line 7",
    ]


def test_the_last_paths_can_be_limited(crashed: Profile) -> None:
    (thread,) = summarise(crashed, top=1).threads
    assert [last.description.steps_text() for last in thread.last] == [
        "2: x < 0: false → 4: x % 2: false → 6: return 2;"
    ]


def test_json(crashed: Profile) -> None:
    document = json.loads(json.dumps(summarise(crashed).to_document()))
    assert [(each["name"], each["how"], each["depth"]) for each in document["processes"]] == [
        ("10", "SIGSEGV", 0),
        ("11", "killed, or ended unseen", 1),
    ]
    assert document["processes"][1]["completed"] == ["handle"]
    (thread,) = document["threads"]
    assert (thread["process"], thread["number"], thread["tid"], thread["left_out"]) == ("10", 3, 1234, 2)
    first = thread["frames"][0]
    assert (first["function"], first["line"], first["interrupted"]) == ("classify", 4, True)
    assert first["unfinished"]["starts"] == "starts at the function entry (line 2)"
    assert [step["outcome"] for step in first["unfinished"]["steps"]] == ["x < 0: false"]
    assert [last["function"] for last in thread["last"]] == ["classify", "classify"]


def test_terminal(crashed: Profile) -> None:
    console = wide_console()
    print_tables(summarise(crashed), console)
    text = text_of(console)
    assert text.index("process 10 ended by SIGSEGV") < text.index("Functions by IR instructions executed")
    for wanted in (
        "└ 11",
        "thread 3 (1234) of process 10",
        "classify  interrupted by SIGSEGV at ",
        "starts at the function entry (line 2) → 2: x < 0: false",
        "handle  in a call at ",
        "… and 2 more",
        "the last 2 paths that it executed:",
        "process 11: counts completed in handle",
    ):
        assert wanted in text


def test_a_single_normal_exit_is_not_reported(crashed: Profile) -> None:
    ended = replace(crashed.processes[0], ending=Ending.EXIT, signal=0)
    quiet = replace(crashed, processes=(ended,), threads=())
    console = wide_console()
    print_tables(summarise(quiet), console)
    assert "rocess" not in text_of(console)


def test_a_killed_process_alone_is_reported(crashed: Profile) -> None:
    console = wide_console()
    print_tables(summarise(replace(crashed, processes=crashed.processes[1:], threads=())), console)
    assert "process 11 was killed, or ended unseen" in text_of(console)


def test_a_process_that_became_another_program_is_no_ending(crashed: Profile) -> None:
    became = replace(crashed.processes[0], ending=Ending.EXEC, signal=0)
    thread = replace(crashed.threads[0], process=0)
    console = wide_console()
    print_tables(summarise(replace(crashed, processes=(became,), threads=(thread,))), console)
    assert f"process {became.name} became another program (exec)" in text_of(console)


def test_verbs_show_one_process(crashed: Profile, tmp_path: Path) -> None:
    file = tmp_path / "x.trod"
    save(crashed, file)
    alone = json.loads(click("report", file, "--process", "11", "--json").output)
    assert [each["name"] for each in alone["processes"]] == ["11"]
    assert (alone["walked"], alone["threads"]) == (0, [])
    whole = json.loads(click("report", file, "--process", "10", "--json").output)
    assert (whole["walked"], len(whole["threads"])) == (2, 1)
    exported = json.loads(click("export", file).output)
    assert [each["ending"] for each in exported["processes"]] == ["signal", "killed"]
    assert exported["processes"][0]["signal"] == "SIGSEGV"
    assert exported["threads"][0]["frames"][0] == {
        "function": "classify",
        "block": "pos",
        "interrupted": True,
    }
    for verb in ("stats", "coverage", "annotate", "export"):
        assert click(verb, file, "--process", "10").exit_code == 0
    assert json.loads(click("stats", file, "--process", "11", "--json").output) != json.loads(
        click("stats", file, "--json").output
    )
    pair = str(file), str(file), "--exit-code"
    assert process("diff", *pair, "--process", "10", "--process", "11").returncode == 1
    assert process("diff", *pair, "--process", "10").returncode == 0
    assert process("diff", *pair, *["--process", "10"] * 3).returncode == 2
    refused = process("report", str(file), "--process", "12")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "there is no process 12; it has 10, 11" in refused.stderr
    assert "process 10 ended by" in at_a_terminal("report", str(file))
