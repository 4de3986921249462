"""Hit rates and rates that are fitted together, on branches whose behaviour is known."""

from __future__ import annotations

import random
from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.weigh.branches import DIAMOND, RETURNS, WHILE, comparing, function
from trodden.weigh.calibrate.fitting import MAX_CERTAIN_RATE, MAX_RATE, WEIGHINGS, fit_together, hit_rates
from trodden.weigh.calibrate.linear import solve
from trodden.weigh.calibrate.observed import Counted, Observation, accuracy, measure, observe
from trodden.weigh.features.block_features import BlockFeatures, OperandType, Relation, RightOperand
from trodden.weigh.heuristics.combine import branch_probabilities, combined
from trodden.weigh.heuristics.heuristic import Scope
from trodden.weigh.heuristics.rates import WL94, Measured, Rates
from trodden.weigh.heuristics.registry import HEURISTICS

Prediction = tuple[tuple[str, frozenset[int]], ...]
FIRST, SECOND = frozenset({0}), frozenset({1})
SETTLING = frozenset(heuristic.key for heuristic in HEURISTICS if heuristic.decisive)


def seen(*counts: int, **said: frozenset[int]) -> Observation:
    """A branch to which heuristics, in the order of the table, apply."""
    keys: Prediction = tuple((key.replace("_", "-"), positions) for key, positions in said.items())
    decisive = tuple(key for key, _ in keys if key in SETTLING)
    return Observation(Scope.PLAIN if len(counts) == 2 else Scope.SWITCHES, counts, keys, decisive)


def test_observing_a_function() -> None:
    """The branch to an early return went there 10 times out of 40."""
    features = {0: comparing(Relation.EQUAL, OperandType.POINTER, RightOperand.ZERO), 1: RETURNS}
    graph, known = function(DIAMOND, features)
    (found,) = observe([Counted(graph, known, [10, 30, 10, 30, 40, 40])])
    assert found.counts == (10, 30)
    assert dict(found.said).items() >= {"pointer": SECOND, "return": SECOND}.items()
    assert measure([found])["pointer"] == Measured(1.0, 0.75, 1)


def test_branches_without_counts_are_not_observed() -> None:
    graph, known = function(DIAMOND)
    assert observe([Counted(graph, known, [0] * 6)]) == []
    assert observe([Counted(graph, known, [None, 3, 1, 3, 4, 4])]) == []


def test_coverage_and_hits_are_shares_of_executions() -> None:
    found = measure([seen(90, 10, pointer=FIRST), seen(0, 300, pointer=FIRST, call=SECOND), seen(50, 50)])
    assert found == {"pointer": Measured(0.8, 0.225, 2), "call": Measured(0.6, 1.0, 1)}


def test_hot_branches_do_not_dominate_others() -> None:
    hot = [seen(10**6, 0, pointer=FIRST), *[seen(0, 10, pointer=FIRST)] * 10]
    by = {weighing: hit_rates(hot, weighing)["pointer"] for weighing in WEIGHINGS}
    assert by["executions"] > 0.999
    assert by["branch"] == pytest.approx(1.5 / 12)
    assert by["branch"] < by["log"] < 0.5 < by["root"] < by["executions"]


def test_hit_rates_are_of_the_paper_s_nine_and_never_certain() -> None:
    found = hit_rates([seen(1, 0, pointer=FIRST, said=FIRST), seen(10**9, 0, call=FIRST)], "executions")
    assert set(found) == {"pointer", "call"}
    assert found["pointer"] == 0.75
    assert found["call"] == MAX_RATE


def test_one_heuristic_alone_is_fitted_to_its_hit_rate() -> None:
    many = [seen(80, 20, pointer=FIRST), seen(20, 80, pointer=SECOND)] * 500
    assert fit_together([many])["pointer"] == pytest.approx(0.8, abs=0.01)


def test_two_that_always_agree_share_their_evidence() -> None:
    """Their hit rates would be 0.8 each, and 0.94 together."""
    many = [seen(80, 20, pointer=FIRST, guard=FIRST)] * 1000
    found = fit_together([many], ridge=0.1)
    assert found["pointer"] == pytest.approx(found["guard"])
    assert combined(2, [((0,), found["pointer"]), ((0,), found["guard"])])[0] == pytest.approx(0.8, abs=0.005)


def test_rates_of_rare_heuristics_are_near_one_half() -> None:
    found = fit_together([[*[seen(80, 20, pointer=FIRST)] * 500, seen(1, 0, guard=FIRST)]])
    assert 0.5 < found["guard"] < 0.6


