"""Decisive heuristics: their order, what is left to the others, and their rates."""

from __future__ import annotations

from itertools import combinations
from math import log, log1p

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.weigh.branches import DIES, Flow
from tests.weigh.calibrate.test_fitting import FIRST, SECOND, seen
from tests.weigh.heuristics.test_loops_and_errors import probabilities
from trodden.weigh.calibrate.fitting import MAX_CERTAIN_RATE, MAX_RATE, decisive_rates, fit_together
from trodden.weigh.calibrate.observed import Observation
from trodden.weigh.features.block_features import (
    BlockFeatures,
    CallFeatures,
    Comparison,
    OperandType,
    Origin,
    Relation,
    RightOperand,
)
from trodden.weigh.heuristics.ball_larus import BALL_LARUS
from trodden.weigh.heuristics.loops_and_errors import LOOPS_AND_ERRORS
from trodden.weigh.heuristics.registry import HEURISTICS

ORDER = [heuristic.key for heuristic in HEURISTICS if heuristic.decisive]
BY_KEY = {heuristic.key: heuristic for heuristic in HEURISTICS}
FIVE: Flow = [*((0, way) for way in range(1, 6)), *((way, 6) for way in range(1, 6)), (6, 7)]
"""Five ways that meet again."""

LOOP: Flow = [(0, 1), (1, 2), (1, 3), (2, 1), (2, 4), (3, 5), (4, 5)]
"""Block 1 heads a loop that it leaves for 3; there is another way out, from 2."""
ALL = {
    1: BlockFeatures(
        test=Comparison(
            Relation.UNEQUAL, OperandType.INTEGER, RightOperand.NEGATIVE, Origin.CALL, callee="getopt"
        ),
        calls=(CallFeatures("getopt"),),
        source_weights=(3, 1),
        trip_count=2,
    ),
    3: BlockFeatures(calls=(CallFeatures("fail", cold=True, reports_error=True, ends=True),)),
}
"""What settles the branch of block 1 in seven ways at once."""
AT_ONCE = ["trips", "said", "ends-badly", "complains", "cold", "turns-options", "turns-call"]


def test_the_order_of_decisive_heuristics() -> None:
    """Known trip counts, statements of the source, errors, then loops; none of the paper's nine."""
    assert [key for key in ORDER if key in AT_ONCE] == AT_ONCE
    assert ORDER.index("comes-back") < ORDER.index("turns-options")
    assert {key for key in ORDER if key not in AT_ONCE} == {
        "comes-back",
        *(each.key for each in LOOPS_AND_ERRORS if each.key.startswith("turns-") and each.key not in AT_ONCE),
    }
    assert not any(heuristic.decisive for heuristic in BALL_LARUS)


@pytest.mark.parametrize(("first", "second"), list(combinations(AT_ONCE, 2)))
def test_the_first_decides_a_two_way_branch_whatever_the_others_predict(first: str, second: str) -> None:
    def share(**rates: float) -> float:
        return probabilities(LOOP, ALL, **{key.replace("-", "_"): rate for key, rate in rates.items()})[1]

    alone = share(**{first: 0.7})
    assert alone == pytest.approx({"trips": 0.5}.get(first, 0.7))
    assert share(**{first: 0.7, second: 0.99, "stays": 0.9, "loop-exit": 0.9}) == alone
    assert share(**{second: 0.6}) != alone


def test_the_others_are_combined_where_none_is_decisive() -> None:
    assert probabilities(LOOP, ALL, loop_exit=0.8)[1] == pytest.approx(0.8)


def test_many_edges_share_the_fixed_total() -> None:
    """Two of five edges end badly and have 0.1 in total; among the others the cases have three quarters."""
    features = {0: BlockFeatures(cases=(None, 1, 2, 3, 4)), 2: DIES, 3: DIES}
    assert probabilities(FIVE, features, ends_badly=0.9)[:5] == pytest.approx([0.3, 0.05, 0.05, 0.3, 0.3])
    shares = probabilities(FIVE, features, ends_badly=0.9, case_listed=0.8)[:5]
    assert shares == pytest.approx([0.3, 0.05, 0.05, 0.3, 0.3])
    shares = probabilities(FIVE, features, ends_badly=0.9, case_listed=0.4)[:5]
    assert shares == pytest.approx([0.675, 0.05, 0.05, 0.1125, 0.1125])


