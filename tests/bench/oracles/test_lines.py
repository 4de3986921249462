"""Line counts of other tools, and the reasons of differences."""

from __future__ import annotations

from pathlib import Path

from bench.oracles import gcov
from bench.oracles.line_differences import Difference, Explainer, Reason
from bench.oracles.llvm_cov import from_tracefile
from tests.profile.making import function, profile_of, unit_counts_of, unit_of
from trodden.profile.assemble import assemble

LOOP = "a>b b>c b>d c>b d>exit"
TEN_ROUNDS = {"a>b": 1, "b>c": 10, "b>d": 1, "c>b": 10, "d>exit": 1}


def test_lines_of_llvm_gcov_are_summed_by_file() -> None:
    one, other = ["file:a.c", "function:3,1,f", "lcount:3,2", "lcount:4,0"], ["file:/x/b.h", "lcount:4,5"]
    text = [*one, *other, "lcount:4,1"]
    assert gcov.from_intermediate(text, Path("/src")) == {"/src/a.c": {3: 2, 4: 0}, "/x/b.h": {4: 6}}


def test_gcc_gcov_sums_the_instances_of_a_template() -> None:
    lines = [{"line_number": 7, "count": 2}, {"line_number": 7, "count": 3}, {"line_number": 8, "count": 0}]
    document = {"files": [{"file": "../a.cc", "lines": lines}]}
    assert gcov.from_json(document, Path("/src/build")) == {"/src/a.cc": {7: 5, 8: 0}}


def test_lines_of_regions_follow_their_file() -> None:
    text = ["SF:/src/a.c", "FN:3,f", "DA:3,2", "DA:4,0", "end_of_record", "SF:/src/b.h", "DA:4,5"]
    assert from_tracefile(text) == {"/src/a.c": {3: 2, 4: 0}, "/src/b.h": {4: 5}}


def test_clang_counts_each_mention_of_a_line_in_a_block() -> None:
    profile = profile_of(unit_of(function("f", LOOP, {"c": (4, 5, 4), "d": (6,)}, line=9)), {"f": TEN_ROUNDS})
    twice = Difference("/src/a.c", 4, 10, 20, None, None)
    begins = Difference("/src/a.c", 9, 1, 2, None, None)
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


def test_a_call_that_did_not_return_is_a_reason() -> None:
    facts = function("f", "a>b b>exit", {"a": (1,), "b": (2,)})
    unit = unit_of(facts)
    reading = unit_counts_of(unit, {"f": {"a>b": 7, "b>exit": 7}}, {(0, 0): 3})
    profile = assemble("/bin/prog", [unit], [reading])
    cut = Difference("/src/a.c", 2, 7, 10, None, None)
    assert dict(Explainer.of(profile).reasons([cut])) == {cut: Reason.CUT_SHORT}
