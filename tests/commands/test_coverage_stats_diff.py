"""coverage, stats and diff through click and as processes of their own."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from random import Random

import pytest

from tests.commands.calling import at_a_terminal, click, process
from tests.profile.sample import sample
from tests.profile.walking import stored
from tests.report.sample_paths import BAD, GOOD, run
from trodden.commands.main import main
from trodden.profile.store.trod import load, save


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Profiles of a good and a bad run, and one without paths."""
    for name, walks in (("good", GOOD), ("bad", BAD)):
        save(stored(run(walks, tmp_path)), tmp_path / f"{name}.trod")
    save(sample(str(tmp_path)), tmp_path / "edges.trod")
    return tmp_path


def test_profiles_come_back_from_their_files(folder: Path) -> None:
    profile = load(folder / "bad.trod")
    assert [path.count for path in profile.functions["classify"].paths or ()] == [620, 379, 1]


def test_coverage(folder: Path) -> None:
    plain = click("coverage", folder / "good.trod")
    assert plain.exit_code == 0
    assert "\nfunction\tclassify\t" in plain.output
    assert "\nnear\tclassify\t1\t1000\tnever\t" in plain.output
    assert "\nnear\t" not in click("coverage", folder / "good.trod", "--top", 0).output
    both = json.loads(click("coverage", folder / "good.trod", folder / "bad.trod", "--json").output)
    assert both["files"] == [str(folder / "good.trod"), str(folder / "bad.trod")]
    assert {each["name"]: each["paths"]["covered"] for each in both["functions"]} == {
        "classify": 3,
        "handle": 4,
        "complain": 1,
    }
    one = json.loads(click("coverage", folder / "good.trod", "--json", "--function", "han*").output)
    assert [each["name"] for each in one["functions"]] == ["handle"]


def test_coverage_can_be_asked_for(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good = str(folder / "good.trod")
    arguments = ["coverage", good, "--function", "classify", "--fail-under"]
    assert main([*arguments, "66"]) == 0
    capsys.readouterr()
    assert main([*arguments, "67"]) == 100
    captured = capsys.readouterr()
    assert "function\tclassify" in captured.out
    assert captured.err == ("trodden: 66.67% of the possible paths were executed, 2 of 3; 67% are required\n")
    assert main([*arguments, "100", "--json", str(folder / "bad.trod")]) == 0


def test_stats(folder: Path) -> None:
    plain = click("stats", folder / "good.trod")
    assert plain.exit_code == 0
    assert "\nprogram\t" in plain.output
    assert "\nfunction\t" not in plain.output
    assert "\nfunction\tclassify\t3\t2\t" in click("stats", folder / "good.trod", "--per-function").output
    document = json.loads(click("stats", folder / "good.trod", "--json", "--function", "classify").output)
    assert document["whole"]["paths"] == 2


def test_diff(folder: Path) -> None:
    plain = click("diff", folder / "good.trod", folder / "bad.trod")
    assert plain.exit_code == 0
    assert "\ndifference\t1\tparts\tclassify\t0\t1000\t1\t1000\t" in plain.output
    document = json.loads(click("diff", folder / "good.trod", folder / "bad.trod", "--json").output)
    assert document["differences"][0]["function"] == "classify"
    one = click("diff", folder / "good.trod", folder / "bad.trod", "--top", 1, "--function", "handle").output
    rows = [line.split("\t") for line in one.splitlines() if line.startswith("difference")]
    assert [row[2:4] for row in rows] == [["parts", "handle"]]
    edges = click("diff", folder / "edges.trod", folder / "edges.trod")
    assert "\ncommon\tedges\t" in edges.output


def test_the_exit_code_of_diff(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    good, bad = str(folder / "good.trod"), str(folder / "bad.trod")
    assert main(["diff", good, bad]) == 0
    assert main(["diff", good, bad, "--exit-code"]) == 1
    assert main(["diff", good, good, "--exit-code"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (
            ["coverage", "{}/good.trod"],
            ["Inputs to write next", "branched only to line 4 (x < 0: false), never to line 3 (x < 0: true)"],
        ),
        (["stats", "{}/good.trod", "--per-function"], ["Executed paths", "classify"]),
        (["diff", "{}/good.trod", "{}/bad.trod"], ["Where the runs diverge", "1 of 1,000 times"]),
    ],
)
def testat_a_terminal(folder: Path, arguments: Sequence[str], parts: Sequence[str]) -> None:
    text = at_a_terminal(*(argument.format(folder) for argument in arguments))
    assert "\t" not in text
    for part in parts:
        assert part in text


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["stats", "{}/edges.trod"], 2, "edges.trod holds no paths; run with --profile paths"),
        (["coverage"], 91, "name a profile; there is no trodden.trod here"),
        (["coverage", "{}/good.trod", "--fail-under", "101"], 2, "--fail-under 101: write a percentage"),
        (["coverage", "{}/good.trod", "--fail-under", "path=1"], 2, "some like branches=80,paths=20 of"),
        (["coverage", "{}/good.trod", "--source-dir", "x"], 2, "--source-dir x: write it as OLD=NEW"),
        (["coverage", "{}/good.trod", "--source-dir", "/nix=/y"], 2, "/nix: no source of the profile"),
        (["coverage", "{}/good.trod", "--include", "nix"], 2, "no function matches --include"),
        (["stats", "{}/good.trod", "--function", "nix"], 2, "no function matches 'nix'"),
        (["diff", "{}/good.trod"], 2, "Missing argument 'B'"),
        (["diff", "{}/good.trod", "{}/edges.trod"], 2, "have no function in common; compare runs of one"),
        (["diff", "{}/good.trod", "{}/gone.trod"], 91, "gone.trod: cannot be read"),
        (["diff", "{}/good.trod", "{}/bad.trod", "--function", "nix"], 2, "no function matches 'nix'"),
    ],
)
def test_what_makes_no_sense(
    folder: Path, capsys: pytest.CaptureFixture[str], arguments: Sequence[str], status: int, message: str
) -> None:
    assert main([argument.format(folder) for argument in arguments]) == status
    captured = capsys.readouterr()
    assert captured.out == ""
    assert message in captured.err
    assert len(captured.err.splitlines()) == 1


