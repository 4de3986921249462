"""Pages of which every example is executed, and what a new user finds with the README alone."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.docs.fences import DOCS, README, ROOT, fences
from tests.docs.play import play
from tests.docs.shell import printed
from tests.docs.stages import STAGES, readme
from tests.native.rust.test_rust import with_rust

_RUST = (README, DOCS / "rust.md")
_OTHERS = [page for page in STAGES if page not in _RUST]


@pytest.mark.parametrize("page", _OTHERS, ids=lambda page: page.name)
def test_examples(page: Path, tmp_path: Path) -> None:
    play(page, tmp_path)


@with_rust
def test_examples_of_rust(tmp_path: Path) -> None:
    play(DOCS / "rust.md", tmp_path)


@with_rust
def test_examples_of_the_readme(tmp_path: Path) -> None:
    play(README, tmp_path)


def test_the_demo(tmp_path: Path) -> None:
    (output,) = printed([f"{sys.executable} {ROOT}/examples/demo.py"], tmp_path)
    assert output.count("$ trodden ") == 6


def _printed_by(word: str, directory: Path) -> str:
    """What the script of the README that has this word in it prints, on one line."""
    readme(directory)
    (script,) = [each.text for each in fences(README) if each.kind == "script" and word in each.text]
    return " ".join("".join(printed([script], directory)).split())


def test_the_hottest_path_of_a_program_of_ones_own(tmp_path: Path) -> None:
    found = _printed_by("prog.c more.c", tmp_path).partition("Hot paths")[2]
    assert found.index("digits more.c") < found.index("5: ")
    assert "*text >= '0' && *text <= '9'" in found or "*text >= '0'" in found


def test_the_branch_of_a_library_that_its_tests_never_take(tmp_path: Path) -> None:
    found = _printed_by("make check", tmp_path)
    assert "clamp: at clamp.c:5 `if (value < least)` branched only to line 7" in found
    assert "never to line 6 (value < least: true)" in found
