"""What only the whole program tells of calls, over the units it is linked from."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.profile.making import function, profile_of, unit_of
from trodden.profile.calibrating import counted_functions
from trodden.profile.estimating import estimate
from trodden.profile.model import FunctionFacts, UnitFacts
from trodden.profile.whole_program import is_taken, taken_addresses, whole_program
from trodden.weigh.clues import BlockClues, CallClue, Ending, FunctionClues
from trodden.weigh.rates import Rates

SHAPE = "a>b a>c b>c c>exit"
"""A check: block b is where it goes if something is wrong."""


def with_calls(facts: FunctionFacts, local: bool = False, **callees: str) -> FunctionFacts:
    """``b="fail"``: block b calls fail."""
    labels = facts.graph.labels[: facts.graph.exit]
    blocks = [BlockClues(calls=tuple(map(CallClue, callees.get(label, "").split()))) for label in labels]
    return replace(facts, clues=FunctionClues(tuple(blocks), "void()", local))


def dying(name: str) -> FunctionFacts:
    facts = function(name, "a>exit")
    block = BlockClues(Ending.NEVER_RETURNS, calls=(CallClue("abort", ends=True),))
    return replace(facts, clues=FunctionClues((block,), "void()"))


def in_file(name: str, *functions: FunctionFacts) -> UnitFacts:
    return unit_of(*functions, files=[f"/src/{name}.c"])


PROGRAM = [
    in_file("main", with_calls(function("main", SHAPE), b="fail", c="grow")),
    in_file("fail", with_calls(function("fail", "a>exit"), a="die"), dying("die")),
    in_file("grow", with_calls(function("grow", SHAPE), b="fail")),
]


def test_calls_are_looked_up_in_other_units() -> None:
    found = {facts.name: (unit, facts.clues) for unit, facts in whole_program(PROGRAM)}
    assert {name: unit for name, (unit, _) in found.items()} == {"main": 0, "fail": 1, "die": 1, "grow": 2}
    calls = {
        name: [call for block in clues.blocks for call in block.calls] for name, (_, clues) in found.items()
    }
    assert calls["main"] == [CallClue("fail", complains=True, ends=True, sites=2), CallClue("grow", sites=1)]
    assert calls["fail"] == [CallClue("die", complains=True, ends=True, sites=1)]
    assert calls["grow"] == [CallClue("fail", complains=True, ends=True, sites=2)]


def test_the_facts_themselves_are_not_changed() -> None:
    before = [unit.functions for unit in PROGRAM]
    whole_program(PROGRAM)
    assert [unit.functions for unit in PROGRAM] == before
    assert before[0][0].clues.blocks[1].calls == (CallClue("fail"),)


def test_of_copies_in_several_units_the_first_counts() -> None:
    copied = with_calls(function("inline", "a>exit", shared=True), a="fail")
    units = [
        in_file("a", with_calls(function("main", SHAPE), b="inline"), copied),
        in_file("b", copied, dying("fail")),
    ]
    found = whole_program(units)
    assert [(unit, facts.name) for unit, facts in found] == [(0, "main"), (1, "fail"), (0, "inline")]
    assert found[2][1].clues.blocks[0].calls[0].sites == 1
    assert found[0][1].clues.blocks[1].calls[0].ends


def test_an_estimate_listens_to_what_is_in_other_units() -> None:
    """Nothing in main tells that fail does not come back."""
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
    assert main.clues[1].calls == (CallClue("fail", complains=True, ends=True, sites=2),)
    assert list(main.counts[:4]) == [1, 99, 1, 100]


def test_whose_address_is_used() -> None:
    """That of a static function by its own unit, that of others by any."""
    static = with_calls(function("f", "a>exit"), local=True)
    plain = with_calls(function("f", "a>exit"))
    units = [replace(in_file("a", plain), taken=("f",)), in_file("b", static)]
    taken = taken_addresses(units)
    assert taken == [{"f"}, set(), {"f"}]
    assert [is_taken(unit, plain, taken) for unit in (0, 1)] == [True, True]
    assert [is_taken(unit, static, taken) for unit in (0, 1)] == [True, False]
