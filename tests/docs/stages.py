"""The files that the examples of a page take for granted: the user's own program, project or crate."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.docs.fences import DOCS, README, ROOT, fences
from tests.docs.shell import printed

_PROJECTS = Path(__file__).parent / "projects"
_CLASSIFY = "trodden run --quiet --profile paths examples/classify.c -o"


def readme(directory: Path) -> None:
    """A program in two files, two profiles, and a project with a configure script and tests of a library."""
    _with_examples(directory)
    _copy("project", directory)
    _copy("crate", directory)
    printed([f"{_CLASSIFY} good.trod -- 3 17 4", f"{_CLASSIFY} bad.trod -- 3 -17 4"], directory)


def manual(directory: Path) -> None:
    """The program of another page, a Makefile for it, and profiles of two days in a directory."""
    _with_examples(directory)
    (blanks,) = [each for each in fences(DOCS / "how-it-works.md") if each.name == "blanks.c"]
    (directory / blanks.name).write_text(blanks.text)
    (directory / "Makefile").write_text("blanks: blanks.o\n")
    (directory / "runs").mkdir()
    days = ("monday.trod", "tuesday.trod", "runs/monday.trod")
    printed([f"trodden run --quiet blanks.c -o {day} -- 'a b' || true" for day in days], directory)


def rust(directory: Path) -> None:
    """A program in one file, and a workspace of a program and a library with tests."""
    _copy("crate", directory)


def _with_examples(directory: Path) -> None:
    shutil.copytree(ROOT / "examples", directory / "examples")


def _copy(project: str, directory: Path) -> None:
    shutil.copytree(_PROJECTS / project, directory, dirs_exist_ok=True)


STAGES: dict[Path, Callable[[Path], None]] = {
    README: readme,
    DOCS / "bl96.md": _with_examples,
    DOCS / "command-line.md": manual,
    DOCS / "how-it-works.md": _with_examples,
    DOCS / "rust.md": rust,
}
"""The pages whose examples are executed one after the other in one directory, and what is there before."""
