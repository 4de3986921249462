from __future__ import annotations

import os
import re
import signal
import subprocess
from functools import partial
from pathlib import Path

import pytest
from click.testing import CliRunner

from bench import suite
from bench.cli import gather, leftover_processes
from bench.cli import main as command
from bench.measures.memory import Memory
from bench.page import write
from bench.suite import SUITE
from bench.support.locking import locked
from bench.tables import registry
from bench.tables.layout.model import Column, Section, Table
from bench.tables.layout.ratios import peak_memory
from bench.tables.layout.values import BYTES
from bench.tables.results import Results
from tests.bench.shell_programs import Script, program

_TABLE = Table(
    "small",
    "A small table",
    "",
    (Memory("clang"), Memory("edges")),
    (
        Section(
            "memory",
            "Memory",
            tuple(
                Column(config, config, partial(peak_memory, config=config), BYTES)
                for config in ("clang", "edges")
            ),
        ),
    ),
)


def test_without_a_table_it_lists_them() -> None:
    done = CliRunner().invoke(command.main, [])
    assert done.exit_code == 0
    for table in registry.tables():
        assert f"{table.name} " in done.output
        assert table.title in done.output
    assert SUITE[0].name in done.output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing"], "no table nothing; there are rivals"),
        (["rivals", "--program", "nobody"], "no program nobody; there are"),
        (["rivals", "--rounds", "2"], "--rounds"),
        (["rivals", "--jobs", "0"], "--jobs"),
    ],
)
def test_usage_errors(arguments: list[str], message: str) -> None:
    done = CliRunner().invoke(command.main, arguments)
    assert done.exit_code == 2
    assert message in done.output


@pytest.fixture
def small(work: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A benchmark with one table, which writes everything to a directory of its own."""
    monkeypatch.setattr(registry, "tables", lambda: (_TABLE,))
    monkeypatch.setattr(write, "tables", lambda: (_TABLE,))
    monkeypatch.setattr(command, "RESULTS", work / "results")
    monkeypatch.setattr(write, "RESULTS", work / "results")
    monkeypatch.setattr(write, "_DOCS", work / "docs")
    monkeypatch.setattr(command, "_FIGURES", work / "figures")
    (work / "after.md").write_text("## After\n")
    monkeypatch.setattr(write, "PROSE", (work / "after.md",))
    monkeypatch.setattr(command, "require", lambda tools: None)
    return work


def _suite(monkeypatch: pytest.MonkeyPatch, *scripts: tuple[str, Script]) -> None:
    programs = tuple(program(name, script) for name, script in scripts)
    for module in (suite, gather, write):
        monkeypatch.setattr(module, "SUITE", programs)


def test_it_measures_saves_prints_and_generates_the_page(
    small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _suite(monkeypatch, ("printed", Script(small / "printed")))
    done = CliRunner().invoke(command.main, ["small"])
    assert done.exit_code == 0, done.output
    assert "A small table (small)" in done.output
    kept = Results.load(small / "results", "small")
    assert kept is not None
    assert len(kept.figures["printed"]["memory/edges/ref"]["most"]) == 5
    assert "| printed |" in (small / "docs" / "benchmarks.md").read_text()


def test_a_program_that_fails_does_not_stop_the_others(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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


def test_only_one_benchmark_runs_at_a_time(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _suite(monkeypatch, ("locked", Script(small / "locked")))
    with locked(small / "figures" / "bench.lock"):
        done = CliRunner().invoke(command.main, ["small"])
    assert done.exit_code == 1
    assert "another trodden-bench is running in this checkout; wait for it" in done.output


@pytest.mark.parametrize(
    "content",
    ["[", "{}", '{"machine": {}, "programs": {"lua": {"figures": 1}}, "failed": {}, "whole": null}'],
)
def test_broken_results_are_reported_before_anything_is_measured(
    small: Path, monkeypatch: pytest.MonkeyPatch, content: str
) -> None:
    script = Script(small / "unmeasured")
    _suite(monkeypatch, ("unmeasured", script))
    (small / "results").mkdir(exist_ok=True)
    (small / "results" / "small.json").write_text(content)
    done = CliRunner().invoke(command.main, ["small"])
    assert done.exit_code == 1
    assert "small.json: not a file of results" in done.output
    assert not script.built


def test_figures_that_make_no_sense_are_reported(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _suite(monkeypatch, ("printed", Script(small / "printed")))
    assert CliRunner().invoke(command.main, ["small"]).exit_code == 0
    path = small / "results" / "small.json"
    path.write_text(re.sub(r'("most": )\[[^]]*\]', r'\1["x", "y"]', path.read_text()))
    done = CliRunner().invoke(command.main, ["page"])
    assert done.exit_code == 1
    assert "small.json: its figures do not make sense in" in done.output


def test_only_requested_programs_are_printed(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _suite(monkeypatch, ("first", Script(small / "first")), ("second", Script(small / "second")))
    assert CliRunner().invoke(command.main, ["small"]).exit_code == 0
    done = CliRunner().invoke(command.main, ["small", "--program", "second"])
    assert "second" in done.output
    assert "first" not in done.output
    assert "| first |" in (small / "docs" / "benchmarks.md").read_text()


def test_leftovers_of_a_killed_benchmark_are_killed(work: Path) -> None:
    mark = str(work / "work")
    with (
        subprocess.Popen(["sleep", "60"], env={**os.environ, "TRODDEN_BENCH": mark}) as left,
        subprocess.Popen(["sleep", "60"], env={**os.environ, "TRODDEN_BENCH": "/elsewhere"}) as other,
    ):
        leftover_processes.kill_leftovers()
        assert left.wait(20) == -signal.SIGKILL
        assert other.poll() is None
        other.kill()
    assert os.environ["TRODDEN_BENCH"] == mark
