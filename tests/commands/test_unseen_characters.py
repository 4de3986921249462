"""A file and a comment with a character that turns text around, in everything that is shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.native.building import must, trodden

TURN = "\u202e"
NAME = f"a{TURN}b.c"
_SOURCE = f"""\
int called(int n) {{ return n; }}
int main(void) {{
    int sum = 0;
    for (int i = 0; i < 9; i++) /* {TURN} turned */
        sum += called(i);
    return sum == 36 ? 0 : 1;
}}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("unseen")
    (found / NAME).write_text(_SOURCE)
    done = trodden("run", "--profile", "paths", "--report", NAME, "-O0", cwd=found)
    assert (done.returncode, TURN in done.stdout + done.stderr) == (0, False)
    return found


@pytest.mark.parametrize(
    "verb",
    [
        "report",
        "report --top 5",
        "report --format markdown",
        "report --format tsv",
        "annotate",
        "coverage",
        "coverage --format markdown",
    ],
)
def test_what_people_read_has_an_escape(folder: Path, verb: str) -> None:
    shown = must(*verb.split(), "trodden.trod", cwd=folder)
    assert TURN not in shown
    assert "\\u202e" in shown


def test_an_error_has_an_escape(folder: Path) -> None:
    done = trodden("show", NAME, cwd=folder)
    assert done.stderr.startswith("trodden: a\\u202eb.c")


def test_what_programs_read_has_the_character(folder: Path) -> None:
    assert f"SF:{folder}/{NAME}\n" in must("export", "--format", "lcov", "trodden.trod", cwd=folder)
    document = json.loads(must("export", "--format", "json", "trodden.trod", cwd=folder))
    assert f"/{NAME}" in json.dumps(document, ensure_ascii=False)
