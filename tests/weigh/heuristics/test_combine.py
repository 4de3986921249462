"""Algorithm 1 of WL94, with the numbers of its appendix, and the general rule for many edges."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import graphs, seeds
from tests.programs import chain
from tests.weigh.branches import CALLS, DIAMOND, DIES, RETURNS, Flow, comparing, function, random_features
from trodden.graph.cfg import EdgeKind, Graph
from trodden.graph.loops import find_loops
from trodden.weigh.features.block_features import (
    BlockEnding,
    BlockFeatures,
    CallFeatures,
    OperandType,
    Relation,
    RightOperand,
)
from trodden.weigh.heuristics.combine import branch_probabilities, combined, predictions
from trodden.weigh.heuristics.dempster import combine
from trodden.weigh.heuristics.rates import WL94, Rates
from trodden.weigh.heuristics.registry import HEURISTICS

EVERY = Rates(
    "every", {heuristic.key: 0.55 + 0.4 * n / len(HEURISTICS) for n, heuristic in enumerate(HEURISTICS)}
)

ATOI: Flow = [(0, 5), (0, 1), (1, 2), (1, 4), (2, 3), (3, 3), (3, 4), (4, 6), (5, 6)]
ATOI_CLUES = {
    0: BlockFeatures(
        test=comparing(Relation.EQUAL, OperandType.POINTER, RightOperand.ZERO).test, guarded=(1,)
    ),
    1: BlockFeatures(
        test=comparing(Relation.UNEQUAL, OperandType.CHARACTER, RightOperand.VARIABLE).test, stores=1
    ),
    3: BlockFeatures(
        test=comparing(Relation.UNEQUAL, OperandType.CHARACTER, RightOperand.VARIABLE).test, stores=1
    ),
    4: RETURNS,
    5: BlockFeatures(BlockEnding.RETURNS, calls=(CallFeatures("printf"),)),
}
"""Figures 3 and 4: b0 compares s with NULL and goes to b5 if it is, b1 looks at s and stores to *val, b5
prints and returns, b2 leads to the loop of b3 alone, b4 returns."""


def probabilities_of(
    flow: Flow, features: dict[int, BlockFeatures] | None = None, rates: Rates = WL94
) -> list[float]:
    graph, known = function(flow, features)
    return branch_probabilities(graph, known, rates)


def test_atoi_as_in_the_appendix() -> None:
    """Tables 9 and 10, and the loop below them; the paper rounds .885 and .115 up both."""
    found = probabilities_of(ATOI, ATOI_CLUES)
    assert found[1] == pytest.approx(0.95, abs=5e-3)
    assert found[0] == pytest.approx(0.05, abs=5e-3)
    assert found[2] == pytest.approx(0.885, abs=1e-3)
    assert found[3] == pytest.approx(0.115, abs=1e-3)
    assert found[5:7] == pytest.approx([0.88, 0.12])


def test_which_heuristics_apply_in_atoi() -> None:
    graph, features = function(ATOI, ATOI_CLUES)
    told = {
        branch.block: {each.short: list(positions) for each, positions in said if each.key in WL94.taken}
        for branch, said in predictions(graph, features)
    }
    assert told == {
        0: {"PH": [1], "GH": [1], "SH": [0], "CH": [1], "RH": [1]},
        1: {"LHH": [0], "RH": [0]},
        3: {"LBH": [0]},
    }


def test_a_call_that_does_not_return_goes_to_exit_only() -> None:
    assert probabilities_of([(0, 1), (0, 2), (1, 2)], {0: DIES})[:3] == [0.0, 1.0, 1.0]
    assert probabilities_of([(0, 2), (0, 1), (0, 2), (1, 2)], {0: DIES})[:3] == [0.5, 0.0, 0.5]


def test_a_call_that_does_not_return_may_unwind() -> None:
    """It has no edge to EXIT, so it is a branch like any other."""
    assert probabilities_of([(0, 1), (0, 2), (1, 3), (2, 3)], {0: DIES, 1: DIES})[:2] == pytest.approx(
        [0.22, 0.78]
    )


def test_only_lbh_applies_to_a_loop_branch() -> None:
    features = {0: comparing(Relation.EQUAL, OperandType.POINTER, RightOperand.ZERO), 1: RETURNS}
    assert probabilities_of([(0, 1), (0, 0), (1, 2)], features)[:2] == pytest.approx([0.12, 0.88])


def test_back_edges_among_many_edges() -> None:
    found = probabilities_of([(0, 0), (0, 1), (0, 0), (0, 2), (0, 1), (1, 3), (2, 3)])
    assert found[:5] == pytest.approx([0.44, 0.04, 0.44, 0.04, 0.04])


def test_only_back_edges_or_many_edges_get_equal_shares() -> None:
    features = {0: BlockFeatures(test=comparing(Relation.EQUAL, OperandType.POINTER, RightOperand.ZERO).test)}
    assert probabilities_of([(0, 0), (0, 0)], features)[:2] == [0.5, 0.5]
    assert (
        probabilities_of([(0, 1), (0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)], {1: RETURNS})[:4]
        == [0.25] * 4
    )


def test_edges_to_the_same_block_still_have_a_comparison() -> None:
    features = {0: comparing(Relation.EQUAL, OperandType.POINTER, RightOperand.ZERO), 1: CALLS}
    assert probabilities_of([(0, 1), (0, 1), (1, 2)], features)[:2] == pytest.approx([0.4, 0.6])


def test_without_features_there_are_equal_shares() -> None:
    graph, _ = function(DIAMOND)
    assert branch_probabilities(graph, (), WL94)[:2] == [0.5, 0.5]


@given(graphs(max_blocks=10, max_edges=24), seeds(), st.sampled_from([WL94, EVERY]))
@settings(max_examples=300)
def test_the_probabilities_of_a_block_sum_up_to_one(graph: Graph, seed: int, rates: Rates) -> None:
    features = random_features(graph, seed)
    found = branch_probabilities(graph, features, rates)
    assert found == branch_probabilities(graph, features, rates, find_loops(graph))
    assert len(found) == len(graph.edges)
    for vertex, outs in enumerate(graph.out_edges):
        flow = [index for index in outs if graph.edges[index].kind is EdgeKind.FLOW]
        assert all(found[index] == 0 for index in outs if index not in flow)
        assert all(0 <= found[index] <= 1 for index in flow)
        if flow:
            assert sum(found[index] for index in flow) == pytest.approx(1), vertex


evidence = st.integers(2, 6).flatmap(
    lambda edges: st.tuples(
        st.just(edges),
        st.lists(
            st.tuples(
                st.sets(st.integers(0, edges - 1), min_size=1, max_size=edges - 1).map(sorted),
                st.floats(0.01, 0.99),
            ),
            max_size=5,
        ),
    )
)


@given(evidence)
def test_many_edges_follow_the_general_rule(given_: tuple[int, list[tuple[list[int], float]]]) -> None:
    """The rule over sets; the mass of a set is shared equally by its members in the end."""
    edges, pieces = given_
    frame = frozenset(range(edges))
    masses = {frame: 1.0}
    for positions, mass in pieces:
        masses = combine(masses, {frozenset(positions): mass, frame - set(positions): 1 - mass})
    expected = [sum(m / len(s) for s, m in masses.items() if position in s) for position in range(edges)]
    assert combined(edges, pieces) == pytest.approx(expected)


def test_certain_evidence_does_not_underflow() -> None:
    pieces = [((0,), 0.9999), ((1,), 0.9999)] * 200
    assert combined(2, pieces) == pytest.approx([0.5, 0.5])
    assert sum(combined(3, pieces)) == pytest.approx(1)


def test_a_switch_of_a_thousand_cases_is_fast() -> None:
    flow = [(0, 1 + case % 40) for case in range(1000)] + [(block, 41) for block in range(1, 41)]
    features = {0: BlockFeatures(cases=(None, *range(999))), 1: DIES, **dict.fromkeys(range(2, 9), RETURNS)}
    start = time.process_time()
    found = probabilities_of(flow, features, EVERY)
    assert time.process_time() - start < 1
    assert sum(found[:1000]) == pytest.approx(1)


def test_deep_functions_need_no_recursion_and_linear_time() -> None:
    graph = chain(100_000)
    found = branch_probabilities(graph, (), EVERY)
    assert sum(found) == pytest.approx(100_000, abs=1)
