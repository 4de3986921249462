"""``trodden calibrate``, on profiles written down and on a program that is built and run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tests.commands.calling import at_a_terminal, click
from tests.profile.making import function, profile_of, unit_of
from trodden.commands.main import main
from trodden.plan.counters.blocks import every_block
from trodden.profile.estimated import Expected, estimated
from trodden.profile.model import Estimate
from trodden.profile.store.trod import save
from trodden.program.facts import UnitFacts
from trodden.weigh.calibrate.fitting import WEIGHINGS
from trodden.weigh.features.block_features import (
    BlockEnding,
    BlockFeatures,
    Comparison,
    FunctionFeatures,
    OperandType,
    Relation,
    RightOperand,
)
from trodden.weigh.heuristics.rates import Measured, load_rates

SHAPE = "a>b a>c b>exit c>c c>exit"
RAN = {"f": {"a>b": 10, "a>c": 90, "b>exit": 10, "c>c": 810, "c>exit": 90}}
CLUES = (
    BlockFeatures(test=Comparison(Relation.EQUAL, OperandType.POINTER, RightOperand.ZERO)),
    BlockFeatures(ending=BlockEnding.RETURNS),
    BlockFeatures(ending=BlockEnding.RETURNS),
)
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
struct item { struct item *next; int value; };
int main(int argc, char **argv) {
    struct item *all = NULL;
    long sum = 0;
    for (int i = 0; i < 100 * argc; i++) {
        struct item *made = malloc(sizeof *made);
        if (made == NULL) { fprintf(stderr, "%s: no memory\\n", argv[0]); exit(3); }
        made->value = i; made->next = all; all = made;
    }
    for (struct item *each = all; each != NULL; each = each->next) sum += each->value;
    return sum == 0;
}
"""


def _unit(features: tuple[BlockFeatures, ...] = CLUES) -> UnitFacts:
    return unit_of(replace(function("f", SHAPE), features=FunctionFeatures(features)))


@pytest.fixture
def ran(tmp_path: Path) -> Path:
    save(profile_of(_unit(), RAN), tmp_path / "ran.trod")
    return tmp_path / "ran.trod"


def test_coverage_and_hit_rates_beside_those_of_the_paper(ran: Path) -> None:
    document = json.loads(click("calibrate", ran, "--json").stdout)
    rows = {row["key"]: row for row in document["heuristics"]}
    assert document["branches"] == 2
    assert rows["pointer"]["says"] == "a pointer is not null, two are not equal"
    assert {key: rows["pointer"][key] for key in ("branches", "coverage", "hit_rate", "wl94")} == {
        "branches": 1,
        "coverage": 1.0,
        "hit_rate": 0.9,
        "wl94": 0.6,
    }
    assert rows["loop-branch"]["hit_rate"] == 0.9
    assert rows["loop-branch"]["coverage"] == 1.0
    assert (rows["loop-branch"]["short"], rows["pointer-equal-zero"]["short"]) == ("LBH", "")
    assert rows["pointer-equal-zero"]["wl94"] is None
    assert document["right"] == {"wl94": 0.9, "rates": 0.9, "at_best": 0.9}


def test_plain_rows(ran: Path) -> None:
    text = click("calibrate", ran, "--fit", "hits", "--weigh", "executions").stdout
    rows = [line.split("\t") for line in text.splitlines()]
    assert rows[0][0] == "#heuristic"
    assert ["heuristic", "loop-branch", "1", "1.0000", "0.9000", "0.8996", "0.8800"] in [
        row[:7] for row in rows
    ]
    unpaid = next(row for row in rows if row[1] == "pointer-equal-zero")
    assert unpaid[5:7] == ["", ""]
    assert rows[-1] == ["right", "at best", "0.9000"]


def test_a_table_at_a_terminal(ran: Path) -> None:
    text = at_a_terminal("calibrate", str(ran))
    assert "Heuristics on the executed branches" in text
    assert "loop-branch LBH" in text
    assert (
        "2 branches; predicted correctly: 90.0% of executions by these rates, 90.0% by those of WL94" in text
    )


