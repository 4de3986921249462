"""Mistakes on command lines: each is one line that says what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.calling import process
from tests.profile.sample import sample
from trodden.profile.store.trod import save


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (("report", "x.trod", "--top", "abc"), 2, "--top abc: needs a whole number, 1 or more"),
        (("report", "x.trod", "--top", "0"), 2, "--top 0: needs a whole number, 1 or more"),
        (("diff", "x.trod", "x.trod", "--top", "-1"), 2, "--top -1: needs a whole number, 1 or more"),
        (("reprt", "x.trod"), 2, "reprt: no such command; did you mean trodden report?"),
        (("nothing", "x.trod"), 2, "No such command 'nothing'; see trodden --help"),
        (("report", "x.trod", "--functon", "f"), 2, "No such option '--functon'. Did you mean '--function'?"),
        (("cc",), 2, "no input files; name sources or objects (--trodden-help lists options)"),
        (("c++", "-O2"), 2, "no input files; name sources or objects"),
        (("completion", "tcsh"), 2, "Invalid value for 'SHELL'"),
    ],
)
def test_mistakes(tmp_path: Path, words: tuple[str, ...], status: int, message: str) -> None:
    save(sample(str(tmp_path)), tmp_path / "x.trod")
    done = process(*(str(tmp_path / word) if word.endswith(".trod") else word for word in words))
    assert (done.returncode, done.stdout) == (status, "")
    assert done.stderr.startswith(f"trodden: {message}")
    assert done.stderr.count("\n") == 1
