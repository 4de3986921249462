from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

import bench.cli.required_tools
from bench import suite
from bench.build.compile import need
from bench.build.configurations import GUIDED, WAYS, guided, peer, with_peers
from bench.build.fetching import Archive
from bench.cli import leftover_processes as ending
from bench.cli import main as command
from bench.cli.required_tools import needed
from bench.measures.build import sizes
from bench.measures.instructions import Instructions
from bench.measures.memory import Memory
from bench.measures.times import Times
from bench.page import write
from bench.run.process_memory import Watcher
from bench.suite import SUITE
from bench.support.errors import BenchError
from bench.support.locking import held
from bench.tables import registry as known
from bench.tables import results as outcome
from bench.tables.layout.model import Column, Section, Table
from bench.tables.layout.ratios import peak_memory
from bench.tables.layout.values import BYTES
from bench.tables.results import Results
from tests.bench.programs_of_shell import Script, program

_TABLE = Table(
    "small",
    "A small table",
    "",
    (Memory("clang"), Memory("edges")),
    (
        Section(
            "memory",
            "Memory",
            tuple(Column(way, way, partial(peak_memory, way=way), BYTES) for way in ("clang", "edges")),
        ),
    ),
)


def test_without_a_table_it_lists_them() -> None:
    done = CliRunner().invoke(command.main, [])
    assert done.exit_code == 0
    for table in known.tables():
        assert f"{table.name} " in done.output
        assert table.title in done.output
    assert SUITE[0].name in done.output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nothing"], "no table nothing; there are rivals"),
        (["rivals", "--program", "nobody"], "no program nobody; there are"),
        (["rivals", "--rounds", "2"], "--rounds"),
        (["rivals", "--jobs", "0"], "--jobs"),
    ],
)
def test_mistakes_in_the_command_are_told(words: list[str], said: str) -> None:
    done = CliRunner().invoke(command.main, words)
    assert done.exit_code == 2
    assert said in done.output


