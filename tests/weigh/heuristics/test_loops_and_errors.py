"""Heuristics beyond the nine of the paper."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from tests.weigh.branches import (
    CALLS,
    DIAMOND,
    DIES,
    IF,
    RETURNS,
    STORES,
    WHILE,
    Flow,
    comparing,
    function,
)
from trodden.weigh.features.block_features import (
    BlockEnding,
    BlockFeatures,
    CallFeatures,
    Comparison,
    OperandType,
    Origin,
    Relation,
    RightOperand,
)
from trodden.weigh.features.known_functions import COMPLAINERS, OPTION_READERS
from trodden.weigh.heuristics.combine import branch_probabilities, predictions
from trodden.weigh.heuristics.comparisons import COMPARISONS, kind_of
from trodden.weigh.heuristics.rates import Rates
from trodden.weigh.heuristics.registry import HEURISTICS, KEYS


def predicted(
    flow: Flow, features: Mapping[int, BlockFeatures] | None = None, block: int = 0
) -> dict[str, list[int]]:
    """The predictions of all heuristics for one branch."""
    for each, said in predictions(*function(flow, features)):
        if each.block == block:
            return {heuristic.key: list(positions) for heuristic, positions in said}
    raise AssertionError(block)


def probabilities(flow: Flow, features: Mapping[int, BlockFeatures], **rates: float) -> list[float]:
    return branch_probabilities(
        *function(flow, features), Rates("some", {k.replace("_", "-"): r for k, r in rates.items()})
    )


def test_keys_are_unique() -> None:
    assert len(KEYS) == len(HEURISTICS)


def test_where_every_path_ends_badly() -> None:
    flow = [(0, 1), (0, 4), (1, 2), (1, 3), (2, 5), (3, 5), (4, 5)]
    assert predicted(flow, {2: DIES, 3: DIES})["ends-badly"] == [1]
    assert "ends-badly" not in predicted(flow, {2: DIES})
    assert predicted(flow, {2: DIES, 3: BlockFeatures(BlockEnding.UNWINDS)})["ends-badly"] == [1]


def test_a_loop_before_a_bad_end() -> None:
    flow = [(0, 1), (0, 3), (1, 1), (1, 2), (2, 4), (3, 4)]
    assert predicted(flow, {2: DIES})["ends-badly"] == [1]


def test_cold_calls() -> None:
    cold = BlockFeatures(calls=(CallFeatures("complain", cold=True),))
    assert predicted(DIAMOND, {1: cold})["cold"] == [1]
    assert "cold" not in predicted(DIAMOND, {1: cold, 2: cold})
    assert "cold" not in predicted(DIAMOND, {1: CALLS})


def test_calls_that_report_errors_or_do_not_return() -> None:
    named = [CallFeatures(callee) for callee in sorted(COMPLAINERS)]
    for call in (CallFeatures("say", reports_error=True), *named):
        complaint = BlockFeatures(calls=(call,))
        found = predicted(DIAMOND, {1: complaint})
        assert found["complains"] == [1]
        assert "ends-badly" not in found
        assert "complains" not in predicted(DIAMOND, {1: complaint, 2: complaint})
    found = predicted(DIAMOND, {1: BlockFeatures(calls=(CallFeatures("leave", ends=True),))})
    assert (found["complains"], found["ends-badly"]) == ([1], [1])
    assert not {"complains", "ends-badly"} & predicted(DIAMOND, {1: CALLS}).keys()


def test_an_exception_that_propagates_is_a_bad_end() -> None:
    found = predicted([(0, 1), (0, 2), (1, 3), (2, 3)], {1: BlockFeatures(BlockEnding.UNWINDS)})
    assert found["ends-badly"] == found["complains"] == [1]


def test_a_call_that_may_throw_returns() -> None:
    """Also where it only prepares to throw: that is what its successor does, not the call."""
    throwing = BlockFeatures(calls=CALLS.calls, may_throw=True)
    assert predicted(DIAMOND, {0: throwing})["comes-back"] == [0]
    assert "comes-back" not in predicted(DIAMOND, {0: CALLS})
    found = probabilities(
        DIAMOND, {0: throwing, 1: BlockFeatures(BlockEnding.NEVER_RETURNS)}, comes_back=0.99, ends_badly=0.9
    )
    assert found[:2] == pytest.approx([0.99, 0.01])


@pytest.mark.parametrize(
    ("features", "rate", "expected"),
    [
        (BlockFeatures(source_weights=(1, 3)), {"said": 0.9}, [0.25, 0.75]),
        (BlockFeatures(source_weights=(1, 2000)), {"said": 0.9}, [0.1, 0.9]),
        (BlockFeatures(source_weights=(5, 5)), {"said": 0.9}, [0.5, 0.5]),
        (BlockFeatures(compiler_weights=(9, 1)), {"guessed": 0.99}, [0.9, 0.1]),
        (BlockFeatures(source_weights=(1, 8, 1)), {"said": 0.99}, [0.1, 0.8, 0.1]),
    ],
)
def test_weights_in_the_source_are_bounded_by_their_rate(
    features: BlockFeatures, rate: dict[str, float], expected: list[float]
) -> None:
    edges = [(0, successor) for successor in range(1, len(expected) + 1)]
    edges += [(successor, len(expected) + 1) for successor in range(1, len(expected) + 1)]
    assert probabilities(edges, {0: features}, **rate)[: len(expected)] == pytest.approx(expected)


def test_known_trip_counts_are_decisive() -> None:
    features = {
        1: BlockFeatures(
            trip_count=10, test=comparing(Relation.LESS, OperandType.INTEGER, RightOperand.POSITIVE).test
        )
    }
    assert probabilities(WHILE, features, trips=0.9999, loop_exit=0.6, stays=0.7)[1:3] == pytest.approx(
        [0.9, 0.1]
    )
    assert probabilities(WHILE, {1: BlockFeatures(trip_count=1)}, trips=0.9999)[1:3] == pytest.approx(
        [0.0, 1.0]
    )
    assert probabilities(WHILE, {1: BlockFeatures(trip_count=10**6)}, trips=0.999)[1:3] == pytest.approx(
        [0.999, 0.001]
    )
    assert "trips" not in predicted(WHILE, {}, 1)


def test_branches_that_control_a_loop() -> None:
    """What is compared matters only in the header or latch of a loop, not at its other exits."""
    tested = comparing(Relation.LESS, OperandType.INTEGER, RightOperand.VARIABLE)
    middle = [(0, 1), (1, 2), (2, 3), (2, 4), (3, 1), (4, 5)]
    bottom = [(0, 1), (1, 2), (2, 1), (2, 3), (3, 4)]
    for flow, block, turns in ((WHILE, 1, True), (bottom, 2, True), (middle, 2, False)):
        found = predicted(flow, {block: tested}, block)
        assert found.get("turns-limit") == ([0] if turns else None)
        assert ("stays" in found) == (flow is not bottom)


def test_a_back_edge_of_an_outer_loop_leaves_the_inner_one() -> None:
    """1 is the header of a loop around that of 2; 3 has back edges to 2 and to 1."""
    nested = [(0, 1), (1, 2), (1, 4), (2, 3), (2, 1), (3, 2), (4, 5)]
    assert predicted(nested, block=2)["outer-back"] == [0]
    assert predicted(nested, block=2)["loop-branch"] == [1]


def test_an_early_back_edge_stays_in_the_loop_like_the_other_edge() -> None:
    flow = [(0, 1), (1, 2), (1, 4), (2, 1), (2, 3), (3, 1), (4, 5)]
    assert predicted(flow, block=2)["continue"] == [0]
    assert "continue" not in predicted([(0, 0), (0, 1), (1, 2)])


@pytest.mark.parametrize(
    ("test", "kind"),
    [
        (Comparison(Relation.UNEQUAL, OperandType.POINTER, RightOperand.ZERO), "null"),
        (Comparison(Relation.UNEQUAL, OperandType.POINTER, RightOperand.VARIABLE), "pointer"),
        (Comparison(Relation.LESS, OperandType.INTEGER, RightOperand.VARIABLE), "limit"),
        (Comparison(Relation.LESS, OperandType.INTEGER, RightOperand.POSITIVE), "constant"),
        (Comparison(Relation.UNEQUAL, OperandType.INTEGER, RightOperand.VARIABLE), "equal"),
        (Comparison(Relation.UNEQUAL, OperandType.INTEGER, RightOperand.NEGATIVE), "sentinel"),
        (Comparison(Relation.UNEQUAL, OperandType.CHARACTER, RightOperand.ZERO), "character"),
        (Comparison(Relation.LESS, OperandType.FLOAT, RightOperand.VARIABLE), "float"),
        (Comparison(Relation.UNEQUAL, OperandType.FLAG, RightOperand.ZERO), "flag"),
        (Comparison(Relation.UNEQUAL, OperandType.INTEGER, RightOperand.ZERO, Origin.CALL), "call"),
    ],
)
def test_loops_by_their_conditions(test: Comparison, kind: str) -> None:
    for flow, block in ((WHILE, 1), ([(0, 0), (0, 1), (1, 2)], 0)):
        found = predicted(flow, {block: BlockFeatures(test=test)}, block)
        assert [key for key in found if key.startswith("turns-")] == [f"turns-{kind}"]
        assert found[f"turns-{kind}"] == [0]
    assert not any(key.startswith("turns-") for key in predicted(DIAMOND, {0: BlockFeatures(test=test)}))


@pytest.mark.parametrize("reader", sorted(OPTION_READERS))
def test_loops_over_options(reader: str) -> None:
    asks = BlockFeatures(
        test=Comparison(
            Relation.UNEQUAL, OperandType.INTEGER, RightOperand.NEGATIVE, Origin.CALL, callee=reader
        ),
        calls=(CallFeatures(reader),),
    )
    found = predicted(WHILE, {1: asks}, 1)
    assert (found["turns-options"], found["turns-call"]) == ([0], [0])
    assert probabilities(WHILE, {1: asks}, turns_options=0.6, turns_call=0.9)[1:3] == pytest.approx(
        [0.6, 0.4]
    )
    assert probabilities(WHILE, {1: asks}, turns_call=0.9)[1:3] == pytest.approx([0.9, 0.1])


def test_a_loop_around_a_loop_over_options_is_none() -> None:
    """1 is the header of a loop around that of 2, which calls getopt in 3."""
    nested = [(0, 1), (1, 2), (1, 4), (2, 3), (2, 1), (3, 2), (4, 5)]
    features = {3: BlockFeatures(calls=(CallFeatures("getopt"),))}
    assert "turns-options" not in predicted(nested, features, 1)
    assert predicted(nested, features, 2)["turns-options"] == [0]
    assert "turns-options" not in predicted(DIAMOND, {0: BlockFeatures(calls=(CallFeatures("getopt"),))})


def test_joins_of_many_edges() -> None:
    """Block 5 is the error handling of five branches in a row."""
    flow = [edge for block in range(5) for edge in ((block, block + 1 if block < 4 else 6), (block, 5))]
    found = predicted([*flow, (5, 7), (6, 7)])
    assert found["joined"] == found["crowded"] == [0]
    found = predicted(IF)
    assert found["joined"] == [0]
    assert "crowded" not in found
    assert "joined" not in predicted(DIAMOND)


def test_strings_are_seldom_equal() -> None:
    def compares(relation: Relation, callee: str) -> BlockFeatures:
        return BlockFeatures(
            test=Comparison(relation, OperandType.INTEGER, RightOperand.ZERO, Origin.CALL, callee=callee)
        )

    assert predicted(DIAMOND, {0: compares(Relation.EQUAL, "strcmp")})["compares"] == [1]
    assert predicted(DIAMOND, {0: compares(Relation.UNEQUAL, "memcmp")})["compares"] == [0]
    assert "compares" not in predicted(DIAMOND, {0: compares(Relation.EQUAL, "fseek")})
    assert "compares" not in predicted(DIAMOND, {0: compares(Relation.LESS, "strcmp")})


def test_what_is_certain_up_to_the_join() -> None:
    """One side is 1 -> {2, 3} -> 4, where 4 calls, the other is 5; they join in 6, which stores."""
    flow = [(0, 1), (0, 5), (1, 2), (1, 3), (2, 4), (3, 4), (4, 6), (5, 6), (6, 7)]
    found = predicted(flow, {4: CALLS, 6: STORES})
    assert found["surely-calls"] == [1]
    assert found["surely-branches"] == [0]
    assert "surely-stores" not in found
    assert "call" not in found
    assert predicted(IF)["detour"] == [0]
    assert "detour" not in predicted(DIAMOND)


@pytest.mark.parametrize(
    ("test", "kinds"),
    [
        (
            Comparison(Relation.EQUAL, OperandType.INTEGER, RightOperand.ZERO, Origin.BITS),
            ["integer-equal-zero", "integer-equal-of-bits"],
        ),
        (
            Comparison(Relation.LESS, OperandType.INTEGER, RightOperand.ZERO, Origin.CALL),
            ["integer-below-zero", "integer-below-of-call"],
        ),
        (
            Comparison(Relation.LESS, OperandType.INTEGER, RightOperand.VARIABLE, unsigned=True),
            ["integer-range-variable"],
        ),
        (
            Comparison(Relation.EQUAL, OperandType.CHARACTER, RightOperand.POSITIVE),
            ["character-equal-constant"],
        ),
        (Comparison(Relation.EQUAL, OperandType.FLOAT, RightOperand.ZERO, Origin.CALL), ["float-equal-zero"]),
        (
            Comparison(Relation.EQUAL, OperandType.FLAG, RightOperand.ZERO, Origin.LOAD),
            ["flag-equal-zero", "flag-equal-of-load"],
        ),
    ],
)
def test_kinds_of_comparisons(test: Comparison, kinds: list[str]) -> None:
    names = {heuristic.key for heuristic in COMPARISONS}
    found = predicted(DIAMOND, {0: BlockFeatures(test=test)})
    assert {key: positions for key, positions in found.items() if key in names} == {key: [1] for key in kinds}


def test_each_kind_predicts_that_the_comparison_fails() -> None:
    for relation in Relation:
        fails = relation in (Relation.EQUAL, Relation.LESS, Relation.AT_MOST)
        assert list(kind_of(Comparison(relation, OperandType.INTEGER, RightOperand.ONE))[2]) == [int(fails)]


def test_many_edges() -> None:
    """A switch in a loop of 0: the default leaves it for 4, two cases lead to 1, one returns in 3."""
    flow = [(0, 4), (0, 1), (0, 1), (0, 2), (0, 3), (1, 0), (2, 0), (3, 5), (4, 5)]
    features = {0: BlockFeatures(cases=(None, 1, 2, 3, 4)), 2: CALLS, 3: RETURNS}
    found = predicted(flow, features)
    assert found == {
        "case-listed": [1, 2, 3, 4],
        "case-stays": [1, 2, 3],
        "case-no-return": [0, 1, 2, 3],
        "case-no-call": [0, 1, 2, 4],
        "case-shared": [1, 2],
    }
    shares = probabilities(flow, features, case_listed=0.9)
    assert shares[:5] == pytest.approx([0.1, 0.225, 0.225, 0.225, 0.225])


def test_bad_ends_among_many_edges() -> None:
    flow = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)]
    assert probabilities(flow, {1: DIES}, ends_badly=0.98)[:3] == pytest.approx([0.02, 0.49, 0.49])


def test_a_heuristic_without_a_rate_is_not_used() -> None:
    assert probabilities(DIAMOND, {0: BlockFeatures(source_weights=(1, 9))}, pointer=0.6)[:2] == [0.5, 0.5]
