from __future__ import annotations

from pathlib import Path

import pytest

from bench import gcov
from bench.agree import compare_lines
from bench.explain import Difference, Explainer, Reason
from bench.fetching import as_source_packages
from bench.placement import placement
from bench.tables import added, geometric_mean, middle, table
from tests.profile.making import function, profile_of, unit_of
from trodden.graph.cfg import Graph
from trodden.plan.edges import eprof
from trodden.plan.probes import Plan, Trip

LOOP = "a>b b>c b>d c>b d>exit"
TEN_ROUNDS = {"a>b": 1, "b>c": 10, "b>d": 1, "c>b": 10, "d>exit": 1}


def test_package_sources_of_both_notations_ask_for_source_code() -> None:
    assert as_source_packages("Types: deb\nURIs: mirror://x\n") == "Types: deb-src\nURIs: mirror://x\n"
    assert as_source_packages("deb mirror://x stable main\n# deb y\n") == (
        "deb-src mirror://x stable main\n# deb y\n"
    )


def test_llvm_gcov_lines_are_added_up_by_file() -> None:
    one, other = ["file:a.c", "function:3,1,f", "lcount:3,2", "lcount:4,0"], ["file:/x/b.h", "lcount:4,5"]
    text = [*one, *other, "lcount:4,1"]
    assert gcov.from_intermediate(text, Path("/src")) == {"/src/a.c": {3: 2, 4: 0}, "/x/b.h": {4: 6}}


def test_gcc_gcov_adds_the_instances_of_a_template() -> None:
    lines = [{"line_number": 7, "count": 2}, {"line_number": 7, "count": 3}, {"line_number": 8, "count": 0}]
    document = {"files": [{"file": "../a.cc", "lines": lines}]}
    assert gcov.from_json(document, Path("/src/build")) == {"/src/a.cc": {7: 5, 8: 0}}


def test_only_lines_that_both_know_are_compared() -> None:
    both, differences = compare_lines({"a": {1: 5, 2: 6, 3: 1}}, {"a": {1: 5, 2: 7}}, {"a": {2: 6}})
    assert both == 2
    assert differences == [Difference("a", 2, 6, 7, 6)]


def test_a_line_that_a_block_comes_back_to_counts_twice_for_clang() -> None:
    profile = profile_of(unit_of(function("f", LOOP, {"c": (4, 5, 4), "d": (6,)}, line=9)), {"f": TEN_ROUNDS})
    twice = Difference("/src/a.c", 4, 10, 20, None)
    begins = Difference("/src/a.c", 9, 0, 1, None)
    sided = Difference("/src/a.c", 6, 1, 3, 1)
    unknown = Difference("/src/a.c", 5, 10, 11, None)
    assert dict(Explainer.of(profile).reasons([twice, begins, unknown])) == {
        twice: Reason.MENTIONS,
        begins: Reason.STARTS,
        unknown: None,
    }
    assert dict(Explainer.of(profile).reasons([sided, unknown])) == {
        sided: Reason.GCC,
        unknown: Reason.FUNCTION,
    }


def test_a_call_that_did_not_come_back_is_a_reason() -> None:
    facts = function("f", "a>b b>exit", {"a": (1,), "b": (2,)}, exits=["a"])
    profile = profile_of(unit_of(facts), {"f": {"a>b": 7, "b>exit": 7, "!a": 3}})
    cut = Difference("/src/a.c", 2, 7, 10, None)
    assert dict(Explainer.of(profile).reasons([cut])) == {cut: Reason.CUT_SHORT}


def test_increments_of_chosen_counters_beside_those_of_every_block() -> None:
    found = placement(profile_of(unit_of(function("f", LOOP)), {"f": TEN_ROUNDS}))
    assert (found.functions, found.edges, found.counters) == (1, 5, 2)
    assert found.redundant == 1 + 11 + 10 + 1
    assert found.optimal == 10 + 1
    assert found.reduction == pytest.approx(23 / 11)


def test_a_loop_that_tells_its_trips_is_counted_where_it_is_left() -> None:
    def plan(graph: Graph) -> Plan:
        return eprof(graph, [1.0, 10.0, 1.0, 10.0, 1.0, 1.0], [Trip(3, (2,), 0.5)])

    found = placement(profile_of(unit_of(function("f", LOOP, planner=plan)), {"f": TEN_ROUNDS}))
    assert found.trips == 1
    assert found.optimal == 2


def test_means_and_spreads() -> None:
    assert geometric_mean([1.0, 4.0]) == pytest.approx(2.0)
    assert middle([3.0, 1.0, 2.0]) == (2.0, 1.5, 2.5)
    assert middle([2.0]) == (2.0, 2.0, 2.0)
    assert added(1.085) == "+8.5%"
    assert added(0.998) == "-0.2%"


def test_table() -> None:
    assert table(("name", "x"), [["long name", "1"], ["b", "22"]]).splitlines() == [
        "name        x",
        "---------  --",
        "long name   1",
        "b          22",
    ]
