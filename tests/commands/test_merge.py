"""``trodden merge`` as people call it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import trodden
from tests.commands.calling import ENVIRONMENT, at_a_terminal, process
from tests.profile.making import function, profile_of, unit_of
from trodden.errors import LeftOut
from trodden.profile.store.trod import load, save

SHAPE = "a>b a>c b>d c>d d>exit"


def _flow(times: int) -> dict[str, int]:
    return {"a>b": times, "a>c": 1, "b>d": times, "c>d": 1, "d>exit": times + 1}


@pytest.fixture
def runs(tmp_path: Path) -> list[str]:
    unit = unit_of(function("f", SHAPE))
    names = [str(tmp_path / f"{number}.trod") for number in range(4)]
    for number, name in enumerate(names):
        save(profile_of(unit, {"f": _flow(number)}), name)
    return names


def _entries(path: Path) -> float:
    return load(path).functions["f"].entries


def test_all_went_in(runs: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.trod"
    done = process("merge", *runs, "-o", str(out))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert _entries(out) == 0 + 1 + 2 + 3 + 4


def test_some_were_left_out(runs: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.trod"
    Path(runs[1]).write_bytes(Path(runs[1]).read_bytes()[:-5])
    done = process("merge", *runs, "/nowhere", "-o", str(out))
    assert done.returncode == 101
    lines = done.stderr.splitlines()
    assert lines[0] == f"trodden: {runs[1]}: truncated: 5 bytes are missing at its end (left out)"
    assert lines[1].startswith("trodden: /nowhere: cannot be read")
    assert lines[2:] == [f"trodden: {out}: written without 2 of 5 profiles, named above"]
    assert _entries(out) == 0 + 2 + 3 + 3
    report = process("report", str(out)).stdout
    assert "note\t2 of 5 profiles were left out of the merge\n" in report
    assert f"note\t{runs[1]}: truncated" in report


def test_strict_writes_nothing_then(runs: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.trod"
    out.write_text("before")
    done = process("merge", *runs, "/nowhere", "--strict", "-o", str(out))
    assert (done.returncode, out.read_text()) == (101, "before")
    assert done.stderr.splitlines()[-1] == "trodden: 1 of 5 profiles cannot be merged; nothing was written"


def test_none_was_good(tmp_path: Path) -> None:
    out = tmp_path / "out.trod"
    out.write_text("before")
    done = process("merge", "/nowhere", "-o", str(out))
    assert (done.returncode, out.read_text()) == (93, "before")


def test_names_from_lists(runs: list[str], tmp_path: Path) -> None:
    listed = tmp_path / "list"
    listed.write_text(f"{runs[0]}\n\n{runs[1]}\r\n")
    out = tmp_path / "out.trod"
    command = [sys.executable, "-m", "trodden", "merge", f"@{listed}", runs[2], "-", "-o", str(out)]
    done = subprocess.run(
        command, input=runs[3], capture_output=True, text=True, env=ENVIRONMENT, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert _entries(out) == 10
    missing = process("merge", "@/nowhere", "-o", str(out))
    assert (missing.returncode, missing.stderr.startswith("trodden: /nowhere: cannot be read")) == (91, True)


def test_the_result_may_take_the_place_of_an_input(runs: list[str]) -> None:
    assert process("merge", *runs, "-o", runs[0]).returncode == 0
    assert _entries(Path(runs[0])) == 10


def test_the_result_needs_a_place(runs: list[str], tmp_path: Path) -> None:
    assert process("merge", *runs).returncode == 2
    assert process("merge", *runs, "-o", str(tmp_path)).returncode == 97


def test_functions_of_other_builds_are_listed(runs: list[str], tmp_path: Path) -> None:
    others = [function(f"g{number}", "a>exit") for number in range(30)]
    unit = unit_of(function("f", SHAPE), *others, files=["/other/a.c"])
    other, out = str(tmp_path / "other.trod"), str(tmp_path / "out.trod")
    save(profile_of(unit, {"f": _flow(10), "g7": {"a>exit": 1}}), other)
    done = process("merge", runs[0], other, "-o", out)
    assert done.returncode == 0
    lines = done.stderr.splitlines()
    reason = "was not joined: the other build has no such function"
    assert lines[0] == f"trodden: note: g7 of {other} {reason}"
    assert len(lines) == 21
    assert lines[-1] == f"trodden: note: and 10 more functions; {out} has the others in its messages"
    assert sum(reason in note for note in load(out).messages) == 30
    assert _entries(Path(out)) == 12


def test_evidence(runs: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.trod"
    done = process("merge", *runs, "--combine", "evidence", "-o", str(out))
    assert (done.returncode, done.stderr) == (0, "")
    assert "not the counts of any one run" in process("report", str(out)).stdout


def test_from_python(runs: list[str], tmp_path: Path) -> None:
    out = tmp_path / "out.trod"
    merged = trodden.merge(*map(Path, runs), "/nowhere", output=out)
    assert (merged.taken, merged.left_out) == (4, 1)
    assert load(out) == merged.profile
    with pytest.raises(LeftOut):
        trodden.merge(*runs, "/nowhere", strict=True)


def test_names_cannot_order_a_terminal_about(runs: list[str], tmp_path: Path) -> None:
    other, out = str(tmp_path / "other.trod"), str(tmp_path / "out.trod")
    unit = unit_of(function("f", SHAPE), function("\x1b[2Jg", "a>exit"), files=["/other/a.c"])
    save(profile_of(unit, {"f": _flow(1)}), other)
    said = process("merge", runs[0], other, "/no\x1bwhere", "-o", out).stderr
    assert "\x1b" not in said
    assert "g of " in said
    assert "where: cannot be read" in said


def test_progress_at_a_terminal(runs: list[str], tmp_path: Path) -> None:
    again = tmp_path / "again.trod"
    again.symlink_to(runs[0])
    shown = at_a_terminal("merge", *runs, str(again), "-o", str(tmp_path / "out.trod"))
    assert re.search(r"\d/5", shown)
    assert f"{again}: was given before; it is counted once" in shown
