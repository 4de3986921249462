"""Tests of the source beside comparisons of the compiled program."""

from __future__ import annotations

import pytest

from trodden.report.narrate.comparisons import Comparison, comparison_of, joined
from trodden.report.narrate.tokens import SourceText, tokens_of
from trodden.weigh.features.block_features import Comparison as Compiled
from trodden.weigh.features.block_features import OperandType, Origin, Relation, RightOperand

EQUAL, UNEQUAL, LESS, MORE = Relation.EQUAL, Relation.UNEQUAL, Relation.LESS, Relation.GREATER
ZERO, ONE, POSITIVE, NEGATIVE, VARIABLE = RightOperand
LOAD, CALL, MEETING, BITS, ARITHMETIC = list(Origin)[:5]


def _comparison(text: str) -> Comparison:
    tokens = tokens_of(SourceText([text]), 1, None)
    return comparison_of(tokens, 0, len(tokens.texts))


def _compiled(
    relation: Relation, right: RightOperand, origin: Origin = LOAD, kind: OperandType = OperandType.INTEGER
) -> Compiled:
    return Compiled(relation, kind, right, origin)


@pytest.mark.parametrize(
    ("text", "compiled", "on_first"),
    [
        ("x", _compiled(UNEQUAL, ZERO), True),
        ("x", _compiled(EQUAL, ZERO), False),
        ("!x", _compiled(EQUAL, ZERO), True),
        ("!*x->y[1]", _compiled(UNEQUAL, ZERO), False),
        ("!!f(x)", _compiled(UNEQUAL, ZERO, CALL), True),
        ("p = next(p)", _compiled(UNEQUAL, ZERO, CALL), True),
        ("x == 0", _compiled(UNEQUAL, ZERO), False),
        ("NULL != x", _compiled(UNEQUAL, ZERO), True),
        ("x == '\\0'", _compiled(EQUAL, ZERO), True),
        ("x == 'a'", _compiled(EQUAL, POSITIVE), True),
        ("x != EOF", _compiled(EQUAL, NEGATIVE), False),
        ("x == y", _compiled(EQUAL, VARIABLE), True),
        ("x % 5 == 2", _compiled(EQUAL, POSITIVE, ARITHMETIC), True),
        ("x < 10", _compiled(LESS, POSITIVE), True),
        ("x < 0x10u", _compiled(MORE, POSITIVE), False),
        ("10 < x", _compiled(MORE, POSITIVE), True),
        ("x->y >= 3", _compiled(LESS, POSITIVE), False),
        ("n-- > 0", _compiled(MORE, ZERO), True),
        # The comparison has another form.
        ("x", _compiled(UNEQUAL, ONE), None),
        ("x == 1", _compiled(UNEQUAL, ZERO), None),
        ("x == TRUE", _compiled(UNEQUAL, ZERO), None),
        ("x < 10", _compiled(EQUAL, POSITIVE), None),
        # Nothing says which operand is which, or what became of them.
        ("x < y", _compiled(LESS, VARIABLE), None),
        ("x < y", _compiled(LESS, POSITIVE), None),
        ("10 - x > 3", _compiled(LESS, POSITIVE), None),
        ("-x < 3", _compiled(MORE, NEGATIVE), None),
        ("table[x] == 0", _compiled(EQUAL, ZERO, BITS), None),
        ("x", _compiled(UNEQUAL, ZERO, MEETING), None),
        ("x", _compiled(UNEQUAL, ZERO, LOAD, OperandType.FLAG), None),
        ("!(x == 3)", _compiled(EQUAL, POSITIVE), None),
        ("a & b == 3", _compiled(EQUAL, POSITIVE), None),
        ("get<1>(x) == 3", _compiled(EQUAL, POSITIVE), None),
        ("a == b == c", _compiled(EQUAL, VARIABLE), None),
        ("1 == 2", _compiled(EQUAL, POSITIVE), None),
        ("f(x), y", _compiled(UNEQUAL, ZERO), None),
        ("a <=> b", _compiled(LESS, ZERO), None),
    ],
)  # fmt: skip
def test_which_successor_is_taken_if_a_test_holds(
    text: str, compiled: Compiled, on_first: bool | None
) -> None:
    assert _comparison(text).on_first(compiled) is on_first


def test_without_a_comparison_nothing_is_known() -> None:
    assert _comparison("x").on_first(None) is None
    assert _comparison("x").decided_by(None) is None
    assert _comparison("x").fits(None)
    assert not joined(None)


def test_only_equality_is_decided_alone() -> None:
    """``x > 3`` and then ``x > 5`` may have become the latter."""
    assert _comparison("x > 3").on_first(_compiled(MORE, POSITIVE)) is True
    assert _comparison("x > 3").decided_by(_compiled(MORE, POSITIVE)) is None
    assert _comparison("x == 3").decided_by(_compiled(EQUAL, POSITIVE)) is True


@pytest.mark.parametrize(
    ("text", "compiled", "fits"),
    [
        ("x", _compiled(EQUAL, ZERO, BITS), True),
        ("x", _compiled(LESS, ZERO), False),
        ("x", _compiled(EQUAL, VARIABLE), False),
        ("x == 3", _compiled(UNEQUAL, POSITIVE), True),
        ("x == 3", _compiled(UNEQUAL, ONE), False),
        ("x == y", _compiled(UNEQUAL, POSITIVE), True),
        ("x == y", _compiled(UNEQUAL, ZERO, CALL, OperandType.FLAG), True),
        ("x == y", _compiled(UNEQUAL, ZERO, BITS, OperandType.FLAG), False),
        ("x < y", _compiled(MORE, VARIABLE), True),
        ("x < y", _compiled(EQUAL, VARIABLE), False),
        ("x > 0", _compiled(UNEQUAL, ZERO), True),
        ("x > 3", _compiled(UNEQUAL, POSITIVE), False),
        ("x + 1 > y", _compiled(LESS, VARIABLE), True),
        ("get<1>(x) == 3", _compiled(EQUAL, POSITIVE), False),
    ],
)
def test_forms_that_a_test_may_have(text: str, compiled: Compiled, fits: bool) -> None:
    assert _comparison(text).fits(compiled) is fits


def test_tests_that_were_joined() -> None:
    assert joined(_compiled(UNEQUAL, ZERO, BITS, OperandType.FLAG))
    assert not joined(_compiled(UNEQUAL, ZERO, CALL, OperandType.FLAG))
    assert not joined(_compiled(UNEQUAL, ZERO, BITS))