def test_rates_are_written_for_the_estimate(ran: Path, tmp_path: Path) -> None:
    file = tmp_path / "ours.json"
    assert click("calibrate", ran, "-o", file).exit_code == 0
    rates = load_rates(str(file))
    assert rates.name == "ours"
    assert rates.programs == ("prog",)
    assert rates.measured["pointer"] == Measured(1.0, 0.9, 1)
    assert 0.5 < rates.taken["loop-branch"] < 0.9
    assert click("calibrate", ran, "-o", file, "--name", "others", "--fit", "hits").exit_code == 0
    again = load_rates(str(file))
    assert again.name == "others"
    assert set(again.taken) == {"loop-branch", "pointer", "loop-header"}
    document = json.loads(click("calibrate", ran, "-o", "-").stdout)
    assert document["format"] == "trodden rates"


def test_more_profiles_weigh_more(ran: Path) -> None:
    def rate(*files: Path) -> float:
        document = json.loads(click("calibrate", *files, "--json").stdout)
        return float(next(row["rate"] for row in document["heuristics"] if row["key"] == "loop-branch"))

    copies = [ran.with_name(f"{number}.trod") for number in range(3)]
    for copy in copies:
        copy.write_bytes(ran.read_bytes())
    assert rate(ran) < rate(*copies)


def test_what_cannot_be_calibrated_with(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    unit = _unit()
    parallel = replace(function("f", "a>b a>b b>exit"), features=FunctionFeatures(CLUES[:2]))
    blocks = replace(parallel, plan=every_block(parallel.graph))
    made = {
        "old": (profile_of(_unit(()), RAN), "has no features of branches: its program was built by"),
        "blocks": (
            profile_of(unit_of(blocks), {"f": {"@a": 1, "a>b": 1, "b>exit": 1}}),
            "has block counts only; build and run the program",
        ),
        "idle": (profile_of(unit, {}), "no branch has run"),
        "guess": (
            estimated("/bin/prog", [unit], [Expected(1, [0.1, 0.9, 0.1, 8, 0.9, 1])], Estimate("wl94")),
            "is an estimate",
        ),
    }
    for name, (profile, complaint) in made.items():
        file = tmp_path / f"{name}.trod"
        save(profile, file)
        output = tmp_path / "kept.json"
        output.write_text("kept")
        assert main(["calibrate", str(file), "-o", str(output)]) == 2
        error = capsys.readouterr().err
        assert error.startswith(f"trodden: {file}: {complaint}"), name
        assert error.count("\n") == 1
        assert output.read_text() == "kept"


@pytest.mark.parametrize("weighing", WEIGHINGS)
def test_branches_may_weigh_otherwise(ran: Path, weighing: str) -> None:
    document = json.loads(click("calibrate", ran, "--weigh", weighing, "--json").stdout)
    assert all(0 < row["rate"] < 1 for row in document["heuristics"])


@pytest.mark.parametrize("level", ["-O0", "-O1"])
def test_a_program_that_is_built_and_run(tmp_path: Path, level: str) -> None:
    source, program, profile = tmp_path / "list.c", tmp_path / "list", tmp_path / "list.trod"
    source.write_text(PROGRAM)
    assert main(["cc", level, str(source), "-o", str(program)]) == 0
    assert main(["run", "-o", str(profile), str(program)]) == 0
    document = json.loads(click("calibrate", profile, "--json").stdout)
    rows = {row["key"]: row for row in document["heuristics"]}
    assert rows["ends-badly"]["hit_rate"] == 1.0
    assert rows["pointer" if level == "-O0" else "pointer-equal-zero"]["hit_rate"] >= 0.9
    assert document["right"]["rates"] >= 0.9


def test_rates_from_few_programs_have_a_note(ran: Path) -> None:
    note = "trodden: note: rates from fewer than 5 programs say more about these than about others\n"
    assert click("calibrate", ran, "-o", "-").stderr == note
    copies = [ran.with_name(f"{number}.trod") for number in range(5)]
    for copy in copies:
        copy.write_bytes(ran.read_bytes())
    assert click("calibrate", *copies[:4]).stderr == note
    assert click("calibrate", *copies).stderr == ""


def test_rates_have_names_that_can_be_printed(ran: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = ran.with_name("o\x1bdd.json")
    assert main(["calibrate", str(ran), "-o", str(odd)]) == 2
    assert "give the rates another --name" in capsys.readouterr().err
    assert not odd.exists()
    assert main(["calibrate", str(ran), "-o", str(odd), "--name", "plain"]) == 0
    assert load_rates(str(odd)).name == "plain"
    assert json.loads(click("calibrate", ran, "-o", "-").stdout)["name"] == "fitted"
