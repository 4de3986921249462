"""``trodden score``, through click, as a process of its own and at a terminal."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands.calling import at_a_terminal, click, process
from tests.profile.making import function, profile_of, unit_of
from trodden.profile.estimated import Expected, estimated
from trodden.profile.model import Estimate
from trodden.profile.store.trod import save
from trodden.program.facts import UnitFacts
from trodden.weigh.features.block_features import BlockFeatures, CallFeatures, FunctionFeatures

KINDS = ["local_blocks", "local_edges", "invocations", "calls", "global_blocks", "global_edges"]
FLOWS = {
    "main": {"a>b": 1, "b>b": 9, "b>c": 1, "c>exit": 1},
    "step": {"x>y": 8, "x>z": 2, "y>exit": 8, "z>exit": 2},
}


def _unit() -> UnitFacts:
    calls = (
        BlockFeatures(),
        BlockFeatures(calls=(CallFeatures("step"),)),
        BlockFeatures(calls=(CallFeatures("exit"),)),
    )
    main = replace(function("main", "a>b b>b b>c c>exit"), features=FunctionFeatures(calls))
    return unit_of(main, function("step", "x>y x>z y>exit z>exit"))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A run, an estimate that mispredicts the branch in ``step``, and another program."""
    unit = _unit()
    save(profile_of(unit, FLOWS), tmp_path / "run.trod")
    expected = [Expected(1, [1, 7.3, 1, 1, 1]), Expected(8.3, [0.2, 0.8, 0.2, 0.8, 1])]
    save(estimated("/bin/prog", [unit], expected, Estimate("wl94")), tmp_path / "guess.trod")
    save(profile_of(unit_of(function("f", "x>exit")), {}), tmp_path / "other.trod")
    return tmp_path


def test_json_holds_the_scores_and_nothing_else(folder: Path) -> None:
    document = json.loads(click("score", folder / "guess.trod", folder / "run.trod", "--json").output)
    assert list(document) == ["schema", "version", *KINDS]
    for kind in KINDS:
        assert list(document[kind]) == ["10", "20", "30", "40", "50"]
        assert all(list(each) == ["weighted", "unweighted"] for each in document[kind].values())
    assert document["invocations"]["50"] == {"weighted": 1.0, "unweighted": 1.0}
    assert document["calls"]["50"] == {"weighted": 1.0, "unweighted": 1.0}
    assert document["local_edges"]["20"] == {"weighted": 0.5, "unweighted": 0.5}


def test_a_run_predicts_itself(folder: Path) -> None:
    document = json.loads(click("score", folder / "run.trod", folder / "run.trod", "--json").output)
    figures = {figure for kind in KINDS for each in document[kind].values() for figure in each.values()}
    assert figures == {1.0}


def test_plain_rows(folder: Path) -> None:
    rows = [
        line.split("\t")
        for line in click("score", folder / "guess.trod", folder / "run.trod").output.splitlines()
    ]
    assert rows[0] == ["#score", "of", "percent", "weighted", "unweighted", "items"]
    assert [row[1] for row in rows if row[0] == "score"][::5] == KINDS
    assert ["score", "calls", "50", "1.000000", "1.000000", "1"] in rows
    assert rows[-1] == ["#unpaired", "function", "profile", "reason"]


def test_what_is_not_in_both_is_named(folder: Path) -> None:
    alone = profile_of(unit_of(_unit().functions[0]), FLOWS)
    save(alone, folder / "alone.trod")
    output = click("score", folder / "alone.trod", folder / "run.trod").output
    assert f"\nunpaired\tstep\t{folder / 'run.trod'}\tthe other build has no such function\n" in output


def test_what_cannot_be_scored_is_empty(folder: Path) -> None:
    """Nothing of the other program has run, and nothing is known of its calls."""
    document = json.loads(click("score", folder / "other.trod", folder / "other.trod", "--json").output)
    assert document["calls"]["20"] == {"weighted": None, "unweighted": None}
    assert "\nscore\tcalls\t20\t\t\t\n" in click("score", folder / "other.trod", folder / "other.trod").output


def test_at_a_terminal(folder: Path) -> None:
    shown = at_a_terminal("score", str(folder / "guess.trod"), str(folder / "run.trod"))
    assert "top 20%" in shown
    assert "1.00 (1.00)" in shown
    assert "0.72" in shown
    assert "local edges" in shown
    assert "2 functions in both" in shown


def test_a_function_that_differs_on_both_sides_is_one(folder: Path) -> None:
    other = unit_of(_unit().functions[0], function("step", "x>y y>exit"), function("more", "x>exit"))
    save(profile_of(other, {}), folder / "changed.trod")
    shown = at_a_terminal("score", str(folder / "changed.trod"), str(folder / "run.trod"))
    assert "2 functions are not in both profiles" in shown
    rows = click("score", folder / "changed.trod", folder / "run.trod").output.splitlines()
    assert [row.split("\t")[1] for row in rows if row.startswith("unpaired")] == ["step", "more", "step"]


def test_mistakes_are_told(folder: Path) -> None:
    run, guess, other = (str(folder / f"{name}.trod") for name in ("run", "guess", "other"))
    swapped = process("score", run, guess)
    assert swapped.returncode == 2
    assert swapped.stderr.startswith(f"trodden: {guess}: is an estimate, no profile of a run; name the")
    strangers = process("score", guess, other)
    assert (strangers.returncode, strangers.stdout) == (2, "")
    assert strangers.stderr == (
        f"trodden: {guess}, {other}: no function in common; "
        "score profiles of one program, built in the same way\n"
    )
    missing = process("score", guess, str(folder / "missing.trod"))
    assert missing.returncode == 91
    assert "missing.trod" in missing.stderr
