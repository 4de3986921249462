"""Formats, colours, the pager and the size of the screen: what people and programs get to see."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands.calling import ENVIRONMENT, at_a_terminal, click, process
from tests.profile.sample import sample, write_sources
from tests.report.pathing import path_sample
from trodden.profile.store.trod import save

PLAIN = {key: value for key, value in ENVIRONMENT.items() if key != "TRODDEN_FORMAT"}
VERBS = (
    ("report", "{}"),
    ("coverage", "{}"),
    ("stats", "{}"),
    ("diff", "{}", "{}"),
    ("score", "{}", "{}"),
)
TITLES = {
    "report": "Functions by",
    "coverage": "Functions, most untaken edges first",
    "stats": "Executed paths",
    "diff": "In common",
    "score": "How well",
}


@pytest.fixture
def paths(tmp_path: Path) -> str:
    save(path_sample(tmp_path), tmp_path / "p.trod")
    return str(tmp_path / "p.trod")


@pytest.fixture
def edges(tmp_path: Path) -> str:
    write_sources(tmp_path)
    save(sample(str(tmp_path)), tmp_path / "x.trod")
    return str(tmp_path / "x.trod")


def piped(*words: str, **variables: str) -> str:
    """What a pipe gets, as in ``trodden report x | less``."""
    command = [sys.executable, "-m", "trodden", *words]
    done = subprocess.run(command, capture_output=True, text=True, env={**PLAIN, **variables}, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("words", VERBS, ids=lambda words: words[0])
def test_every_format_of_every_verb(words: tuple[str, ...], paths: str) -> None:
    verb, *files = (word.format(paths) for word in words)
    table = piped(verb, *files)
    assert TITLES[verb] in table
    assert "\t" not in table
    assert "\x1b" not in table
    assert max(map(len, table.splitlines())) <= 100
    assert piped(verb, *files, "--format", "table") == table
    assert piped(verb, *files, TRODDEN_FORMAT="table") == table
    rows = piped(verb, *files, "--format", "tsv")
    assert rows.startswith("#")
    assert "\t" in rows
    assert piped(verb, *files, TRODDEN_FORMAT="tsv") == rows
    document = json.loads(piped(verb, *files, "--format", "json"))
    assert json.loads(piped(verb, *files, "--json")) == document
    markdown = piped(verb, *files, "--format", "markdown")
    assert f"**{TITLES[verb]}" in markdown
    bars = [line for line in markdown.splitlines() if line.startswith("|")]
    assert any(re.fullmatch(r"\|( ---:? \|)+", line) for line in bars)
    assert "\x1b" in piped(verb, *files, "--color", "always")


def test_a_flag_overrides_the_environment(paths: str) -> None:
    assert piped("stats", paths, "--format", "table", TRODDEN_FORMAT="tsv") == piped("stats", paths)
    assert json.loads(piped("stats", paths, "--json", TRODDEN_FORMAT="tsv"))


def test_colours(paths: str) -> None:
    plain = piped("report", paths)
    assert piped("report", paths, NO_COLOR="1", FORCE_COLOR="1") == plain
    assert piped("report", paths, FORCE_COLOR="0") == plain
    coloured = piped("report", paths, FORCE_COLOR="1")
    bare = re.sub(r"\x1b\[[0-9;]*m", "", coloured)
    assert [line.rstrip() for line in bare.splitlines()] == plain.splitlines()
    assert "\x1b" in coloured
    assert piped("report", paths, "--color", "always", NO_COLOR="1") == coloured
    assert piped("report", paths, "--color", "never", FORCE_COLOR="1") == plain
    assert "\x1b" in at_a_terminal("report", paths)
    assert "\x1b" not in at_a_terminal("report", paths, NO_COLOR="1")
    assert "\x1b" not in at_a_terminal("report", paths, TERM="dumb")
    assert "\x1b" in piped("annotate", paths, "--path", "1", "--color", "always")


def test_the_width_of_a_table_in_a_pipe(paths: str) -> None:
    widest = [max(map(len, piped("coverage", paths, COLUMNS=width).splitlines())) for width in ("60", "200")]
    assert widest[0] <= 60 < widest[1] <= 200


@pytest.mark.parametrize("height", [24, 30, 50])
def test_the_report_fits_a_screen(paths: str, edges: str, height: int) -> None:
    for file in (paths, edges):
        shown = at_a_terminal("report", file, COLUMNS="80", LINES=str(height), NO_COLOR="1").splitlines()
        assert len(shown) < height
        assert max(map(len, shown)) <= 80
        assert "--top 20" in "".join(shown)
        assert "what was not executed" in "".join(shown[-3:])
    assert len(piped("report", paths, "--top", "20").splitlines()) > 24
    assert len(piped("report", paths, "--format", "tsv").splitlines()) > 24


def test_what_is_longer_than_the_screen_goes_to_a_pager(paths: str, tmp_path: Path) -> None:
    pager = tmp_path / "pager"
    pager.write_text('#!/bin/sh\necho "paged with $LESS"\ncat\n')
    pager.chmod(0o755)
    long = ("report", paths, "--top", "20")
    shown = at_a_terminal(*long, PAGER=str(pager), LINES="24")
    assert shown.startswith("paged with FRX")
    assert "Hottest edges" in shown
    assert "paged" not in at_a_terminal(*long, "--no-pager", PAGER=str(pager), LINES="24")
    assert "paged" not in at_a_terminal(*long, PAGER=str(pager), LINES="2000")
    assert "paged" not in at_a_terminal("report", paths, PAGER=str(pager), LINES="50")
    assert "paged with x" in at_a_terminal(*long, TRODDEN_PAGER=str(pager), LESS="x", LINES="24")
    for none in ("", "cat", "/no/such/pager", "'"):
        assert "Hottest edges" in at_a_terminal(*long, PAGER=none, LINES="24")
    stops = tmp_path / "stops"
    stops.write_text("#!/bin/sh\nexit 0\n")
    stops.chmod(0o755)
    assert at_a_terminal(*long, PAGER=str(stops), LINES="24") == ""
    assert "paged" not in piped(*long, PAGER=str(pager))


def test_the_path_of_a_file_and_the_hottest_path(paths: str) -> None:
    hottest = click("annotate", paths, "--path", "1").output
    assert hottest.startswith("main, path 1 (id ")
    assert click("annotate", paths, "--path").output == hottest
    for pattern in ("main", "a.c", "*/a.c", "*.c"):
        assert click("annotate", paths, pattern, "--path").output == hottest
        assert click("annotate", paths, pattern, "--path", "1").output == hottest
    done = process("annotate", paths, "--path", "main")
    assert done.returncode == 2
    assert done.stderr.startswith("trodden: --path main: neither a rank in the report nor FUNCTION:ID; name")


@pytest.mark.parametrize(
    ("words", "variables", "message"),
    [
        (("stats", "{}", "--format", "xml"), {}, "Invalid value for '--format'"),
        (("stats", "{}", "--json", "--format", "tsv"), {}, "--json: contradicts --format tsv"),
        (("stats", "{}"), {"TRODDEN_FORMAT": "xml"}, "TRODDEN_FORMAT=xml: choose one of table, tsv, json"),
        (("stats", "{}", "--color", "red"), {}, "Invalid value for '--color'"),
    ],
)
def test_wrong_choices(words: tuple[str, ...], variables: dict[str, str], message: str, paths: str) -> None:
    command = [sys.executable, "-m", "trodden", *(word.format(paths) for word in words)]
    done = subprocess.run(command, capture_output=True, text=True, env={**PLAIN, **variables}, check=False)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_markdown_shows_what_it_was_given(paths: str) -> None:
    """Characters that Markdown has a use for mean themselves, except where they mark code already."""
    from rich.table import Table
    from rich.text import Text

    from trodden.report.render.markdown import MarkdownPage

    page = MarkdownPage()
    table = Table("a|b", "c")
    table.add_row("x * y < z", Text.assemble(("name", "bold"), " at `if (p || *q)`\nbelow"))
    page.print(table, Text("x[0]_"))
    assert page.text() == (
        "| a\\|b | c |\n| --- | --- |\n"
        "| x \\* y &lt; z | **name** at `if (p \\|\\| *q)`<br>below |\n\nx\\[0\\]\\_\n"
    )
    assert click("report", paths, "--format", "markdown").output.count("**Hot paths") == 1
