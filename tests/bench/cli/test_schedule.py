from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from bench.build.configurations import GUIDED
from bench.cli import schedule
from bench.cli.progress import Lines
from bench.cli.schedule import Request, Schedule, configs_of, merge_measures
from bench.measures import times
from bench.measures.model import Json, Measure
from bench.measures.store import Store
from bench.measures.times import Times
from bench.suite.model import SuiteProgram
from tests.bench.shell_programs import Script, program

_MACHINE = {"processor": "P"}


@dataclass(frozen=True)
class Logged(Measure):
    """Logs when it is measured."""

    name: str
    log: list[str] = field(compare=False)
    config: str = "clang"
    alone: bool = False

    @property
    def key(self) -> str:
        return self.name

    @property
    def configs(self) -> tuple[str, ...]:
        return (self.config,)

    @property
    def exclusive(self) -> bool:
        return self.alone

    def fingerprint(self, program: SuiteProgram) -> str:
        return self.name

    def measure(self, program: SuiteProgram) -> Json:
        self.log.append(f"{program.name} {self.name}")
        return len(self.log)


def _executed(directory: Path, requests: Sequence[Request]) -> Schedule:
    schedule = Schedule(Store(directory / "figures", _MACHINE), Lines(), jobs=1)
    schedule.execute(requests)
    return schedule


def test_exclusive_measures_are_last(work: Path) -> None:
    log: list[str] = []
    measures = [Logged("time", log, alone=True), Logged("count", log), Logged("size", log)]
    both = [program(name, Script(work / name)) for name in ("order-a", "order-b")]
    schedule = _executed(work, [(each, measures) for each in both])
    assert log == [
        *("order-a count", "order-a size", "order-b count", "order-b size"),
        *("order-a time", "order-b time"),
    ]
    assert not schedule.failures.found


def test_kept_figures_are_neither_built_nor_measured_again(work: Path) -> None:
    log: list[str] = []
    first = program("again", Script(work / "again"))
    _executed(work, [(first, [Logged("count", log)])])
    source = Script(work / "again")
    _executed(work, [(program("again", source), [Logged("count", log), Logged("size", log)])])
    assert log == ["again count", "again size"]
    _executed(work, [(program("again", source), [Logged("count", log)])])
    assert log == ["again count", "again size"]


def test_a_failed_build_affects_only_measures_that_need_it(work: Path) -> None:
    log: list[str] = []
    bad = program("bad", Script(work / "bad", broken=frozenset({"edges"})))
    good = program("good", Script(work / "good"))
    measures = [Logged("plain", log), Logged("ours", log, config="edges")]
    schedule = _executed(work, [(bad, measures), (good, measures)])
    assert log == ["bad plain", "good plain", "good ours"]
    assert schedule.failures.reasons("bad") == ["edges cannot be built\nfirst\nlast"]
    assert schedule.failures.reasons("bad", {"plain"}) == []
    assert schedule.failures.reasons("good") == []


def test_a_wrong_output_of_the_baseline_prevents_all_measures(work: Path) -> None:
    log: list[str] = []
    wrong = program("wrong", Script(work / "wrong"), output="something else")
    schedule = _executed(work, [(wrong, [Logged("plain", log), Logged("ours", log, config="edges")])])
    assert log == []
    [reason] = schedule.failures.reasons("wrong")
    assert reason.startswith("wrong, clang, ref: wrong output")


def test_a_build_with_another_output_is_left_out(work: Path) -> None:
    log: list[str] = []
    source = Script(work / "odd", bodies={"edges": "echo more"})
    schedule = _executed(
        work, [(program("odd", source), [Logged("plain", log), Logged("ours", log, config="edges")])]
    )
    assert log == ["odd plain"]
    assert schedule.failures.reasons("odd")[0].startswith("odd, edges, ref: wrong output")


