"""Conditions taken apart into tests, and what is certain of an evaluation."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from trodden.report.narrate.certainty import Certainty
from trodden.report.narrate.conditions import FALSE, TRUE, Condition, condition_of
from trodden.report.narrate.tokens import SourceText, tokens_of


def _condition(text: str) -> Condition | None:
    tokens = tokens_of(SourceText(text.splitlines() or [""]), 1, None)
    return condition_of(tokens, 0, len(tokens.texts))


def _known(text: str) -> Condition:
    condition = _condition(text)
    assert condition is not None
    return condition


ENDS = TRUE, FALSE


@pytest.mark.parametrize(
    ("text", "tests"),
    [
        ("a", [("a", TRUE, FALSE)]),
        ("a && b", [("a", 1, FALSE), ("b", TRUE, FALSE)]),
        ("a || b", [("a", TRUE, 1), ("b", TRUE, FALSE)]),
        ("a && b || c", [("a", 1, 2), ("b", TRUE, 2), ("c", TRUE, FALSE)]),
        ("a && (b || c)", [("a", 1, FALSE), ("b", TRUE, 2), ("c", TRUE, FALSE)]),
        ("!(a && b)", [("a", 1, TRUE), ("b", FALSE, TRUE)]),
        ("!!(a || b)", [("a", TRUE, 1), ("b", TRUE, FALSE)]),
        ("a ? b : c", [("a", 1, 2), ("b", TRUE, FALSE), ("c", TRUE, FALSE)]),
        ("a ? b : c ? d : e", [("a", 1, 2), ("b", *ENDS), ("c", 3, 4), ("d", *ENDS), ("e", *ENDS)]),
        ("a and not b or c", [("a", 1, 2), ("not b", TRUE, 2), ("c", TRUE, FALSE)]),
        # An operator applies to all of a test that it precedes, or to a part of it.
        ("!a && !f(b)", [("!a", 1, FALSE), ("!f(b)", TRUE, FALSE)]),
        ("!a == b", [("!a == b", TRUE, FALSE)]),
        ("((a) && (((b))))", [("a", 1, FALSE), ("b", TRUE, FALSE)]),
        # What is assigned, listed or passed is evaluated as a whole.
        ("x = a && b", [("x = a && b", TRUE, FALSE)]),
        ("a += b || c", [("a += b || c", TRUE, FALSE)]),
        ("f(a && b)", [("f(a && b)", TRUE, FALSE)]),
        ("a, b && c", [("a, b && c", TRUE, FALSE)]),
        ("auto p = f()", [("auto p = f()", TRUE, FALSE)]),
        # Comparisons are no assignments.
        ("a == b && c <= d && e >= f", [("a == b", 1, FALSE), ("c <= d", 2, FALSE), ("e >= f", *ENDS)]),
        ("a != b || c > d", [("a != b", TRUE, 1), ("c > d", *ENDS)]),
        ("a <<= b && c", [("a <<= b && c", TRUE, FALSE)]),
        ("(c = get()) != EOF && isalpha(c)", [("(c = get()) != EOF", 1, FALSE), ("isalpha(c)", *ENDS)]),
        # Comments and line ends are none of the text.
        ("a /* b */\n  &&  c // d", [("a", 1, FALSE), ("c", TRUE, FALSE)]),
        ("a\n#ifdef B\n&& b\n#endif", [("a && b", TRUE, FALSE)]),
        ("a &&", [("a &&", TRUE, FALSE)]),
    ],
)  # fmt: skip
def test_tests_and_what_follows_them(text: str, tests: list[tuple[str, int, int]]) -> None:
    assert [(test.text, test.on_true, test.on_false) for test in _known(text).tests] == tests


@pytest.mark.parametrize("text", ["", "1", "true", "(0)", "()"])
def test_constants_are_no_conditions(text: str) -> None:
    assert _condition(text) is None


@pytest.mark.parametrize(
    ("text", "hides"),
    [
        ("a && b", False),
        ("f(a) && b", False),
        ("f(a && b) && c", True),
        ("a && f([&] { return b; })", True),
        ("CHECK(a) && b", True),
        ("a == LIMIT && b", False),
    ],
)
def test_tests_that_may_hide_others(text: str, hides: bool) -> None:
    assert _known(text).hides is hides


def test_brackets_beyond_all_measure() -> None:
    text = "(a && " * 500 + "b" + ")" * 500
    assert [test.text for test in _known(text).tests][:3] == ["a", "a", "a"]
    assert len(_known(text).tests) < 100


@pytest.mark.parametrize(
    ("text", "values", "whole", "parts"),
    [
        ("a && b", {}, True, ["a: True", "b: True"]),
        ("a && b", {}, False, ["a && b: False"]),
        ("a && b", {0: True}, False, ["a: True", "b: False"]),
        ("a && b", {0: False}, None, ["a: False"]),
        ("a || b", {}, False, ["a: False", "b: False"]),
        ("a && b && c", {0: True}, False, ["a: True", "b && c: False"]),
        ("a && (b || c) && d", {0: True}, False, ["a: True", "(b || c) && d: False"]),
        ("(a || b) && c", {}, True, ["a || b: True", "c: True"]),
        ("(a || b) && c", {0: False}, None, ["a: False"]),
        ("(a || b) && c", {0: False}, False, ["a: False", "(a || b) && c: False"]),
        ("!(a && b)", {}, True, ["a && b: False"]),
        ("!(a && b)", {}, False, ["a: True", "b: True"]),
        ("a ? b : c", {}, True, ["a ? b : c: True"]),
        ("a ? b : c", {0: False}, True, ["a: False", "c: True"]),
        ("a && b", {0: False}, True, []),
    ],
)
def test_what_is_certain(text: str, values: Mapping[int, bool], whole: bool | None, parts: list[str]) -> None:
    found = Certainty(_known(text), values, whole).parts()
    assert [f"{part}: {value}" for part, value in found] == parts


def test_what_is_certain_from_the_middle_on() -> None:
    condition = _known("a && b && c")
    assert list(Certainty(condition, {1: True}, None, 1).parts()) == [("b", True)]
    assert list(Certainty(condition, {1: True}, False, 1).parts()) == [("b", True), ("c", False)]


NAMES = "abcdefg"


@st.composite
def _expressions(draw: st.DrawFn) -> str:
    """A condition over different names."""
    names = iter(NAMES)

    def part(depth: int) -> str:
        kind = draw(st.sampled_from(["name", "&&", "||", "!", "?"])) if depth else "name"
        if kind == "name":
            return next(names, "g")
        if kind == "!":
            return f"!({part(depth - 1)})"
        if kind == "?":
            return f"({part(depth - 1)} ? {part(depth - 1)} : {part(depth - 1)})"
        return f"({part(depth - 1)} {kind} {part(depth - 1)})"

    return part(draw(st.integers(1, 3)))


def _evaluate(condition: Condition, names: Mapping[int, bool]) -> tuple[dict[int, bool], bool]:
    """The tests that are evaluated, with their values, and the value of the condition."""
    values: dict[int, bool] = {}
    at = 0
    while at >= 0:
        values[at] = names[at]
        test = condition.tests[at]
        at = test.on_true if names[at] else test.on_false
    return values, at == TRUE


@given(_expressions(), st.data())
def test_what_is_claimed_holds_in_all_evaluations_that_agree(text: str, data: st.DataObject) -> None:
    condition = _known(text)
    size = len(condition.tests)
    texts = {test.text: number for number, test in enumerate(condition.tests)}
    assume(len(texts) == size)
    every = [_evaluate(condition, dict(enumerate(values))) for values in product((True, False), repeat=size)]
    values, whole = data.draw(st.sampled_from(every))
    known = {each: values[each] for each in values if data.draw(st.booleans())}
    said = whole if data.draw(st.booleans()) else None
    agreeing = [
        (others, value)
        for others, value in every
        if all(others.get(each) is known[each] for each in known) and said in (None, value)
    ]
    claimed = list(Certainty(condition, known, said).parts())
    for part, value in claimed:
        if part in texts:
            assert all(others.get(texts[part]) is value for others, _ in agreeing)
    certain = {
        number: value
        for number, value in values.items()
        if all(others.get(number) is value for others, _ in agreeing)
    }
    assert {texts[part]: value for part, value in claimed if part in texts} == certain