@pytest.fixture
def small(work: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bench with one table and everything it writes in a directory of its own."""
    monkeypatch.setattr(known, "tables", lambda: (_TABLE,))
    monkeypatch.setattr(write, "tables", lambda: (_TABLE,))
    monkeypatch.setattr(command, "RESULTS", work / "results")
    monkeypatch.setattr(write, "RESULTS", work / "results")
    monkeypatch.setattr(write, "_DOCS", work / "docs")
    monkeypatch.setattr(command, "_FIGURES", work / "figures")
    (work / "behind.md").write_text("## Behind\n")
    monkeypatch.setattr(write, "_BEHIND", work / "behind.md")
    monkeypatch.setattr(command, "need", lambda tools: None)
    return work


def _suite(monkeypatch: pytest.MonkeyPatch, *scripts: tuple[str, Script]) -> None:
    programs = tuple(program(name, script) for name, script in scripts)
    for module in (suite, outcome, write):
        monkeypatch.setattr(module, "SUITE", programs)


def test_it_measures_keeps_shows_and_makes_the_page(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _suite(monkeypatch, ("shown", Script(small / "shown")))
    done = CliRunner().invoke(command.main, ["small"])
    assert done.exit_code == 0, done.output
    assert "A small table (small)" in done.output
    kept = Results.load(small / "results", "small")
    assert kept is not None
    assert len(kept.figures["shown"]["memory/edges/ref"]["most"]) == 5
    assert "| shown |" in (small / "docs" / "benchmarks.md").read_text()


def test_a_program_that_fails_does_not_stop_the_others(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = Script(small / "bad-one", broken=frozenset({"clang"}))
    _suite(monkeypatch, ("bad-one", bad), ("good-one", Script(small / "good-one")))
    done = CliRunner().invoke(command.main, ["all"])
    assert done.exit_code == 1
    assert "trodden-bench: failed: bad-one" in done.output
    kept = Results.load(small / "results", "small")
    assert kept is not None
    assert list(kept.programs) == ["good-one"]
    assert kept.failed == {"bad-one": ["clang cannot be built\nfirst\nlast"]}
    assert "- bad-one: clang cannot be built" in (small / "docs" / "benchmarks.md").read_text()


def test_two_benches_are_not_at_work_at_once(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _suite(monkeypatch, ("locked", Script(small / "locked")))
    with held(small / "figures" / "bench.lock"):
        done = CliRunner().invoke(command.main, ["small"])
    assert done.exit_code == 1
    assert "another trodden-bench is at work in this checkout; wait for it" in done.output


@pytest.mark.parametrize(
    "content",
    ["[", "{}", '{"machine": {}, "programs": {"lua": {"figures": 1}}, "failed": {}, "whole": null}'],
)
def test_results_that_are_none_are_told_of_before_anything_is_measured(
    small: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    script = Script(small / "unmeasured")
    _suite(monkeypatch, ("unmeasured", script))
    (small / "results").mkdir(exist_ok=True)
    (small / "results" / "small.json").write_text(content)
    done = CliRunner().invoke(command.main, ["small"])
    assert done.exit_code == 1
    assert "small.json: no results" in done.output
    assert not script.built_ways


def test_figures_that_make_no_sense_are_told_of(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _suite(monkeypatch, ("shown", Script(small / "shown")))
    assert CliRunner().invoke(command.main, ["small"]).exit_code == 0
    path = small / "results" / "small.json"
    path.write_text(re.sub(r'("most": )\[[^]]*\]', r'\1["x", "y"]', path.read_text()))
    done = CliRunner().invoke(command.main, ["page"])
    assert done.exit_code == 1
    assert "small.json: its figures do not make sense in" in done.output


def test_only_what_was_asked_for_is_shown(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _suite(monkeypatch, ("first", Script(small / "first")), ("second", Script(small / "second")))
    assert CliRunner().invoke(command.main, ["small"]).exit_code == 0
    done = CliRunner().invoke(command.main, ["small", "--program", "second"])
    assert "second" in done.output
    assert "first" not in done.output
    assert "| first |" in (small / "docs" / "benchmarks.md").read_text()


def test_what_a_killed_bench_has_left_is_ended(work: Path) -> None:
    mark = str(work / "work")
    with (
        subprocess.Popen(["sleep", "60"], env={**os.environ, "TRODDEN_BENCH": mark}) as left,
        subprocess.Popen(["sleep", "60"], env={**os.environ, "TRODDEN_BENCH": "/elsewhere"}) as other,
    ):
        ending.end_orphans()
        assert left.wait(20) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()
    assert os.environ["TRODDEN_BENCH"] == mark


def test_only_what_is_needed_has_to_be_installed() -> None:
    one = program("needing", Script(Path("/nowhere")))
    assert needed([Memory("edges")], [one]) == {"clang-22", "make"}
    assert needed([Instructions("gcc-arcs")], [one]) == {"clang-22", "make", "gcc", "valgrind", "strip"}
    assert needed([Times(("gcc-arcs",))], [*SUITE, one]) >= {"clang-22", "make", "gcc", "g++"}


def test_clients_are_needed_for_what_is_not_fetched_yet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bench.cli.required_tools, "WORK", tmp_path)
    archives = [Archive(client, "p", f"{client}.tar", "") for client in ("apt", "npm", "pip")]
    programs = [program(each.client, Script(tmp_path, fetched=each)) for each in archives]
    assert needed([], programs) == {"clang-22", "make", "apt-get", "npm"}
    (tmp_path / "archives").mkdir()
    (tmp_path / "archives" / "npm.tar").touch()
    assert needed([], programs) == {"clang-22", "make", "apt-get"}


def test_what_is_missing_is_named_with_its_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda tool: None)
    with pytest.raises(BenchError) as error:
        need(["llvm-profdata-22", "opt-22", "valgrind"])
    assert str(error.value) == (
        "llvm-profdata-22, opt-22, valgrind: not found; with Debian, apt-get install llvm-22 valgrind"
    )


def test_every_way_has_a_plain_peer() -> None:
    assert {peer(name) for name in WAYS} == {"clang", "gcc"}
    assert with_peers(["gcc-arcs", "edges", "clang"]) == ("clang", "gcc", "gcc-arcs", "edges")
    way = guided("lua", Path("/weights.trod"))
    assert way.name == f"{GUIDED}-lua"
    assert way.reads == (Path("/weights.trod"),)
    assert way.flags[-1] == "--trodden-weights=/weights.trod"


def test_memory_is_that_of_the_program_alone(tmp_path: Path) -> None:
    # This process is far larger than what it starts, which the system counts until the program is another.
    watcher = Watcher()
    words = [*watcher.before, "/bin/true"]
    pid = os.posix_spawn(words[0], words, {})
    watcher.started(pid)
    status, usage = watcher.ended(pid)
    assert os.waitstatus_to_exitcode(status) == 0
    assert 0 < watcher.resident <= watcher.most < 16 * 1048576
    assert usage.ru_utime < 0.2


def test_sizes_of_an_executable() -> None:
    found = sizes(Path(shutil.which("sleep") or ""))
    assert 0 < found["code"] < found["data"] < found["file"]
