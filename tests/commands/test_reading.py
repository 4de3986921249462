"""Copies of a function, filters, sources that were moved, and exclusion comments, through the verbs."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.commands.calling import click
from tests.export.tracefiles import tracefile


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The path profile of a program of two units that include one header, built without optimisation."""
    return tracefile("c", "-O0", tmp_path_factory.mktemp("built")).with_suffix(".trod")


def _rows(*arguments: object, kind: str = "function") -> dict[str, list[str]]:
    result = click(*arguments, "--format", "tsv")
    assert result.exit_code == 0, result.output
    rows = [line.split("\t") for line in result.output.splitlines()]
    return {row[1]: row[2:] for row in rows if row[0] == kind}


def _sections(tracefile_text: str) -> dict[str, str]:
    found = re.findall(r"SF:(.*)\n((?:.*\n)*?)end_of_record\n", tracefile_text)
    return {Path(path).name: section for path, section in found}


def test_a_function_of_a_header_is_one_function(built: Path) -> None:
    assert [name for name in _rows("report", built) if "sign" in name] == ["sign"]
    section = _sections(click("export", "--format", "lcov", built).stdout)["sign.h"]
    assert "FNDA:8,sign\n" in section
    assert "BRF:2\nBRH:2\n" in section
    covered = _rows("coverage", built)["sign"]
    assert covered[1:3] == ["2", "2"]
    assert "sign" not in _rows("coverage", built, kind="near")


def test_its_copies_are_there_for_those_who_ask(built: Path) -> None:
    names = [name for name in _rows("report", built, "--copies") if name.startswith("sign in ")]
    assert sorted(Path(name.removeprefix("sign in ")).name for name in names) == ["main.c", "other.c"]
    document = json.loads(click("export", built).stdout)
    [sign] = [each for each in document["functions"] if each["name"] == "sign"]
    assert sorted((Path(copy["unit"]).name, copy["entries"]) for copy in sign["copies"]) == [
        ("main.c", 6),
        ("other.c", 2),
    ]
    assert sign["entries"] == 8
    counts = [sum(column) for column in zip(*(copy["blocks"] for copy in sign["copies"]), strict=True)]
    assert [block["count"] for block in sign["blocks"]] == counts


@pytest.mark.parametrize(
    ("options", "names"),
    [
        (["--include", "sign.h"], {"sign", "never"}),
        (["--include", "*.c", "--exclude", "other.c"], {"main", "in_range"}),
        (["--include", "other"], {"other"}),
        (["--exclude", "main*", "--exclude", "*.h"], {"other"}),
    ],
)
@pytest.mark.parametrize("verb", ["report", "coverage"])
def test_files_and_functions_are_picked(verb: str, options: list[str], names: set[str], built: Path) -> None:
    assert set(_rows(verb, built, *options)) == names


def test_a_tracefile_has_what_was_picked(built: Path) -> None:
    sections = _sections(click("export", "--format", "lcov", built, "--exclude", "in_range").stdout)
    assert sorted(sections) == ["main.c", "other.c", "sign.h"]
    assert "in_range" not in sections["main.c"]
    only = _sections(click("export", "--format", "lcov", built, "--include", "other.c").stdout)
    assert list(only) == ["other.c"]
    assert "/sign.h\n" not in click("annotate", built, "--include", "*.c").stdout


def test_comments_exclude_lines_and_branches(built: Path) -> None:
    obeyed = _sections(click("export", "--format", "lcov", built).stdout)["main.c"]
    ignored = _sections(click("export", "--format", "lcov", built, "--ignore-markers").stdout)["main.c"]
    left_out = set(ignored.splitlines()) - set(obeyed.splitlines())
    lines = {line for line in left_out if line.startswith(("DA", "BRDA"))}
    assert lines == {"DA:30,0", "BRDA:29,0,0,0", "BRDA:29,0,1,1"}
    shares = [
        json.loads(click("coverage", built, "--json", *option).stdout)["lines"]
        for option in ([], ["--ignore-markers"])
    ]
    assert shares[1]["total"] - shares[0]["total"] == 1


def test_sources_may_have_been_moved(built: Path, tmp_path: Path) -> None:
    moved, gone = tmp_path / "moved", tmp_path / "gone"
    moved.mkdir()
    for source in built.parent.glob("*.[ch]"):
        shutil.copy(source, moved)
    option = ["--source-dir", f"{built.parent}={moved}"]
    text = click("export", "--format", "lcov", built, *option).stdout
    assert f"SF:{moved}/main.c\n" in text
    assert "DA:30,0\n" not in text
    assert f"{moved}/sign.h\n" in click("annotate", built, *option).stdout
    missing = click("export", "--format", "lcov", built, "--source-dir", f"{built.parent}={gone}")
    assert missing.exit_code == 0
    assert "main.c" in missing.stderr
    assert "cannot be read, so comments that exclude code from coverage are not obeyed" in missing.stderr
    (moved / "main.c").write_text("int main(void) { return 0; }\n")
    changed = click("coverage", built, *option)
    assert "changed since the build" in " ".join(changed.stdout.split())


def test_what_is_required_may_be_any_metric(built: Path) -> None:
    assert click("coverage", built, "--fail-under", "functions=50,branches=10,paths=1").exit_code == 0
    from trodden.commands.main import main

    assert main(["coverage", str(built), "--fail-under", "functions=100,lines=100", "--no-pager"]) == 100


def test_annotations_for_github(built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(built.parent)
    lines = click("coverage", built, "--format", "github").stdout.splitlines()
    assert lines[0].startswith("::notice title=Coverage::lines ")
    assert any(
        line.startswith("::warning file=main.c,line=14,endLine=14,title=Branch partly taken::")
        for line in lines
    )
    assert (
        "::warning file=sign.h,line=7,endLine=7,title=Function never executed::never was never executed"
        in lines
    )


def test_a_summary_in_markdown(built: Path) -> None:
    text = click("coverage", built, "--format", "markdown").stdout
    assert "**Files, most missed lines first**" in text
    assert re.search(r"\| +main\.c +\|", text)
