from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench import suite
from bench.cli import gather
from bench.cli.failures import Failures
from bench.cli.gather import gather_results
from bench.measures.model import Json, Measure
from bench.measures.store import Store
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError
from bench.tables.layout.model import Programs, Table
from bench.tables.results import Results
from tests.bench.shell_programs import Script, program

_MACHINE: dict[str, str | int] = {"processor": "P", "cores": 2}


@dataclass(frozen=True)
class Number(Measure):
    name: str

    @property
    def key(self) -> str:
        return self.name

    def fingerprint(self, program: SuiteProgram) -> str:
        return "f"

    def measure(self, program: SuiteProgram) -> Json:
        return 1


_TABLE = Table("small", "Small", "", (Number("one"), Number("two")), ())
_ALL = [program(name, Script(Path("/nowhere"))) for name in ("lua", "bzip2", "gzip")]
_LUA, _BZIP2, _GZIP = _ALL


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gather, "identity", lambda: dict(_MACHINE))
    monkeypatch.setattr(gather, "description", lambda: {"date": "", "trodden": "0.1.0, sources abc"})
    for module in (gather, suite):
        monkeypatch.setattr(module, "SUITE", tuple(_ALL))


def _store(directory: Path, *programs: str, value: int = 1) -> Store:
    store = Store(directory / "figures", _MACHINE)
    for name in programs:
        store.put(name, "one", "f", value)
        store.put(name, "unused", "f", 9)
    return store


def test_results_have_the_figures_of_the_table_and_their_origin(tmp_path: Path) -> None:
    found = gather_results(_TABLE, [_LUA], _store(tmp_path, "lua"), Failures(), None)
    assert found.machine == _MACHINE
    assert found.programs["lua"]["figures"] == {"one": 1}
    assert found.programs["lua"]["version"] == "1"
    assert found.programs["lua"]["measured"]["trodden"] == "0.1.0, sources abc"
    assert found.programs["lua"]["measured"]["date"].startswith("20")
    found.save(tmp_path)
    assert Results.load(tmp_path, "small") == found


def test_programs_that_were_not_requested_stay_in_the_order_of_the_suite(tmp_path: Path) -> None:
    before = gather_results(_TABLE, [_GZIP, _BZIP2], _store(tmp_path, "bzip2", "gzip"), Failures(), None)
    after = gather_results(
        _TABLE, [_LUA, _GZIP], _store(tmp_path, "lua", "gzip", value=2), Failures(), before
    )
    assert [(name, each["one"]) for name, each in after.figures.items()] == [
        ("lua", 2),
        ("bzip2", 1),
        ("gzip", 2),
    ]


def test_figures_of_another_machine_are_dropped(tmp_path: Path) -> None:
    store = _store(tmp_path, "bzip2", "lua")
    before = gather_results(_TABLE, [_BZIP2], store, Failures(), None)
    before.machine = {**_MACHINE, "processor": "Q"}
    after = gather_results(_TABLE, [_LUA], store, Failures(), before)
    assert list(after.programs) == ["lua"]


def test_a_failure_has_a_reason_and_the_rest_is_current(tmp_path: Path) -> None:
    before = gather_results(_TABLE, [_LUA], _store(tmp_path, "lua"), Failures(), None)
    failures = Failures()
    failures.add("lua", "two", BenchError("it broke"))
    failures.add("lua", "unused", BenchError("of another table"))
    after = gather_results(_TABLE, [_LUA], _store(tmp_path, "lua", value=5), failures, before)
    assert after.figures["lua"] == {"one": 5}
    assert after.failed == {"lua": ["it broke"]}
    again = gather_results(_TABLE, [_LUA], _store(tmp_path, "lua", value=5), Failures(), after)
    assert again.failed == {}


def test_a_program_that_cannot_be_measured_keeps_its_figures(tmp_path: Path) -> None:
    before = gather_results(_TABLE, [_LUA], _store(tmp_path, "lua"), Failures(), None)
    failures = Failures()
    failures.add("lua", "one", BenchError("it broke"))
    after = gather_results(_TABLE, [_LUA], _store(tmp_path / "other"), failures, before)
    assert after.figures["lua"] == {"one": 1}
    assert after.failed == {"lua": ["it broke"]}


def test_a_program_that_failed_partially_has_the_other_figures(tmp_path: Path) -> None:
    failures = Failures()
    failures.add("lua", "two", BenchError("it broke"))
    found = gather_results(_TABLE, [_LUA], _store(tmp_path, "lua"), failures, None)
    assert found.figures["lua"] == {"one": 1}
    assert found.failed == {"lua": ["it broke"]}


def test_the_overall_figure_is_computed_from_requested_programs(tmp_path: Path) -> None:
    def overall(programs: Sequence[SuiteProgram], figures: Programs) -> Json:
        return sum(each["one"] for each in figures.values()) if len(programs) > 1 else None

    table = Table("small", "Small", "", (Number("one"),), (), overall=overall)
    store = _store(tmp_path, "lua", "bzip2")
    before = gather_results(table, [_LUA, _BZIP2], store, Failures(), None)
    assert before.overall == 2
    assert gather_results(table, [_LUA], store, Failures(), before).overall == 2, "too few for a new one"
    before.overall_by = "0.1.0, sources of yesterday"
    assert gather_results(table, [_LUA], store, Failures(), before).overall is None, "of another trodden"


def test_reasons_are_short() -> None:
    failures = Failures()
    failures.add("lua", "build/edges", BenchError("\n".join(f"line {number}" for number in range(100))))
    [reason] = failures.reasons("lua")
    assert reason.splitlines() == ["line 0", *(f"line {number}" for number in range(88, 100))]
