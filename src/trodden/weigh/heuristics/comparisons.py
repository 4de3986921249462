"""Kinds of comparisons, finer than the two that the paper distinguishes (WL94 §3.1, §8).

A kind is the type of the operands (a pointer, an integer, ...), the relation (equality, signed order, or
unsigned order as in an index check) and what the left operand is compared with.  Every kind predicts that the
comparison is false: that two values are not equal, that one is not below another.  Its rate says how often
that is so, which may well be less than a half.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from trodden.weigh.features.block_features import Comparison, OperandType, Origin, Relation, RightOperand
from trodden.weigh.features.branch import FIRST, NONE, SECOND, Branch, EdgePositions
from trodden.weigh.heuristics.heuristic import Heuristic, Scope

_SORTS = {
    OperandType.POINTER: "pointer",
    OperandType.INTEGER: "integer",
    OperandType.CHARACTER: "character",
    OperandType.FLOAT: "float",
    OperandType.FLAG: "flag",
}
_FAILS = {
    Relation.EQUAL: SECOND,
    Relation.UNEQUAL: FIRST,
    Relation.LESS: SECOND,
    Relation.AT_MOST: SECOND,
    Relation.GREATER: FIRST,
    Relation.AT_LEAST: FIRST,
}
_AGAINST = {
    RightOperand.ZERO: "zero",
    RightOperand.ONE: "one",
    RightOperand.POSITIVE: "constant",
    RightOperand.NEGATIVE: "negative",
    RightOperand.VARIABLE: "variable",
}
_ORIGINS = {
    Origin.LOAD: "load",
    Origin.CALL: "call",
    Origin.PHI: "meeting",
    Origin.BITS: "bits",
    Origin.ARITHMETIC: "arithmetic",
    Origin.PARAMETER: "given",
}
_HOW = ("equal", "below", "range")
_EQUALITY = (Relation.EQUAL, Relation.UNEQUAL)


@lru_cache(maxsize=4096)
def kind_of(test: Comparison) -> tuple[str, str, EdgePositions]:
    """The kind of a comparison, the kind by origin of its left operand, and the edge taken if it is false."""
    sort = _SORTS[test.operand_type]
    how = "equal" if test.relation in _EQUALITY else "range" if test.unsigned else "below"
    prefix = f"{sort}-{how}"
    return (
        f"{prefix}-{_AGAINST[test.right]}",
        f"{prefix}-of-{_ORIGINS.get(test.origin, '')}",
        _FAILS[test.relation],
    )


def about(branch: Branch) -> Iterator[Heuristic]:
    """The rows of this table that apply to the comparison which decides a branch."""
    test = branch.features.test
    if test is not None:
        against, origin, _ = kind_of(test)
        if against in _BY_KIND:
            yield _BY_KIND[against]
        if origin in _BY_KIND:
            yield _BY_KIND[origin]


def _fails(branch: Branch) -> EdgePositions:
    test = branch.features.test
    return NONE if test is None else kind_of(test)[2]


def _words(sort: str, how: str, rest: str) -> str:
    fails = {"equal": "is not equal to", "below": "is not below", "range": "is not below, as a size,"}[how]
    return f"{sort} {fails} {rest}"


def _rows() -> list[Heuristic]:
    found: list[tuple[str, str]] = []
    for sort in _SORTS.values():
        for how in _HOW:
            if (sort in ("float", "flag") and how == "range") or (sort == "flag" and how != "equal"):
                continue
            against = _AGAINST.values() if sort != "flag" else ("zero",)
            found += [(f"{sort}-{how}-{what}", _words(sort, how, what)) for what in against]
            if sort != "float":
                found += [
                    (f"{sort}-{how}-of-{origin}", _words(f"{sort} from {origin}", how, "something"))
                    for origin in _ORIGINS.values()
                ]
    return [Heuristic(key, "", says, Scope.PLAIN, _fails) for key, says in found]


COMPARISONS = tuple(_rows())
"""Looked up by kind (:func:`about`), since there are too many to try them all."""

_BY_KIND = {heuristic.key: heuristic for heuristic in COMPARISONS}