def test_with_many_edges_too_the_first_one_decides() -> None:
    features = {
        0: BlockFeatures(source_weights=(6, 1, 1, 1, 1)),
        1: BlockFeatures(calls=(CallFeatures("warn"),)),
        2: DIES,
    }
    found = probabilities(FIVE, features, said=0.9, ends_badly=0.99, complains=0.99)[:5]
    assert found == pytest.approx([0.6, 0.1, 0.1, 0.1, 0.1])
    found = probabilities(FIVE, features, ends_badly=0.99, complains=0.6)[:5]
    assert found == pytest.approx([0.2475, 0.01, 0.2475, 0.2475, 0.2475])


@given(
    bad=st.sets(st.integers(1, 5), min_size=1, max_size=4),
    rates=st.tuples(*[st.floats(0.001, 0.999)] * 4),
)
def test_a_decisive_heuristic_fixes_its_total_whatever_the_others_predict(
    bad: set[int], rates: tuple[float, float, float, float]
) -> None:
    features = {0: BlockFeatures(cases=(None, 1, 2, 3, 4)), 1: BlockFeatures(calls=(CallFeatures("f"),))}
    features |= dict.fromkeys(bad, DIES)
    badly, listed, called, shared = rates
    found = probabilities(
        FIVE, features, ends_badly=badly, case_listed=listed, case_no_call=called, case_shared=shared
    )
    assert sum(found[:5]) == pytest.approx(1)
    assert sum(found[way - 1] for way in bad) == pytest.approx(1 - badly)


def rates_of(programs: list[list[Observation]], *keys: str) -> dict[str, float]:
    return decisive_rates(programs, [BY_KEY[key] for key in keys])


def test_within_a_program_executions_count() -> None:
    """Errors occurred once in a thousand; the half that is added does not matter."""
    program = [seen(9990, 9, complains=FIRST), seen(0, 1, complains=FIRST)]
    found = rates_of([program] * 10_000, "complains")["complains"]
    assert found == pytest.approx(0.999, abs=1e-4)


def test_over_programs_the_mean_of_logits_includes_an_undecided_one() -> None:
    hot, cold = [seen(10**6 - 1, 0, cold=FIRST)], [seen(0, 99, cold=FIRST)]
    (rate,) = rates_of([hot, cold], "cold").values()
    much, little = log1p(10**6), log1p(100)
    logits = (much * log((10**6 - 0.5) / 0.5) + little * log(0.5 / 99.5)) / (much + little + 1)
    assert log(rate / (1 - rate)) == pytest.approx(logits)
    few = [seen(9, 0, cold=FIRST)]
    (once,) = rates_of([few], "cold").values()
    (often,) = rates_of([few] * 9, "cold").values()
    assert 0.5 < once < often <= MAX_RATE


def test_only_the_first_decisive_heuristic_is_rated_by_a_branch() -> None:
    both = [seen(0, 1000, ends_badly=FIRST, complains=SECOND)]
    alone = [seen(1000, 0, complains=FIRST)]
    found = rates_of([[*both, *alone]], "ends-badly", "complains")
    assert found["ends-badly"] < 0.1
    assert found["complains"] == rates_of([alone], "complains")["complains"] > 0.9
    unasked = rates_of([both], "complains")
    assert unasked["complains"] > 0.9


def test_a_heuristic_that_never_decides_has_no_rate() -> None:
    assert rates_of([[seen(5, 5, pointer=FIRST)], []], "cold") == {}
    always_second = [[seen(90, 10, said=FIRST, cold=FIRST, pointer=FIRST)]]
    assert rates_of(always_second, "said", "cold") == {"said": MAX_CERTAIN_RATE}
    assert list(fit_together(always_second)) == ["pointer", "said"]


def test_features_that_determine_probabilities_get_the_highest_rate() -> None:
    told = [[seen(0, 1000, trips=FIRST)], [seen(0, 1000, said=FIRST)]]
    assert rates_of(told, "trips", "said") == {"trips": MAX_CERTAIN_RATE, "said": MAX_CERTAIN_RATE}


def test_fitting_together_uses_decisive_rates_unchanged() -> None:
    program = [seen(900, 100, complains=FIRST, pointer=FIRST), seen(60, 40, pointer=FIRST)] * 20
    found = fit_together([program, program])
    assert found["complains"] == rates_of([program, program], "complains")["complains"]
    assert list(found) == ["pointer", "complains"]


def test_all_programs_count_alike() -> None:
    """A large program that contradicts a small one has no more weight than the small one."""
    large = [seen(90, 10, pointer=FIRST)] * 900
    small = [seen(10, 90, pointer=FIRST)] * 9
    assert fit_together([large, small])["pointer"] == pytest.approx(0.5)
    assert fit_together([[*large, *small]])["pointer"] > 0.8
    assert fit_together([large, small, []])["pointer"] == pytest.approx(0.5)