def test_help(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in ("coverage", "diff", "stats"):
        assert main([verb, "--help"]) == 0
        assert f"Usage: trodden {verb}" in capsys.readouterr().out


def _expression(random: Random, depth: int) -> str:
    if depth == 0 or random.random() < 0.3:
        return str(random.randint(1, 999))
    if random.random() < 0.2:
        return f"({_expression(random, depth - 1)})"
    return random.choice(["+", "-", "*", " * "]).join(_expression(random, depth - 1) for _ in range(2))


def _lines(seed: int, count: int, odd: str | None = None) -> str:
    random = Random(seed)
    lines = [_expression(random, 4) for _ in range(count)]
    if odd is not None:
        lines[count // 2] = odd
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("level", ["-O0", "-O2"])
def test_one_odd_line_among_many_of_a_real_program(tmp_path: Path, level: str) -> None:
    calculator = tmp_path / "calculator"
    source = Path(__file__).parent.parent / "native" / "programs" / "calculator.c"
    assert main(["cc", "--trodden-profile=paths", level, "-g", str(source), "-o", str(calculator)]) == 0
    inputs = {"good": _lines(1, 1000), "open": _lines(2, 1500, "(1+2*3"), "letter": _lines(3, 1200, "1+x*3")}
    for name, text in inputs.items():
        (tmp_path / name).write_text(text)
        done = process("run", "-q", "-o", f"{tmp_path}/{name}.trod", str(calculator), str(tmp_path / name))
        assert done.returncode == (0 if name == "good" else 1)
    lines = source.read_text().splitlines()
    for name, expected in (
        ("open", "if (*in->at == ')')"),
        ("letter", "if (!isdigit((unsigned char)*in->at))"),
    ):
        found = click("diff", tmp_path / "good.trod", tmp_path / f"{name}.trod", "--json", "--top", 1)
        first = json.loads(found.output)["differences"][0]
        assert (first["kind"], first["second"]["count"]) == ("parts", 1)
        assert lines[first["branch"]["line"] - 1].strip() == expected
    covered = json.loads(click("coverage", tmp_path / "good.trod", "--json", "--top", 20).output)
    untried = {
        near["branch"]["text"]
        for each in covered["functions"]
        for near in each["near_misses"]
        if near["edge_never_taken"]
    }
    assert {"if (*in->at == ')')", "if (in.error)"} <= untried
    whole = json.loads(click("stats", tmp_path / "good.trod", "--json").output)["whole"]
    assert 0 < whole["predicted_average_edges"] <= whole["average_edges"] <= whole["longest_edges"]
