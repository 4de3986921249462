"""Which function calls which, and how often."""

from __future__ import annotations

from dataclasses import replace

from tests.profile.making import function, profile_of, unit_of
from trodden.profile.analysis.calling import CallCount, calls_of
from trodden.profile.model import Profile
from trodden.program.facts import FunctionFacts
from trodden.weigh.features.block_features import BlockFeatures, CallFeatures, FunctionFeatures


def _calling(facts: FunctionFacts, *blocks: tuple[str, ...]) -> FunctionFacts:
    features = tuple(
        BlockFeatures(calls=tuple(CallFeatures(callee) for callee in callees)) for callees in blocks
    )
    return replace(facts, features=FunctionFeatures(features))


def _program() -> Profile:
    main = _calling(
        function("main", "a>b b>b b>c c>exit"), ("open", "work"), ("work", "", "work", ""), ("close",)
    )
    work = _calling(function("work", "x>y x>z y>exit z>exit"), (), ("fail",), ("",))
    flows = {
        "main": {"a>b": 1, "b>b": 9, "b>c": 1, "c>exit": 1},
        "work": {"x>z": 21, "z>exit": 21},
    }
    return profile_of(unit_of(main, work, function("unknown", "u>exit")), flows)


def test_calls_are_counted_by_the_blocks_that_make_them() -> None:
    assert calls_of(_program()) == [
        CallCount("main", "open", 1),
        CallCount("main", "work", 1 + 2 * 10),
        CallCount("main", "", 2 * 10),
        CallCount("main", "close", 1),
        CallCount("work", "fail", 0),
        CallCount("work", "", 21),
    ]


def test_some_functions_with_those_that_call_them() -> None:
    profile = _program()
    chosen = {"work": profile.functions["work"]}
    assert [(call.caller, call.callee) for call in calls_of(profile, chosen)] == [
        *(("main", "work"), ("work", "fail"), ("work", ""))
    ]


def test_fractions_are_added_up_as_they_are() -> None:
    profile = _program()
    main = replace(profile.functions["main"], block_counts=[1.0, 2.5, 1.0, 1.0])
    estimate = replace(profile, functions={"main": main})
    assert CallCount("main", "work", 6.0) in calls_of(estimate)
