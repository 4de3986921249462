"""Recipes with tools from PyPI, and what build systems ask of a compiler."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests.native.building import execute
from tests.recipes import commands, cook, project, section
from trodden.profile.store.trod import load

NINJA = {"CMAKE_GENERATOR": "Ninja"}


@pytest.mark.parametrize("heading", ["make", "CMake", "Meson"])
def test_a_build_system(tmp_path: Path, heading: str) -> None:
    directory = project("shapes", tmp_path)
    assert cook(commands(heading), directory, NINJA).endswith("0\n2\n")
    functions = load(directory / "trodden.trod").functions
    assert (functions["main"].entries, functions["area"].entries) == (1, 2)


def test_lines_and_paths(tmp_path: Path) -> None:
    directory = project("shapes", tmp_path)
    cook(commands("Lines and paths of an optimised program"), directory)
    lines, paths = load(directory / "lines.trod"), load(directory / "paths.trod")
    assert lines.functions["area"].entries == paths.functions["area"].entries == 2
    assert paths.functions["area"].paths
    assert lines.functions["area"].paths is None


def test_a_flight_recorder(tmp_path: Path) -> None:
    directory = project("shapes", tmp_path)
    shown = cook(commands("Flight recorder"), directory)
    assert "area" in shown
    (thread,) = load(directory / "flight.trod").trace.threads
    assert any(event.depth for event in thread.events())


def test_an_extension_of_python(tmp_path: Path) -> None:
    directory = project("counting", tmp_path)
    text = commands("Python extensions").replace("python ", f"{sys.executable} ")
    assert "\n5\n" in f"\n{cook(text, directory, {'LDSHARED': 'trodden-cc -shared'})}"
    assert load(directory / "counting.trod").functions["count"].entries == 1


def test_the_workflow(tmp_path: Path) -> None:
    """Its steps one after the other, except for those that fetch something."""
    directory = project("shapes", tmp_path)
    text = section("Continuous integration")
    steps = re.findall(r"^      - run: (.*)$", text, re.MULTILINE)
    assert steps[0] == "pip install trodden"
    settings = dict(
        re.findall(r"^          (TRODDEN_\w+): (.*)$", section("Continuous integration"), re.MULTILINE)
    )
    assert settings
    done = ""
    for step in steps[1:]:
        done = cook(step, directory, settings)
    assert "paths" in done
    assert load(directory / "trodden.trod").functions["area"].paths is not None


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--version"], "clang version "),
        (["-dumpversion"], ""),
        (["-dumpmachine"], "linux-gnu"),
        (["-print-prog-name=ld"], "ld"),
        (["-print-search-dirs"], "libraries: ="),
        (["-print-file-name=libm.so"], "libm.so"),
        (["-Wl,--version"], "LLD "),
        (["-E", "-dM", "-"], "#define __clang__ 1"),
    ],
    ids=lambda value: "" if isinstance(value, str) else value[0],
)
@pytest.mark.parametrize("name", ["trodden-cc", "trodden-c++"])
def test_single_words_answer_as_clang_does(tmp_path: Path, name: str, words: list[str], answer: str) -> None:
    done = execute([str(Path(sys.executable).with_name(name)), *words], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert answer in done.stdout
    assert done.stdout


def test_the_linker_that_is_named_can_be_called(tmp_path: Path) -> None:
    compiler = str(Path(sys.executable).with_name("trodden-cc"))
    linker = execute([compiler, "--print-prog-name=ld"], tmp_path).stdout.strip()
    assert "GNU" in execute([linker, "-v"], tmp_path).stdout
