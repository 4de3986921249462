"""``trodden report`` and ``trodden annotate`` on a profile with paths."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands.calling import click
from tests.profile.sample import SOURCE, sample
from tests.report.pathing import path_sample
from trodden.commands.main import main
from trodden.profile.store.trod import save


@pytest.fixture
def profile(tmp_path: Path) -> str:
    save(path_sample(tmp_path), tmp_path / "x.trod")
    return str(tmp_path / "x.trod")


def test_report(profile: str) -> None:
    lines = click("report", profile).output.splitlines()
    assert len([line for line in lines if line.startswith("path\t")]) == 4
    limited = click("report", profile, "--top", "2", "--function", "ma*").output.splitlines()
    assert [line.split("\t")[1] for line in limited if line.startswith("path\t")] == ["1", "2"]
    document = json.loads(click("report", profile, "--json", "--top", "1").output)
    assert [(row["rank"], row["count"]) for row in document["paths"]] == [(1, 8)]


def test_ranks_of_the_report_are_those_of_annotate(profile: str) -> None:
    for row in json.loads(click("report", profile, "--json").output)["paths"]:
        by_rank = click("annotate", profile, "--path", str(row["rank"])).output
        assert by_rank.startswith(f"main, path {row['rank']} (id {row['id']}): ")
        assert click("annotate", profile, "main", "--path", str(row["rank"])).output == by_rank
        assert click("annotate", profile, "--path", f"main:{row['id']}").output == by_rank


def test_annotate_a_changed_source(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path_sample(tmp_path)
    save(path_sample(tmp_path), tmp_path / "x.trod")
    (tmp_path / "a.h").unlink()
    assert main(["annotate", str(tmp_path / "x.trod"), "--path", "1"]) == 91
    captured = capsys.readouterr()
    assert ">      6          if (i % 10)  ← i % 10: true\n" in captured.out
    assert captured.err.startswith(f"trodden: {tmp_path}/a.h: cannot be read")
    assert SOURCE.splitlines()[2] in captured.out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--path", "5"], "trodden: {file}: there is no path 5; ranks are 1 to 4\n"),
        (["main", "--path", "0"], "trodden: {file}: main: there is no path 0; ranks are 1 to 4\n"),
        (["never", "--path", "1"], "trodden: {file}: never: no path was executed\n"),
        (
            ["--path", "main:99"],
            "trodden: main: no path with the number 99 was executed; see trodden report\n",
        ),
        (
            ["--path", "x"],
            "trodden: --path x: neither a rank in the report nor FUNCTION:ID;"
            " name a function before --path\n",
        ),
    ],
)
def test_paths_that_are_not_there(
    profile: str, capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    assert main(["annotate", profile, *arguments]) == 2
    assert capsys.readouterr() == ("", message.format(file=profile))


def test_a_profile_without_paths(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "x.trod")
    save(sample(str(tmp_path)), file)
    assert main(["annotate", file, "--path", "1"]) == 2
    assert capsys.readouterr() == ("", f"trodden: {file} holds no paths; run with --profile paths\n")
