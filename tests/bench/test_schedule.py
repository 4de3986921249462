from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bench.build.configurations import GUIDED
from bench.cli import schedule
from bench.cli.progress import Lines
from bench.cli.schedule import Schedule, Wanted, joined, ways_of
from bench.measures import times
from bench.measures.model import Json, Measure
from bench.measures.store import Store
from bench.measures.times import Times
from bench.suite.model import SuiteProgram
from tests.bench.programs_of_shell import Script, program

_MACHINE = {"processor": "P"}


@dataclass(frozen=True)
class Noted(Measure):
    """Notes when it is taken."""

    name: str
    log: list[str] = field(compare=False)
    way: str = "clang"
    alone: bool = False

    @property
    def key(self) -> str:
        return self.name

    @property
    def ways(self) -> tuple[str, ...]:
        return (self.way,)

    @property
    def exclusive(self) -> bool:
        return self.alone

    def fingerprint(self, program: SuiteProgram) -> str:
        return self.name

    def take(self, program: SuiteProgram) -> Json:
        self.log.append(f"{program.name} {self.name}")
        return len(self.log)


def _carried_out(directory: Path, wanted: Sequence[Wanted]) -> Schedule:
    schedule = Schedule(Store(directory / "figures", _MACHINE), Lines(), jobs=1)
    schedule.carry_out(wanted)
    return schedule


def test_times_come_last_and_alone(work: Path) -> None:
    log: list[str] = []
    measures = [Noted("time", log, alone=True), Noted("count", log), Noted("size", log)]
    both = [program(name, Script(work / name)) for name in ("order-a", "order-b")]
    schedule = _carried_out(work, [(each, measures) for each in both])
    assert log == [
        *("order-a count", "order-a size", "order-b count", "order-b size"),
        *("order-a time", "order-b time"),
    ]
    assert not schedule.failures.found


def test_what_is_kept_is_neither_built_nor_taken_again(work: Path) -> None:
    log: list[str] = []
    first = program("again", Script(work / "again"))
    _carried_out(work, [(first, [Noted("count", log)])])
    recipe = Script(work / "again")
    _carried_out(work, [(program("again", recipe), [Noted("count", log), Noted("size", log)])])
    assert log == ["again count", "again size"]
    _carried_out(work, [(program("again", recipe), [Noted("count", log)])])
    assert log == ["again count", "again size"]


def test_a_build_that_fails_takes_only_what_needs_it(work: Path) -> None:
    log: list[str] = []
    bad = program("bad", Script(work / "bad", broken=frozenset({"edges"})))
    good = program("good", Script(work / "good"))
    measures = [Noted("plain", log), Noted("ours", log, way="edges")]
    schedule = _carried_out(work, [(bad, measures), (good, measures)])
    assert log == ["bad plain", "good plain", "good ours"]
    assert schedule.failures.reasons("bad") == ["edges cannot be built\nfirst\nlast"]
    assert schedule.failures.reasons("bad", {"plain"}) == []
    assert schedule.failures.reasons("good") == []


def test_a_wrong_output_stops_the_program_before_anything_is_measured(work: Path) -> None:
    log: list[str] = []
    wrong = program("wrong", Script(work / "wrong"), said="something else")
    schedule = _carried_out(work, [(wrong, [Noted("plain", log), Noted("ours", log, way="edges")])])
    assert log == []
    [reason] = schedule.failures.reasons("wrong")
    assert reason.startswith("wrong, clang, ref: put out something else")


def test_a_build_that_says_something_else_is_left_out(work: Path) -> None:
    log: list[str] = []
    recipe = Script(work / "odd", bodies={"edges": "echo more"})
    schedule = _carried_out(
        work, [(program("odd", recipe), [Noted("plain", log), Noted("ours", log, way="edges")])]
    )
    assert log == ["odd plain"]
    assert schedule.failures.reasons("odd")[0].startswith("odd, edges, ref: put out something else")


