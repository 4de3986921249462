"""The rule of Dempster and Shafer, with the numbers of WL94."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trodden.weigh.heuristics.dempster import (
    MAX_TRUST,
    combine,
    combine_two_way,
    discount,
    shares,
    trust,
    weight,
)

Masses = dict[frozenset[str], float]

LBH, PH, CH, OH, LEH, RH, SH, LHH, GH = 0.88, 0.60, 0.78, 0.84, 0.80, 0.72, 0.55, 0.75, 0.62


def together(*estimates: float) -> float:
    found = 0.5
    for each in estimates:
        found = combine_two_way(found, each)
    return found


def about(outcome: str, share: float, frame: str) -> Masses:
    """A prediction of one outcome; the rest of its mass is on all others."""
    return {frozenset(outcome): share, frozenset(frame) - {outcome}: 1 - share}


def test_the_example_of_section_3_2() -> None:
    assert together(0.7) == pytest.approx(0.7)
    assert together(0.7, 0.6) == pytest.approx(0.778, abs=5e-4)
    assert together(0.6, 0.7) == pytest.approx(together(0.7, 0.6))


def test_tables_9_and_10() -> None:
    """Five heuristics about the first branch of atoi, one of them against it, and two about the second."""
    assert together(CH, RH, 1 - SH, PH, GH) == pytest.approx(0.95, abs=5e-3)
    assert together(LHH, RH) == pytest.approx(0.885, abs=5e-4)


def test_evidence_against_lowers_what_others_predict() -> None:
    assert together(OH, 1 - RH) == pytest.approx(0.84 * 0.28 / (0.84 * 0.28 + 0.16 * 0.72))
    assert 0.5 < together(OH, 1 - RH) < OH


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_with_two_outcomes_the_general_rule_is_the_short_one(first: float, second: float) -> None:
    found = combine(about("a", first, "ab"), about("a", second, "ab"))
    assert found[frozenset("a")] == pytest.approx(combine_two_way(first, second))
    assert sum(found.values()) == pytest.approx(1)


@given(st.floats(0.01, 0.99), st.floats(0.01, 0.99))
def test_predictions_of_different_outcomes_out_of_more_than_two(first: float, second: float) -> None:
    """The three formulas of §3.2 for k > 2."""
    found = combine(about("a", first, "abc"), about("b", second, "abc"))
    rest = 1 - first * second
    assert found[frozenset("a")] == pytest.approx(first * (1 - second) / rest)
    assert found[frozenset("b")] == pytest.approx(second * (1 - first) / rest)
    assert found[frozenset("c")] == pytest.approx((1 - first) * (1 - second) / rest)


def test_certainties_that_exclude_each_other() -> None:
    with pytest.raises(ValueError, match="no outcome"):
        combine_two_way(1.0, 0.0)
    with pytest.raises(ValueError, match="no outcome"):
        combine({frozenset("a"): 1.0}, {frozenset("b"): 1.0})


def test_trust_grows_with_the_sample() -> None:
    grown = [trust(samples) for samples in (0, 1, 2, 10, 100, 10**6, 10**18)]
    assert grown[0] == 0.0
    assert grown[1] == pytest.approx(0.495)
    assert all(less < more for less, more in pairwise(grown[:-1]))
    assert grown[-1] <= MAX_TRUST


counted = st.lists(st.tuples(*[st.integers(0, 1000)] * 3).filter(any), min_size=1, max_size=5)


def _weights(samples: list[tuple[int, ...]]) -> dict[str, float]:
    found = dict.fromkeys("abc", 0.0)
    for counts in samples:
        for outcome, count in zip("abc", counts, strict=True):
            found[outcome] += weight(count / sum(counts), trust(sum(counts)))
    return found


@given(counted)
def test_weights_are_the_general_rule(samples: list[tuple[int, ...]]) -> None:
    frame = frozenset("abc")
    masses: Masses = {frame: 1.0}
    for counts in samples:
        plain = {frozenset(o): c / sum(counts) for o, c in zip("abc", counts, strict=True)}
        masses = combine(masses, discount(plain, frame, trust(sum(counts))))
    told = 1 - masses[frame]
    for outcome, share in shares(_weights(samples)).items():
        assert share == pytest.approx(masses.get(frozenset(outcome), 0.0) / told, abs=1e-9)


@given(counted.map(lambda samples: samples[0]), st.integers(1, 10_000))
def test_runs_with_equal_shares_keep_them(counts: tuple[int, ...], runs: int) -> None:
    weights = {outcome: runs * each for outcome, each in _weights([counts]).items()}
    for outcome, count in zip("abc", counts, strict=True):
        assert shares(weights, runs)[outcome] == pytest.approx(count / sum(counts), abs=1e-9)
        assert (shares(weights, runs)[outcome] == 0) == (count == 0)


def test_no_run_vetoes_or_dominates_another() -> None:
    """A million times one outcome against a hundred times the other."""
    found = shares(_weights([(1_000_000, 0, 0), (0, 100, 0)]), 2)
    assert 0.5 < found["a"] < 0.65
    assert found["c"] == 0
    summed = 1_000_000 / 1_000_100
    assert found["a"] < summed


def test_a_small_sample_weighs_less() -> None:
    large, small = (shares(_weights([(90, 10, 0), (0, count, 0)]), 2)["b"] for count in (1000, 2))
    assert 0.1 < small < large


def test_nothing_is_known_without_evidence() -> None:
    assert shares({}) == {}
    assert shares({"a": 0.0}) == {}
