"""What branches of IR compare, each kind of comparison as data."""

from __future__ import annotations

import pytest

from tests.native.analysis.ir_features import branching, read
from trodden.weigh.features.block_features import Comparison, OperandType, Origin, Relation, RightOperand


@pytest.mark.parametrize(
    ("lines", "word"),
    [
        ("  %c = icmp eq ptr %p, null", "eq p 0 g"),
        ("  %q = load ptr, ptr %p\n  %c = icmp ne ptr %q, %p", "ne p v l"),
        ("  %c = icmp slt i32 %n, 0", "lt i 0 g"),
        ("  %c = icmp slt i32 %n, 1", "le i 0 g"),
        ("  %c = icmp sgt i32 %n, -1", "ge i 0 g"),
        ("  %c = icmp sle i32 %n, -1", "lt i 0 g"),
        ("  %c = icmp sge i32 %n, 1", "gt i 0 g"),
        ("  %c = icmp ult i32 %n, 1", "eq i 0 g u"),
        ("  %c = icmp ugt i32 %n, 0", "ne i 0 g u"),
        ("  %c = icmp ugt i32 %n, 10", "gt i + g u"),
        ("  %c = icmp eq i32 %n, 1", "eq i 1 g"),
        ("  %c = icmp eq i32 %n, -4", "eq i - g"),
        ("  %c = icmp samesign ult i32 %n, 7", "lt i + g u"),
        ("  %c = icmp slt i32 0, %n", "gt i 0 g"),
        ("  %m = and i32 %n, 4\n  %c = icmp eq i32 %m, 0", "eq i 0 b"),
        ("  %m = add nsw i32 %n, 4\n  %c = icmp eq i32 %m, %n", "eq i v a"),
        ("  %m = load i8, ptr %p\n  %c = icmp eq i8 %m, 32", "eq c + l"),
        ("  %l = load i8, ptr %p\n  %m = sext i8 %l to i32\n  %c = icmp eq i32 %m, 32", "eq c + l"),
        ("  %c = fcmp oeq double %d, 0.000000e+00", "eq f 0 g"),
        ("  %c = fcmp ult double %d, 2.000000e+00", "lt f + g"),
        ("  %c = trunc i32 %n to i1", "ne b 0 g"),
        ("  %b = icmp slt i32 %n, 0\n  %c = xor i1 %b, true", "ge i 0 g"),
        ("  %b = icmp eq ptr %p, null\n  %z = zext i1 %b to i32\n  %c = icmp eq i32 %z, 0", "ne p 0 g"),
        ("  %a = call i32 @strcmp(ptr %p, ptr %p)\n  %c = icmp eq i32 %a, 0", "eq i 0 c strcmp"),
        ("  %a = tail call i32 %p(ptr %p, ptr %p)\n  %c = icmp slt i32 %a, 0", "lt i 0 c"),
    ],
)
def test_a_comparison_is_read_as_it_was_meant(lines: str, word: str) -> None:
    relation, sort, against, origin, *rest = word.split()
    unsigned = rest == ["u"]
    expected = Comparison(
        Relation(relation),
        OperandType(sort),
        RightOperand(against),
        Origin(origin),
        unsigned,
        "" if unsigned else "".join(rest),
    )
    _, features, _ = read(branching(lines))
    assert features.blocks[0].test == expected


@pytest.mark.parametrize(
    ("value", "weights"), [("0", (1, 2000)), ("1", (2000, 1))], ids=["unlikely", "likely"]
)
def test_what_the_source_expects_before_the_optimiser_has_seen_it(
    value: str, weights: tuple[int, int]
) -> None:
    lines = (
        "  %a = icmp sgt i32 %n, 4\n  %b = zext i1 %a to i64\n"
        f"  %e = call i64 @llvm.expect.i64(i64 %b, i64 {value})\n  %c = icmp ne i64 %e, 0"
    )
    _, features, _ = read(branching(lines))
    assert features.blocks[0].source_weights == weights
    assert features.blocks[0].test == Comparison(
        Relation.GREATER, OperandType.INTEGER, RightOperand.POSITIVE, Origin.PARAMETER
    )


def test_what_the_source_expects_of_a_number() -> None:
    """``__builtin_expect(n & 4, 0)``, and ``!!`` before what is expected."""
    number = (
        "  %a = and i32 %n, 4\n  %b = sext i32 %a to i64\n"
        "  %e = call i64 @llvm.expect.i64(i64 %b, i64 0)\n  %c = icmp ne i64 %e, 0"
    )
    _, features, _ = read(branching(number))
    assert features.blocks[0].source_weights == (1, 2000)
    assert features.blocks[0].test == Comparison(
        Relation.UNEQUAL, OperandType.INTEGER, RightOperand.ZERO, Origin.BITS
    )
    twice = (
        "  %a = icmp ne i32 %n, 0\n  %n1 = xor i1 %a, true\n  %n2 = xor i1 %n1, true\n"
        "  %b = zext i1 %n2 to i64\n  %e = call i64 @llvm.expect.i64(i64 %b, i64 0)\n"
        "  %c = icmp ne i64 %e, 0"
    )
    _, features, _ = read(branching(twice))
    assert features.blocks[0].source_weights == (1, 2000)
    assert features.blocks[0].test == Comparison(
        Relation.UNEQUAL, OperandType.INTEGER, RightOperand.ZERO, Origin.PARAMETER
    )


def test_what_the_source_expects_with_a_probability() -> None:
    lines = (
        "  %a = icmp sgt i32 %n, 4\n  %b = zext i1 %a to i64\n"
        "  %e = call i64 @llvm.expect.with.probability.i64(i64 %b, i64 1, double 0x3FE6666666666666)\n"
        "  %c = icmp ne i64 %e, 0"
    )
    _, features, _ = read(branching(lines))
    assert features.blocks[0].source_weights == (1400, 600)


@pytest.mark.parametrize(
    ("word", "relation"), [("ord", Relation.UNEQUAL), ("uno", Relation.EQUAL), ("une", Relation.UNEQUAL)]
)
def test_numbers_that_are_none_are_not_expected(word: str, relation: Relation) -> None:
    _, features, _ = read(branching(f"  %c = fcmp {word} double %d, 0.000000e+00"))
    test = features.blocks[0].test
    assert test is not None
    assert (test.relation, test.operand_type) == (relation, OperandType.FLOAT)


def test_a_comparison_that_asks_nothing_is_a_flag() -> None:
    _, features, _ = read(branching("  %c = fcmp true double %d, 0.000000e+00"))
    test = features.blocks[0].test
    assert test is not None
    assert test.operand_type is OperandType.FLAG
