from __future__ import annotations

from pathlib import Path

import pytest

from bench.build.fetching import as_source_packages
from bench.figures.line_agreement import compare
from bench.oracles import gcov
from bench.oracles.line_differences import Difference, Explainer, Reason
from bench.oracles.llvm_cov import from_tracefile
from bench.support.statistics import added, geometric_mean, middle, table
from tests.profile.making import function, profile_of, reading_of, unit_of
from trodden.profile.assemble import assemble

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


def test_region_lines_stand_below_their_file() -> None:
    text = ["SF:/src/a.c", "FN:3,f", "DA:3,2", "DA:4,0", "end_of_record", "SF:/src/b.h", "DA:4,5"]
    assert from_tracefile(text) == {"/src/a.c": {3: 2, 4: 0}, "/src/b.h": {4: 5}}


def test_only_lines_that_another_tool_knows_are_compared() -> None:
    ours = {"a": {1: 5, 2: 6, 3: 1, 4: 0, 5: 2, 6: 8}}
    clangs, gccs = {"a": {1: 5, 2: 7, 6: 8}}, {"a": {2: 6, 4: 0, 5: 1, 6: 4}}
    found = compare(ours, {"clang": clangs, "gcc": gccs, "regions": {"a": {2: 6, 6: 4}}})
    assert (found.lines, found.ran) == (5, 4)
    assert found.known == {"clang": 3, "gcc": 4, "regions": 2}
    assert found.equal == {"clang": 2, "gcc": 2, "regions": 1}
    assert (found.apart, found.apart_equal, found.against) == (4, 2, 1)
    assert found.unequal == [Difference("a", 5, 2, None, 1, None)]
    assert found.outvoted == {("a", 2)}
    shares = ["66.67%", "50.00%", "50.00%", "80.00%", "75.00%", "50.00%"]
    reasons = ["0", "0", "0", "0", "0", "0", "1"]
    assert found.row("p", {found.unequal[0]: None}) == ["p", "5", "4", *shares, "1", "1", *reasons]


def test_a_line_that_a_block_comes_back_to_counts_twice_for_clang() -> None:
    profile = profile_of(unit_of(function("f", LOOP, {"c": (4, 5, 4), "d": (6,)}, line=9)), {"f": TEN_ROUNDS})
    twice = Difference("/src/a.c", 4, 10, 20, None, None)
    begins = Difference("/src/a.c", 9, 0, 1, None, None)
    unknown = Difference("/src/a.c", 5, 10, 11, None, 7)
    explainer = Explainer.of(profile)
    assert dict(explainer.reasons([twice, begins, unknown])) == {
        twice: Reason.MENTIONS,
        begins: Reason.STARTS,
        unknown: None,
    }
    assert dict(explainer.reasons([unknown], [("/src/a.c", 6)])) == {unknown: Reason.FUNCTION}
    assert dict(explainer.reasons([unknown], [], {"/src/a.c": {5: 7}})) == {unknown: Reason.EARLY}
    assert dict(explainer.reasons([unknown], [], {"/src/a.c": {5: 8}})) == {unknown: None}


def test_a_jump_that_lies_on_the_line_it_leads_to() -> None:
    facts = function("f", "a>b a>c b>c c>exit", {"a": (1, 2), "b": (2,), "c": (3,)})
    flow = {"a>b": 4, "a>c": 6, "b>c": 4, "c>exit": 10}
    jump = Difference("/src/a.c", 2, 10, 11, 4, None)
    explainer = Explainer.of(profile_of(unit_of(facts), {"f": flow}))
    assert dict(explainer.reasons([jump])) == {jump: Reason.JUMP}


def test_a_call_that_did_not_come_back_is_a_reason() -> None:
    facts = function("f", "a>b b>exit", {"a": (1,), "b": (2,)})
    unit = unit_of(facts)
    reading = reading_of(unit, {"f": {"a>b": 7, "b>exit": 7}}, {(0, 0): 3})
    profile = assemble("/bin/prog", [unit], [reading])
    cut = Difference("/src/a.c", 2, 7, 10, None, None)
    assert dict(Explainer.of(profile).reasons([cut])) == {cut: Reason.CUT_SHORT}


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
