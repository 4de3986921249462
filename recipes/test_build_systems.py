"""Recipes with tools that are no wheels: ccache, sanitizers of a clang, Debian's Python, cargo."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from recipes.clang import clang
from recipes.debian import command, environment
from recipes.python import PYTHON, fetched, python_environment
from recipes.rust import rust_environment
from tests.recipes import commands, cook, project
from trodden.profile.store.trod import load


def test_ccache(tmp_path: Path) -> None:
    directory = project("shapes", tmp_path)
    variables = environment("ccache") if command("ccache", "ccache") else {}
    cook(commands("ccache"), directory, variables)
    cook(f"rm *.o\n{commands('ccache')}\nccache --show-stats > stats", directory, variables)
    assert load(directory / "trodden.trod").functions["area"].entries == 2


def test_a_clang_with_its_own_runtimes(tmp_path: Path) -> None:
    directory = project("shapes", tmp_path)
    text = commands("Sanitizers and other coverage tools").replace("=clang", f"={clang()}")
    assert cook(text, directory).endswith("0\n2\n")
    assert load(directory / "trodden.trod").functions["area"].entries == 2


@pytest.mark.parametrize("variables", [python_environment, fetched], ids=["installed", "fetched"])
def test_the_python_of_debian(tmp_path: Path, variables: Callable[[], dict[str, str]]) -> None:
    directory = project("counting", tmp_path)
    text = commands("Python extensions").replace("python ", f"{PYTHON} ")
    assert "\n5\n" in f"\n{cook(text, directory, variables())}"
    profile = load(directory / "counting.trod")
    assert profile.functions["count"].entries == 1
    assert not any(function.violations for function in profile.functions.values())
    script = "import counting, os; counting.count(4); os._exit(0)"
    cook(f"trodden run --preload -o seen.trod {PYTHON} -c '{script}'", directory)
    seen = load(directory / "seen.trod")
    assert (seen.functions["count"].entries, seen.messages) == (1, ())
    assert os.path.realpath(PYTHON) in [each.path for each in seen.programs]


def test_cargo(tmp_path: Path) -> None:
    directory = tmp_path / "parts"
    (directory / "src").mkdir(parents=True)
    (directory / "Cargo.toml").write_text('[package]\nname = "parts"\nversion = "0.1.0"\nedition = "2021"\n')
    (directory / "src/lib.rs").write_text(
        "pub fn add(a: u64, b: u64) -> u64 {\n    if b == 0 {\n        return a;\n    }\n    a + b\n}\n"
        "#[test]\nfn adds() {\n    (0..4).for_each(|n| assert_eq!(add(n, n), 2 * n));\n}\n"
    )
    cook(commands("Cargo"), directory, {"CARGO_NET_OFFLINE": "true", **rust_environment()})
    functions = load(directory / "trodden.trod").functions
    (add,) = [each for each in functions.values() if each.name == "parts::add"]
    assert sorted(path.count for path in add.paths or ()) == [1, 3]