def test_an_unexpected_status_is_reported_with_the_last_messages(work: Path) -> None:
    source = Script(work / "failing", bodies={"clang": "echo oh dear >&2\nexit 3"})
    schedule = _executed(work, [(program("failing", source), [Logged("plain", [])])])
    assert schedule.failures.reasons("failing") == [
        "failing, clang, ref: ended with status 3, not 0: oh dear"
    ]


@dataclass(frozen=True)
class Buggy(Logged):
    """Raises an unexpected error."""

    def measure(self, program: SuiteProgram) -> Json:
        empty: dict[str, int] = {}
        return empty["missing"]


def test_a_bug_in_the_benchmark_does_not_stop_the_rest(work: Path) -> None:
    log: list[str] = []
    measures = [Buggy("wrong", log), Logged("right", log)]
    schedule = _executed(work, [(program("buggy", Script(work / "buggy")), measures)])
    assert log == ["buggy right"]
    [reason] = schedule.failures.reasons("buggy")
    assert re.fullmatch(r"a bug in the benchmark: KeyError: 'missing' \(test_schedule.py:\d+\)", reason)


def test_figures_are_not_kept_if_the_sources_change_meanwhile(
    work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    versions = iter(["as it was", "as it was", "changed", "changed"])
    monkeypatch.setattr(schedule, "trodden_version", lambda: next(versions))
    log: list[str] = []
    measures = [Logged("first", log), Logged("second", log)]
    store = Store(work / "figures", _MACHINE)
    in_progress = Schedule(store, Lines(), jobs=1, sources="as it was")
    in_progress.execute([(program("edited", Script(work / "edited")), [*measures, Logged("third", log)])])
    assert store.get("edited", "first") is not None
    assert store.get("edited", "third") is None
    assert in_progress.failures.reasons("edited") == [
        "edited: trodden's sources have changed meanwhile; start again"
    ]


def test_the_guided_build_is_the_last() -> None:
    log: list[str] = []
    assert configs_of([Logged("a", log, config=GUIDED), Logged("b", log, config="paths")]) == [
        "paths",
        GUIDED,
    ]


def test_rounds_are_shared_and_extended_one_by_one(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "_SAMPLE_SECONDS", 0.0)
    source = Script(work / "timed")
    timed = program("timed", source)
    [both] = merge_measures([Times(("edges",), rounds=2), Times(("clang-ir",), rounds=3)])
    assert both.configs == ("clang", "edges", "clang-ir")
    one = both.extend(timed, None)
    assert [sorted(each) for each in one["rounds"]] == [["clang", "clang-ir", "edges"]]
    assert both.remaining(timed, one) == 2
    three = both.extend(timed, both.extend(timed, one))
    assert three["rounds"][0] == one["rounds"][0]
    assert both.remaining(timed, three) == 0
    # A build that is added later catches up together with its baseline.
    more = Times(("edges", "gcc-arcs"), rounds=3)
    four = more.extend(timed, three)
    assert sorted(four["rounds"][3]) == ["gcc", "gcc-arcs"]
    # The part of one table does not have the builds of another.
    part = Times(("edges",)).part(timed, four)
    assert [sorted(each) for each in part["rounds"]] == [["clang", "edges"]] * 3


def test_samples_of_a_changed_build_are_dropped(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(times, "_SAMPLE_SECONDS", 0.0)
    measure = Times(("edges",), rounds=1)
    before = measure.measure(program("changed-before", Script(work / "one")))
    changed = program("changed-after", Script(work / "two", bodies={"edges": "true"}))
    assert measure.remaining(changed, before) == 1
    after = measure.extend(changed, before)
    assert [sorted(each) for each in after["rounds"]] == [["clang"], ["clang", "edges"]]
    assert after["rounds"][0]["clang"] == before["rounds"][0]["clang"]


def test_failed_builds_are_not_timed() -> None:
    assert Times(("edges", "gcc-arcs")).without({"edges"}) == Times(("clang", "gcc", "gcc-arcs"))
    assert Times(("edges", "gcc-arcs")).without({"gcc"}) == Times(("clang", "edges"))
    assert Times(("edges",)).without({"clang"}) is None
