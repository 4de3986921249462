from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bench.build.toolchain import CLANG, require
from bench.cli import required_tools as tools_module
from bench.cli.required_tools import required_tools
from bench.measures.instructions import Instructions
from bench.measures.memory import Memory
from bench.measures.times import Times
from bench.suite import SUITE
from bench.suite.model import Archive
from bench.support.errors import BenchError
from tests.bench.shell_programs import Script, program


def test_only_necessary_tools_have_to_be_installed() -> None:
    one = program("needing", Script(Path("/nowhere")))
    assert required_tools([Memory("edges")], [one]) == {CLANG, "make"}
    assert required_tools([Instructions("gcc-arcs")], [one]) == {
        CLANG,
        "make",
        "gcc",
        "valgrind",
        "strip",
    }
    assert required_tools([Times(("gcc-arcs",))], [*SUITE, one]) >= {CLANG, "make", "gcc", "g++"}


def test_clients_are_necessary_for_what_has_not_been_fetched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tools_module, "WORK", tmp_path)
    archives = [Archive(client, "p", f"{client}.tar", "") for client in ("apt", "npm", "pip")]
    programs = [program(each.client, Script(tmp_path, archive=each)) for each in archives]
    assert required_tools([], programs) == {CLANG, "make", "apt-get", "npm"}
    (tmp_path / "archives").mkdir()
    (tmp_path / "archives" / "npm.tar").touch()
    assert required_tools([], programs) == {CLANG, "make", "apt-get"}


def test_a_missing_tool_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda tool: None)
    with pytest.raises(BenchError) as error:
        require(["llvm-profdata-22", "opt-22", "valgrind"])
    assert str(error.value) == (
        "llvm-profdata-22, opt-22, valgrind: not found; with Debian, apt-get install llvm-22 valgrind"
    )