def test_a_status_that_is_not_meant_is_told_with_what_was_said(work: Path) -> None:
    recipe = Script(work / "failing", bodies={"clang": "echo oh dear >&2\nexit 3"})
    schedule = _carried_out(work, [(program("failing", recipe), [Noted("plain", [])])])
    assert schedule.failures.reasons("failing") == [
        "failing, clang, ref: ended with status 3, not 0: oh dear"
    ]


@dataclass(frozen=True)
class Mistaken(Noted):
    """Goes wrong as nothing should."""

    def take(self, program: SuiteProgram) -> Json:
        empty: dict[str, int] = {}
        return empty["missing"]


def test_a_mistake_of_the_bench_does_not_stop_the_rest(work: Path) -> None:
    log: list[str] = []
    measures = [Mistaken("wrong", log), Noted("right", log)]
    schedule = _carried_out(work, [(program("mistaken", Script(work / "mistaken")), measures)])
    assert log == ["mistaken right"]
    [reason] = schedule.failures.reasons("mistaken")
    assert re.fullmatch(r"a mistake of the bench: KeyError: 'missing' \(test_schedule.py:\d+\)", reason)


def test_figures_of_sources_that_change_meanwhile_are_not_kept(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = iter(["as it was", "as it was", "changed", "changed"])
    monkeypatch.setattr(schedule, "trodden_version", lambda: next(versions))
    log: list[str] = []
    measures = [Noted("first", log), Noted("second", log)]
    store = Store(work / "figures", _MACHINE)
    under_way = Schedule(store, Lines(), jobs=1, sources="as it was")
    under_way.carry_out([(program("edited", Script(work / "edited")), [*measures, Noted("third", log)])])
    assert store.get("edited", "first") is not None
    assert store.get("edited", "third") is None
    assert under_way.failures.reasons("edited") == [
        "edited: trodden's sources have changed meanwhile; start again"
    ]


def test_the_guided_build_is_made_last() -> None:
    log: list[str] = []
    assert ways_of([Noted("a", log, way=GUIDED), Noted("b", log, way="paths")]) == ["paths", GUIDED]


def test_rounds_are_shared_and_kept_one_by_one(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "_SAMPLE_SECONDS", 0.0)
    recipe = Script(work / "timed")
    timed = program("timed", recipe)
    [both] = joined([Times(("edges",), rounds=2), Times(("clang-ir",), rounds=3)])
    assert both.ways == ("clang", "edges", "clang-ir")
    one = both.go_on(timed, None)
    assert [sorted(each) for each in one["rounds"]] == [["clang", "clang-ir", "edges"]]
    assert both.left(timed, one) == 2
    three = both.go_on(timed, both.go_on(timed, one))
    assert three["rounds"][0] == one["rounds"][0]
    assert both.left(timed, three) == 0
    # A build that joins later catches up together with its peer.
    more = Times(("edges", "gcc-arcs"), rounds=3)
    four = more.go_on(timed, three)
    assert sorted(four["rounds"][3]) == ["gcc", "gcc-arcs"]
    # What belongs to one table does not have the builds of another.
    part = Times(("edges",)).part(timed, four)
    assert [sorted(each) for each in part["rounds"]] == [["clang", "edges"]] * 3


def test_samples_of_a_build_that_changed_are_dropped(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "_SAMPLE_SECONDS", 0.0)
    measure = Times(("edges",), rounds=1)
    before = measure.take(program("changed-before", Script(work / "one")))
    changed = program("changed-after", Script(work / "two", bodies={"edges": "true"}))
    assert measure.left(changed, before) == 1
    after = measure.go_on(changed, before)
    assert [sorted(each) for each in after["rounds"]] == [["clang"], ["clang", "edges"]]
    assert after["rounds"][0]["clang"] == before["rounds"][0]["clang"]


def test_builds_that_failed_are_not_timed() -> None:
    assert Times(("edges", "gcc-arcs")).without({"edges"}) == Times(("clang", "gcc", "gcc-arcs"))
    assert Times(("edges", "gcc-arcs")).without({"gcc"}) == Times(("clang", "edges"))
    assert Times(("edges",)).without({"clang"}) is None
