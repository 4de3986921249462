"""Features of calls that only the whole program determines, over the units it is linked from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.profile.making import function, profile_of, unit_of
from trodden.estimating.calibrate import counted_functions
from trodden.estimating.estimate import estimate
from trodden.estimating.whole_program import known_functions, started_functions, whole_program
from trodden.profile.analysis.calling import CallCount, calls_of
from trodden.profile.estimated import one_of_each
from trodden.program.facts import FunctionFacts, UnitFacts
from trodden.weigh.features.block_features import BlockEnding, BlockFeatures, CallFeatures, FunctionFeatures
from trodden.weigh.heuristics.rates import WL94, Rates

SHAPE = "a>b a>c b>c c>exit"
"""A check: block b is where it goes if something is wrong."""


def with_calls(facts: FunctionFacts, local: bool = False, **callees: str) -> FunctionFacts:
    """``b="fail"``: block b calls fail."""
    labels = facts.graph.labels[: facts.graph.exit]
    blocks = [
        BlockFeatures(calls=tuple(map(CallFeatures, callees.get(label, "").split()))) for label in labels
    ]
    return replace(facts, features=FunctionFeatures(tuple(blocks), "void()", local))


def dying(name: str) -> FunctionFacts:
    facts = function(name, "a>exit")
    block = BlockFeatures(BlockEnding.NEVER_RETURNS, calls=(CallFeatures("abort", ends=True),))
    return replace(facts, features=FunctionFeatures((block,), "void()"))


def in_file(name: str, *functions: FunctionFacts) -> UnitFacts:
    return unit_of(*functions, files=[f"/src/{name}.c"])


PROGRAM = [
    in_file("main", with_calls(function("main", SHAPE), b="fail", c="grow")),
    in_file("fail", with_calls(function("fail", "a>exit"), a="die"), dying("die")),
    in_file("grow", with_calls(function("grow", SHAPE), b="fail")),
]


def test_callees_are_found_in_other_units() -> None:
    found = {facts.name: (known.unit, facts.features) for facts, known in whole_program(PROGRAM)}
    assert {name: unit for name, (unit, _) in found.items()} == {"main": 0, "fail": 1, "die": 1, "grow": 2}
    calls = {
        name: [call for block in features.blocks for call in block.calls]
        for name, (_, features) in found.items()
    }
    assert calls["main"] == [
        CallFeatures("fail", reports_error=True, ends=True, sites=2),
        CallFeatures("grow", sites=1),
    ]
    assert calls["fail"] == [CallFeatures("die", reports_error=True, ends=True, sites=1)]
    assert calls["grow"] == [CallFeatures("fail", reports_error=True, ends=True, sites=2)]


def test_the_facts_themselves_are_not_changed() -> None:
    before = [unit.functions for unit in PROGRAM]
    whole_program(PROGRAM)
    assert [unit.functions for unit in PROGRAM] == before
    assert before[0][0].features.blocks[1].calls == (CallFeatures("fail"),)


def test_the_first_comdat_copy_counts() -> None:
    copied = with_calls(function("inline", "a>exit", shared=True), a="fail")
    units = [
        in_file("a", with_calls(function("main", SHAPE), b="inline"), copied),
        in_file("b", copied, dying("fail")),
    ]
    found = whole_program(units)
    assert [(known.unit, facts.name) for facts, known in found] == [(0, "main"), (1, "fail"), (0, "inline")]
    assert found[2][1].features.blocks[0].calls[0].sites == 1
    assert found[0][1].features.blocks[1].calls[0].ends


def test_an_estimate_uses_features_of_other_units() -> None:
    """Nothing in main shows that fail does not return."""
    rates = Rates("some", {"ends-badly": 0.9})
    whole = estimate("p", PROGRAM, rates)
    assert whole.functions["main"].block_counts[:3] == pytest.approx([1, 0.1, 1])
    assert whole.functions["grow"].block_counts[1] == pytest.approx(0.1)
    alone = estimate("p", PROGRAM[:1], rates)
    assert alone.functions["main"].block_counts[:3] == pytest.approx([1, 0.5, 1])
    assert whole.units == tuple(PROGRAM)


def test_calibration_sees_what_an_estimate_sees() -> None:
    unit = unit_of(*(facts for unit in PROGRAM for facts in unit.functions))
    flow = {"a>b": 1, "a>c": 99, "b>c": 1, "c>exit": 100}
    main, *_ = counted_functions(profile_of(unit, {"main": flow}), "p.trod")
    assert main.features[1].calls == (CallFeatures("fail", reports_error=True, ends=True, sites=2),)
    assert list(main.counts[:4]) == [1, 99, 1, 100]


def test_functions_whose_address_is_taken() -> None:
    """That of a static function by its own unit, that of others by any."""
    static = with_calls(function("f", "a>exit"), local=True)
    plain = with_calls(function("f", "a>exit"))
    said = replace(in_file("a", static), taken=("f",))
    assert taken([said, in_file("b", plain)]) == [(0, "f")]
    assert taken([said, in_file("b", static)]) == [(0, "f")]
    assert taken([replace(in_file("a"), taken=("f",)), in_file("b", plain)]) == [(1, "f")]
    assert taken([replace(in_file("a"), taken=("f",)), in_file("b", static)]) == []


def taken(units: list[UnitFacts]) -> list[tuple[int, str]]:
    known = known_functions(units, one_of_each(units))
    return [(each.unit, each.symbol) for each in known if each.taken]


def test_aliases() -> None:
    """The alias of a static function is known to all units, its own name is not."""
    hidden = with_calls(function("real", "a>exit"), local=True)
    other = with_calls(function("real", "a>exit"))
    caller = with_calls(function("main", "a>exit"), a="known")
    units = [
        in_file("main", caller),
        in_file("other", other),
        replace(in_file("hidden", hidden), aliases=(("known", "real"),)),
    ]
    known = known_functions(units, one_of_each(units))
    assert [each.aliases for each in known] == [(), (), ("known",)]
    assert taken([replace(units[0], taken=("known",)), *units[1:]]) == [(2, "real")]
    entries = [each.entries for each in estimate("p", units, WL94).functions.values()]
    assert sorted(entries) == [0, 1, 1]
    [main, *_] = whole_program(units)
    assert main[1].features.blocks[0].calls[0].sites == 1


def test_a_function_takes_precedence_over_an_alias() -> None:
    units = [
        replace(
            in_file("main", with_calls(function("main", "a>exit"), a="f"), function("weak_f", "a>exit")),
            aliases=(("f", "weak_f"),),
        ),
        in_file("f", function("f", "a>exit")),
    ]
    entries = {name: each.entries for name, each in estimate("p", units, WL94).functions.items()}
    assert entries == {"main": 1, "f": 1, "weak_f": 0}
    alone = {name: each.entries for name, each in estimate("p", units[:1], WL94).functions.items()}
    assert alone == {"main": 1, "weak_f": 1}


def test_the_alias_of_a_discarded_comdat_copy() -> None:
    copied = function("base", "a>exit", shared=True)
    units = [
        in_file("a", copied),
        replace(in_file("b", copied), aliases=(("complete", "base"),)),
        in_file("c", with_calls(function("main", "a>exit"), a="complete complete")),
    ]
    entries = {name: each.entries for name, each in estimate("p", units, WL94).functions.items()}
    assert entries == {"main": 1, "base": 2}


def test_constructors_and_destructors() -> None:
    """Once in a run: by the symbol in its unit, and also if two units have a COMDAT copy."""
    static = with_calls(function("setup", "a>exit"), local=True)
    shared = function("inline_setup", "a>exit", shared=True)
    units = [
        in_file("main", function("main", "a>exit"), static),
        replace(in_file("a", static, shared), started=("inline_setup", "setup")),
        replace(in_file("b", shared), started=("elsewhere", "inline_setup")),
    ]
    functions = one_of_each(units)
    known = known_functions(units, functions)
    numbers = started_functions(units, known)
    assert [(known[number].unit, known[number].symbol) for number in numbers] == [
        (1, "setup"),
        (1, "inline_setup"),
    ]
    entries = {(each.unit, name): each.entries for name, each in estimate("p", units, WL94).functions.items()}
    assert sorted(entries.values()) == [0, 1, 1, 1]


def test_calls_by_another_name_are_calls_of_the_chosen_function() -> None:
    units = [
        in_file("main", with_calls(function("main", "a>exit"), a="known puts")),
        replace(in_file("real", function("real", "a>exit")), aliases=(("known", "real"),)),
    ]
    profile = estimate("p", units, WL94)
    assert calls_of(profile, {"real": profile.functions["real"]}) == [CallCount("main", "known", 1)]