def test_the_rates_of_simulated_branches_are_recovered() -> None:
    rng = random.Random(1)
    true = {"pointer": 0.7, "call": 0.9, "guard": 0.35, "return": 0.6}
    many = []
    for _ in range(4000):
        said = {key: rng.choice([FIRST, SECOND]) for key in true if rng.random() < 0.6}
        first = combined(2, [(sorted(positions), true[key]) for key, positions in said.items()])[0]
        taken = sum(rng.random() < first for _ in range(20))
        many.append(seen(taken, 20 - taken, **said))
    found = fit_together([many], "branch")
    assert found == pytest.approx(true, abs=0.02)


def test_branches_with_many_edges_are_fitted_by_the_same_rule() -> None:
    """Of five edges the first is taken in half of the cases, and the second of the others never."""
    rest = frozenset({1, 2, 3, 4})
    many = [seen(50, 0, 17, 17, 16, case_listed=rest, case_no_call=frozenset({0, 2, 3, 4}))] * 500
    found = fit_together([many], ridge=0.01)
    shares = combined(5, [(sorted(rest), found["case-listed"]), ((0, 2, 3, 4), found["case-no-call"])])
    assert shares == pytest.approx([0.5, 0, 1 / 6, 1 / 6, 1 / 6], abs=0.01)


def test_selected_keys_and_decisive_heuristics() -> None:
    many = [seen(90, 10, trips=FIRST, pointer=SECOND), seen(80, 20, pointer=FIRST, call=FIRST)] * 100
    assert set(fit_together([many], keys=["pointer"])) == {"pointer"}
    found = fit_together([many])
    assert found["trips"] == MAX_CERTAIN_RATE
    assert found["pointer"] > 0.5
    assert fit_together([many], keys=["pointer"])["pointer"] < found["pointer"]


def test_a_million_to_one_does_not_break_the_fit() -> None:
    many = [seen(10**9, 0, pointer=FIRST, call=FIRST, guard=SECOND), seen(0, 10**9, guard=FIRST)] * 3
    found = fit_together([many], "executions")
    assert found["pointer"] == pytest.approx(found["call"])
    assert found["pointer"] > 0.5
    assert found["guard"] == pytest.approx(1 - MAX_RATE)


def test_fitted_rates_are_likelier_than_those_of_the_paper() -> None:
    rng = random.Random(7)
    functions = []
    for _ in range(200):
        features = {
            0: BlockFeatures(test=comparing(Relation.EQUAL, OperandType.POINTER, RightOperand.ZERO).test),
            1: RETURNS,
        }
        graph, known = function(DIAMOND, features if rng.random() < 0.5 else {0: features[0]})
        taken = rng.randint(0, 60)
        functions.append(Counted(graph, known, [taken, 100 - taken, taken, 100 - taken, 100, 100]))
    rates = Rates("fitted", fit_together([observe(functions)]))

    def likelihood(table: Rates) -> float:
        probabilities = (branch_probabilities(each.graph, each.features, table) for each in functions)
        return sum(
            (each.counts[position] or 0) * log(found[position])
            for each, found in zip(functions, probabilities, strict=True)
            for position in (0, 1)
        )

    assert likelihood(rates) > likelihood(WL94)


def test_accuracy_counts_executions_of_the_likelier_edge() -> None:
    features = {0: comparing(Relation.EQUAL, OperandType.POINTER, RightOperand.ZERO)}
    told = Counted(*function(DIAMOND, features), [10, 30, 10, 30, 40, 40])
    open_ = Counted(*function(WHILE), [1, 6, 1, 6, 1, 1])
    found = accuracy([told], WL94)
    assert (found.executions, found.right, found.best) == (40, 30, 30)
    found = accuracy([open_], Rates("none", {}))
    assert (found.executions, found.right, found.best) == (7, 3.5, 6)


@given(st.integers(1, 8), st.integers(0, 10**6))
def test_solving_equations(size: int, seed: int) -> None:
    rng = random.Random(seed)
    root = [[rng.uniform(-1, 1) for _ in range(size)] for _ in range(size)]
    matrix = [
        [sum(root[k][i] * root[k][j] for k in range(size)) + (i == j) for j in range(size)]
        for i in range(size)
    ]
    wanted = [rng.uniform(-5, 5) for _ in range(size)]
    right = [sum(a * b for a, b in zip(row, wanted, strict=True)) for row in matrix]
    assert solve(matrix, right) == pytest.approx(wanted, abs=1e-6)
