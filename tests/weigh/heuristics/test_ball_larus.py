"""Each of the nine heuristics of WL94 §3.1 where it applies and where it does not."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.weigh.branches import CALLS, DIAMOND, IF, RETURNS, STORES, Flow, branch, comparing
from trodden.weigh.features.block_features import BlockFeatures, OperandType, Relation, RightOperand
from trodden.weigh.heuristics.ball_larus import BALL_LARUS
from trodden.weigh.heuristics.heuristic import Scope, scope_of

BY_SHORT = {heuristic.short: heuristic for heuristic in BALL_LARUS}
P, N, C, F = OperandType.POINTER, OperandType.INTEGER, OperandType.CHARACTER, OperandType.FLOAT
EQ, NE, LT, LE, GT, GE = Relation


def says(
    short: str, flow: Flow, features: Mapping[int, BlockFeatures] | None = None, block: int = 0
) -> list[int]:
    """Which edge positions a heuristic predicts, in the right case of Algorithm 1."""
    asked = branch(flow, features, block)
    assert scope_of(asked) & BY_SHORT[short].scope
    return list(BY_SHORT[short].predicts(asked))


def test_they_are_those_of_table_1() -> None:
    assert " ".join(heuristic.short for heuristic in BALL_LARUS) == "LBH PH CH OH LEH RH SH LHH GH"


@pytest.mark.parametrize(
    ("relation", "sort", "against", "position"),
    [
        (EQ, P, RightOperand.ZERO, [1]),
        (NE, P, RightOperand.ZERO, [0]),
        (EQ, P, RightOperand.VARIABLE, [1]),
        (NE, P, RightOperand.VARIABLE, [0]),
        (LT, P, RightOperand.VARIABLE, []),
        (EQ, N, RightOperand.ZERO, []),
    ],
)
def test_pointer(relation: Relation, sort: OperandType, against: RightOperand, position: list[int]) -> None:
    assert says("PH", DIAMOND, {0: comparing(relation, sort, against)}) == position


@pytest.mark.parametrize(
    ("relation", "sort", "against", "position"),
    [
        (LT, N, RightOperand.ZERO, [1]),
        (LE, N, RightOperand.ZERO, [1]),
        (GT, N, RightOperand.ZERO, [0]),
        (GE, C, RightOperand.ZERO, [0]),
        (LT, N, RightOperand.POSITIVE, []),
        (LT, N, RightOperand.VARIABLE, []),
        (EQ, N, RightOperand.ZERO, [1]),
        (EQ, C, RightOperand.POSITIVE, [1]),
        (NE, N, RightOperand.NEGATIVE, [0]),
        (EQ, N, RightOperand.VARIABLE, []),
        (EQ, P, RightOperand.ZERO, []),
        (EQ, F, RightOperand.ZERO, []),
        (NE, OperandType.FLAG, RightOperand.ZERO, []),
    ],
)
def test_opcode(relation: Relation, sort: OperandType, against: RightOperand, position: list[int]) -> None:
    assert says("OH", DIAMOND, {0: comparing(relation, sort, against)}) == position


def test_opcode_with_a_switch_of_one_case_and_unsigned_numbers() -> None:
    assert says("OH", DIAMOND, {0: BlockFeatures(cases=(None, 7))}) == [0]
    assert says("OH", DIAMOND, {0: BlockFeatures(cases=(7, None))}) == [1]
    assert says("OH", DIAMOND, {0: comparing(LT, N, RightOperand.ZERO, unsigned=True)}) == []
    assert says("OH", DIAMOND) == []


@pytest.mark.parametrize(
    ("flow", "guarded", "position"),
    [(DIAMOND, (0,), [0]), (DIAMOND, (1,), [1]), (DIAMOND, (0, 1), []), (IF, (1,), []), (IF, (0, 1), [0])],
)
def test_guard(flow: Flow, guarded: tuple[int, ...], position: list[int]) -> None:
    """A successor that postdominates is reached anyway and does not count."""
    assert says("GH", flow, {0: BlockFeatures(guarded=guarded)}) == position


@pytest.mark.parametrize(("short", "feature"), [("CH", CALLS), ("SH", STORES)])
def test_call_and_store(short: str, feature: BlockFeatures) -> None:
    assert says(short, DIAMOND, {1: feature}) == [1]
    assert says(short, DIAMOND, {2: feature}) == [0]
    assert says(short, DIAMOND, {1: feature, 2: feature}) == []
    assert says(short, IF, {2: feature}) == []
    assert says(short, IF, {1: feature, 2: feature}) == [1]


def test_a_call_may_follow_unconditional_jumps() -> None:
    """0 -> 1 -> 2 -> 3 (calls) beside 0 -> 4."""
    flow = [(0, 1), (0, 4), (1, 2), (2, 3), (3, 5), (4, 5), (5, 6)]
    assert says("CH", flow, {3: CALLS}) == [1]
    assert says("SH", flow, {3: STORES}) == []
    shared = [*flow[:5], (4, 6), (4, 3), (5, 6)]
    assert says("CH", shared, {3: CALLS}) == []


def test_a_call_in_a_loop_behind_the_successor() -> None:
    """0 -> 1 -> 2 (calls) -> 2: in spite of the back edge, 1 dominates 2."""
    flow = [(0, 1), (0, 3), (1, 2), (2, 2), (2, 3), (3, 4)]
    assert says("CH", flow, {2: CALLS}) == [1]


def test_dominance_in_irreducible_graphs() -> None:
    """2 and 3 form a loop with two entries; 1 leads to 2 but does not dominate it."""
    flow = [(0, 1), (0, 3), (1, 2), (2, 3), (3, 2), (3, 4), (4, 5)]
    assert says("CH", flow, {2: CALLS}) == []
    assert says("CH", flow, {1: CALLS}) == [1]


def test_return() -> None:
    early = [(0, 1), (0, 2), (1, 4), (2, 3), (3, 4)]
    assert says("RH", early, {1: RETURNS}) == [1]
    assert says("RH", early, {1: RETURNS, 3: RETURNS}) == []
    jumps = [(0, 1), (0, 2), (1, 3), (2, 1), (2, 3), (3, 4)]
    assert says("RH", jumps, {3: RETURNS}) == [1]


def test_loop_branch() -> None:
    assert says("LBH", [(0, 0), (0, 1), (1, 2)]) == [0]
    assert says("LBH", [(0, 1), (0, 0), (1, 2)]) == [1]
    assert says("LBH", [(0, 0), (0, 1), (0, 0), (1, 2)]) == [0, 2]


def test_loop_exit() -> None:
    """0 -> 1 -> {2, 4}, 2 -> 3 -> 1 is a loop that 1 may leave."""
    flow = [(0, 1), (1, 2), (1, 4), (2, 3), (3, 1), (4, 5)]
    assert says("LEH", flow, block=1) == [0]
    leaves_by_a_header = [(0, 1), (1, 2), (1, 4), (2, 3), (3, 1), (4, 4), (4, 5)]
    assert says("LEH", leaves_by_a_header, block=1) == []
    assert says("LEH", DIAMOND) == []


def test_loop_header() -> None:
    """0 -> {1, 3}, 1 -> 2 -> 2: block 1 is a preheader."""
    flow = [(0, 1), (0, 3), (1, 2), (2, 2), (2, 3), (3, 4)]
    assert says("LHH", flow) == [0]
    assert says("LHH", [(0, 1), (0, 2), (1, 1), (1, 2), (2, 3)]) == [0]
    assert says("LHH", [(0, 1), (0, 2), (1, 2), (2, 2), (2, 3)]) == []
    assert says("LHH", DIAMOND) == []


def test_targets_predict_nothing_if_both_edges_have_the_same() -> None:
    flow = [(0, 1), (0, 1), (1, 2)]
    for short in ("CH", "SH", "RH", "LHH", "LEH"):
        assert says(short, flow, {1: BlockFeatures(stores=1, calls=CALLS.calls)}) == []


@pytest.mark.parametrize(
    ("flow", "scope"),
    [
        (DIAMOND, Scope.PLAIN),
        ([(0, 0), (0, 1), (1, 2)], Scope.LOOP),
        ([(0, 0), (0, 0), (0, 1), (1, 2)], Scope.MANY_LOOP),
        ([(0, 0), (0, 0)], Scope.ROUND),
        ([(0, 1), (0, 1), (0, 2), (1, 3), (2, 3)], Scope.SWITCHES),
        ([(0, 0), (0, 0), (0, 0)], Scope.SWITCHES),
    ],
)
def test_the_cases_of_algorithm_1(flow: Flow, scope: Scope) -> None:
    assert scope_of(branch(flow)) is scope
