from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from bench import suite
from bench.cli.schedule import Failures
from bench.measures.model import Json, Measure
from bench.measures.store import Store
from bench.suite.model import SuiteProgram
from bench.support.errors import BenchError
from bench.tables import results as outcome
from bench.tables.layout.model import Programs, Table
from bench.tables.results import Results, gathered
from tests.bench.programs_of_shell import Script, program

_MACHINE: dict[str, str | int] = {"processor": "P", "cores": 2}


@dataclass(frozen=True)
class Number(Measure):
    name: str

    @property
    def key(self) -> str:
        return self.name

    def fingerprint(self, program: SuiteProgram) -> str:
        return "f"

    def take(self, program: SuiteProgram) -> Json:
        return 1


_TABLE = Table("small", "Small", "", (Number("one"), Number("two")), ())
_ALL = [program(name, Script(Path("/nowhere"))) for name in ("lua", "bzip2", "gzip")]
_LUA, _BZIP2, _GZIP = _ALL


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "identity", lambda: dict(_MACHINE))
    monkeypatch.setattr(outcome, "description", lambda: {"date": "", "trodden": "0.1.0, sources abc"})
    for module in (outcome, suite):
        monkeypatch.setattr(module, "SUITE", tuple(_ALL))


def _store(directory: Path, *programs: str, value: int = 1) -> Store:
    store = Store(directory / "figures", _MACHINE)
    for name in programs:
        store.put(name, "one", "f", value)
        store.put(name, "unasked", "f", 9)
    return store


def test_results_have_the_figures_of_the_table_and_where_they_come_from(tmp_path: Path) -> None:
    found = gathered(_TABLE, [_LUA], _store(tmp_path, "lua"), Failures(), None)
    assert found.machine == _MACHINE
    assert found.programs["lua"]["figures"] == {"one": 1}
    assert found.programs["lua"]["version"] == "1"
    assert found.programs["lua"]["measured"]["trodden"] == "0.1.0, sources abc"
    assert found.programs["lua"]["measured"]["date"].startswith("20")
    found.save(tmp_path)
    assert Results.load(tmp_path, "small") == found


def test_programs_that_were_not_asked_for_stay_in_the_order_of_the_suite(tmp_path: Path) -> None:
    before = gathered(_TABLE, [_GZIP, _BZIP2], _store(tmp_path, "bzip2", "gzip"), Failures(), None)
    after = gathered(_TABLE, [_LUA, _GZIP], _store(tmp_path, "lua", "gzip", value=2), Failures(), before)
    assert [(name, each["one"]) for name, each in after.figures.items()] == [
        ("lua", 2),
        ("bzip2", 1),
        ("gzip", 2),
    ]


def test_what_another_machine_has_measured_goes(tmp_path: Path) -> None:
    store = _store(tmp_path, "bzip2", "lua")
    before = gathered(_TABLE, [_BZIP2], store, Failures(), None)
    before.machine = {**_MACHINE, "processor": "Q"}
    after = gathered(_TABLE, [_LUA], store, Failures(), before)
    assert list(after.programs) == ["lua"]


def test_a_failure_says_why_and_the_rest_is_of_now(tmp_path: Path) -> None:
    before = gathered(_TABLE, [_LUA], _store(tmp_path, "lua"), Failures(), None)
    failures = Failures()
    failures.add("lua", "two", BenchError("it broke"))
    failures.add("lua", "unasked", BenchError("another table's affair"))
    after = gathered(_TABLE, [_LUA], _store(tmp_path, "lua", value=5), failures, before)
    assert after.figures["lua"] == {"one": 5}
    assert after.failed == {"lua": ["it broke"]}
    again = gathered(_TABLE, [_LUA], _store(tmp_path, "lua", value=5), Failures(), after)
    assert again.failed == {}


def test_a_program_of_which_nothing_can_be_measured_keeps_what_it_had(tmp_path: Path) -> None:
    before = gathered(_TABLE, [_LUA], _store(tmp_path, "lua"), Failures(), None)
    failures = Failures()
    failures.add("lua", "one", BenchError("it broke"))
    after = gathered(_TABLE, [_LUA], _store(tmp_path / "other"), failures, before)
    assert after.figures["lua"] == {"one": 1}
    assert after.failed == {"lua": ["it broke"]}


def test_a_program_that_failed_in_part_has_the_rest(tmp_path: Path) -> None:
    failures = Failures()
    failures.add("lua", "two", BenchError("it broke"))
    found = gathered(_TABLE, [_LUA], _store(tmp_path, "lua"), failures, None)
    assert found.figures["lua"] == {"one": 1}
    assert found.failed == {"lua": ["it broke"]}


def test_the_whole_is_computed_from_those_that_were_asked_for(tmp_path: Path) -> None:
    def whole(programs: Sequence[SuiteProgram], figures: Programs) -> Json:
        return sum(each["one"] for each in figures.values()) if len(programs) > 1 else None

    table = Table("small", "Small", "", (Number("one"),), (), whole=whole)
    store = _store(tmp_path, "lua", "bzip2")
    before = gathered(table, [_LUA, _BZIP2], store, Failures(), None)
    assert before.whole == 2
    assert gathered(table, [_LUA], store, Failures(), before).whole == 2, "too few for a new one"
    before.whole_by = "0.1.0, sources of yesterday"
    assert gathered(table, [_LUA], store, Failures(), before).whole is None, "of another trodden"


def test_reasons_are_short() -> None:
    failures = Failures()
    failures.add("lua", "build/edges", BenchError("\n".join(f"line {number}" for number in range(100))))
    [reason] = failures.reasons("lua")
    assert reason.splitlines() == ["line 0", *(f"line {number}" for number in range(88, 100))]
