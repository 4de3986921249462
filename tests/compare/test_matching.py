"""Wall's matching scores on WL94's own example, on ties, and on whole profiles."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import pairwise, permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.profile.making import Flow, function, profile_of, unit_of
from trodden.compare.matching import Match, match, mean, score
from trodden.errors import UsageError
from trodden.graph.cfg import EdgeKind
from trodden.plan.counters.blocks import every_block
from trodden.profile.model import Profile
from trodden.weigh.features.block_features import BlockFeatures, CallFeatures, FunctionFeatures

# WL94 Table 12, with the five edges of Table 11 that are too rare for it; functions by their numbers there.
STATIC = """
1 1>3 100.0  1 3>1 88.0  1 0>7 16.7  1 7>1 16.7  2 1>1 15.0  3 3>1 15.0  3 1>3 13.9  1 3>5 12.0
4 3>3 6.15   1 1>2 4.87  3 1>2 3.20  3 2>3 3.20  5 0>2 2.10  5 0>1 2.10  3 0>7 2.05  2 0>5 2.05
2 1>3 2.05   3 3>5 2.05  2 5>1 2.05  3 7>1 2.05  4 0>1 .95   4 1>2 .84   4 3>4 .84   4 2>3 .84
1 0>5 .41    4 1>4 .11   2 0>3 .05   3 0>5 .05   4 0>5 .05
"""
DYNAMIC = """
1 1>3 17580  1 3>1 15630  1 0>7 7416  1 7>1 7416  3 3>1 6185  3 1>3 5466  1 1>2 5466  2 1>1 3600
3 1>2 1956   3 2>3 1956   1 3>5 1950  3 0>7 1237  5 0>2 1237  3 3>5 1237  3 7>1 1237  2 0>5 720
2 1>3 720    5 0>1 720    2 5>1 720   1 0>5 6     4 0>1 1     4 1>2 1     4 3>4 1     4 2>3 1
"""
PRINTED = {10: 1.0, 20: 0.89, 30: 0.92, 40: 0.95, 50: 0.98, 60: 0.97, 90: 1.0, 100: 1.0}


def _table(text: str) -> dict[tuple[str, str], float]:
    words = text.split()
    return {(words[at], words[at + 1]): float(words[at + 2]) for at in range(0, len(words), 3)}


def _in_printed_order(values: Mapping[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """The same frequencies, with each a little below the one before it where they are equal."""
    return {key: value * (1 - rank / 1e6) for rank, (key, value) in enumerate(values.items())}


def _match(estimated: Mapping[str, float], measured: Mapping[str, float], share: float) -> Match:
    found = match(estimated, measured, share)
    assert found is not None
    return found


@pytest.mark.parametrize(("percent", "printed"), PRINTED.items())
def test_table_12(percent: int, printed: float) -> None:
    found = match(_in_printed_order(_table(STATIC)), _table(DYNAMIC), percent / 100)
    assert found is not None
    assert round(found.weighted, 2) == printed


def test_at_20_percent_four_of_five_edges_match() -> None:
    found = match(_in_printed_order(_table(STATIC)), _table(DYNAMIC), 0.2)
    assert found is not None
    assert (found.m, found.unweighted) == (5, 0.8)
    assert found.weighted == pytest.approx((17580 + 15630 + 2 * 7416) / (17580 + 15630 + 2 * 7416 + 6185))


def test_what_the_table_has_equal_is_not_decided_by_its_order() -> None:
    """The fifth and the sixth estimate are both 15.0, and one of the two is right."""
    measured = _table(DYNAMIC)
    found = match(_table(STATIC), measured, 0.2)
    assert found is not None
    assert found.unweighted == pytest.approx(0.9)
    assert found.weighted == pytest.approx((48042 + 6185 / 2) / 54227)


@pytest.mark.parametrize(("percent", "exact"), [(70, 78535 / 81009), (80, 81212 / 82449)])
def test_where_the_table_claims_more_than_its_rows_give(percent: int, exact: float) -> None:
    """The table has 1.0 at both, which no order of the equal ones among the estimates gives."""
    static, measured = _table(STATIC), _table(DYNAMIC)
    found = match(_in_printed_order(static), measured, percent / 100)
    assert found is not None
    assert found.weighted == pytest.approx(exact)
    best_first = {key: value * (1 + 1e-7 * measured.get(key, 0) / 17580) for key, value in static.items()}
    best = match(best_first, measured, percent / 100)
    assert best is not None
    assert round(best.weighted, 2) == 0.99


def test_the_top_is_a_share_of_what_ran() -> None:
    measured = {f"ran{number}": 10 + number for number in range(5)} | {
        f"not{number}": 0 for number in range(95)
    }
    assert [_match(measured, measured, share).m for share in (0.01, 0.1, 0.29, 0.3, 0.5, 1)] == [
        1,
        1,
        1,
        2,
        3,
        5,
    ]
    assert match(measured, {"a": 0}, 0.5) is None
    assert match({}, {}, 0.5) is None


def test_measured_items_that_are_equal_are_as_good_as_one_another() -> None:
    measured = {"a": 9, "b": 5, "c": 5, "d": 5, "e": 1}
    assert _match({"d": 3, "a": 2}, measured, 0.4) == Match(1.0, 1.0, 2)
    assert _match({"d": 3, "b": 2}, measured, 0.4) == Match(5 / 14, 0.5, 2)


def test_equal_estimates_are_in_the_top_in_part() -> None:
    measured = {"a": 8, "b": 2, "c": 1, "d": 1}
    assert _match({"a": 1, "b": 1, "c": 1, "d": 1}, measured, 0.25) == Match(0.25, 0.25, 1)
    assert _match({"a": 1, "b": 1}, measured, 0.25) == Match(0.5, 0.5, 1)
    assert _match({}, measured, 0.5) == Match(0.5, 0.5, 2)


def test_rounding_errors_break_no_tie() -> None:
    measured = {"a": 8, "b": 2}
    assert _match({"a": 0.1 + 0.2, "b": 0.3}, measured, 0.5) == Match(0.5, 0.5, 1)
    assert _match({"a": 0.3, "b": 0.1 + 0.2}, measured, 0.5) == Match(0.5, 0.5, 1)


def test_counts_are_never_noise() -> None:
    measured = {"a": 10**15 + 1, "b": 10**15}
    assert _match(measured, measured, 0.5) == Match(1.0, 1.0, 1)
    assert _match({"a": 10**15, "b": 10**15 + 1}, measured, 0.5).weighted == 0.0


counts = st.dictionaries(st.sampled_from("abcdefg"), st.integers(0, 4), min_size=1)
shares = st.sampled_from([0.1, 0.2, 0.35, 0.5, 0.8, 1.0])


@given(estimated=counts, measured=counts, share=shares)
@settings(max_examples=300, deadline=None)
def test_the_score_is_the_mean_over_all_orders(
    estimated: dict[str, int], measured: dict[str, int], share: float
) -> None:
    """Every order of equal estimates is tried, and for each the order of equal counts that suits it best."""
    found = match(estimated, measured, share)
    ran = sorted((count for count in measured.values() if count), reverse=True)
    if found is None:
        assert not ran
        return
    m = found.m
    orders = [
        order
        for order in permutations({**estimated, **measured})
        if all(estimated.get(a, 0) >= estimated.get(b, 0) for a, b in pairwise(order))
    ]
    number = weight = 0
    for order in orders:
        top = list(ran[:m])
        for key in order[:m]:
            if measured.get(key, 0) in top:
                top.remove(measured[key])
                number, weight = number + 1, weight + measured[key]
    assert found.unweighted == pytest.approx(number / len(orders) / m)
    assert found.weighted == pytest.approx(weight / len(orders) / sum(ran[:m]))


@given(estimated=counts, measured=counts, share=shares, seed=st.integers())
@settings(max_examples=100, deadline=None)
def test_the_order_of_items_does_not_matter(
    estimated: dict[str, int], measured: dict[str, int], share: float, seed: int
) -> None:
    def mixed(values: dict[str, int]) -> dict[str, int]:
        return dict(Random(seed).sample(list(values.items()), len(values)))

    found = match(estimated, measured, share)
    assert match(mixed(estimated), mixed(measured), share) == found
    assert found is None or (0 <= found.weighted <= 1 and 0 <= found.unweighted <= 1)
    perfect = match(measured, measured, share)
    assert perfect is None or (perfect.weighted, perfect.unweighted) == (1, 1)


def test_many_ties_are_no_burden() -> None:
    """Half of 100,000 equal estimates are as right as can be."""
    measured: dict[int, float] = {number: 1 + number % 2 for number in range(100_000)}
    found = match(dict.fromkeys(measured, 1.0), measured, 0.25)
    assert found is not None
    assert found.unweighted == pytest.approx(0.5)


def test_the_mean_over_functions() -> None:
    some = [Match(1.0, 1.0, 1), Match(0.5, 0.25, 3)]
    assert mean(some) == Match(0.75, 0.625, 4)
    assert mean([]) is None


BRANCH = "a>b a>c b>d c>d d>exit"
LOOP = "p>q q>q q>r r>exit"
ONE = "x>exit"
CROSSED = "a>b a>c b>d b>e c>d c>e d>exit e>exit"


def _calling(callee: str, number: int) -> FunctionFeatures:
    """A feature for each block, and one call in the first."""
    return FunctionFeatures((BlockFeatures(calls=(CallFeatures(callee),)), *[BlockFeatures()] * (number - 1)))


def _program(flows: Mapping[str, Flow]) -> Profile:
    main = replace(function("main", BRANCH), features=_calling("loop", 4))
    loop = replace(function("loop", LOOP), features=_calling("tick", 3))
    return profile_of(unit_of(main, loop, function("tick", ONE)), flows)


MEASURED: Mapping[str, Flow] = {
    "main": {"a>b": 1, "b>d": 1, "d>exit": 1},
    "loop": {"p>q": 10, "q>q": 90, "q>r": 10, "r>exit": 10},
    "tick": {"x>exit": 10},
}


def test_a_profile_predicts_itself() -> None:
    profile = _program(MEASURED)
    found = score(profile, profile)
    assert found.pairs == 3
    assert found.unpaired == ()
    assert list(found.kinds) == [
        *("local_blocks", "local_edges", "invocations", "calls", "global_blocks", "global_edges")
    ]
    for kind, matches in found.kinds.items():
        assert list(matches) == [10, 20, 30, 40, 50], kind
        for each in matches.values():
            assert each is not None
            assert (each.weighted, each.unweighted) == (1, 1), kind


OTHER: Mapping[str, Flow] = {
    "main": {"a>c": 50, "c>d": 50, "d>exit": 50},
    "loop": {"p>q": 3, "q>r": 3, "r>exit": 3},
    "tick": {"x>exit": 1},
}


def _weighted(found: Match | None) -> float:
    assert found is not None
    return found.weighted


def test_each_score_looks_at_its_own_items() -> None:
    found = score(_program(OTHER), _program(MEASURED), percents=(50,))
    main, loop = 2 / 3, (2 / 3 * 100 + 10) / 110
    assert _weighted(found.local_blocks[50]) == pytest.approx((main + loop + 1) / 3)
    assert found.invocations[50] == Match(1 / 2, 1 / 2, 2)
    assert found.calls[50] == Match(0, 0, 1)
    assert _weighted(found.global_blocks[50]) == pytest.approx((100 / 3 + 2 / 3 * 10) / 130)


def _estimated(profile: Profile, name: str, flow: Flow) -> Profile:
    """The profile with a function that is never called, of which a call would go like this."""
    known = profile.functions[name]
    graph = known.facts.graph
    per_call = [1.0 if edge.kind is EdgeKind.CLOSING else 0.0 for edge in graph.edges]
    for index in graph.flow_edges():
        edge = graph.edges[index]
        target = "exit" if edge.dst == graph.exit else graph.labels[edge.dst]
        per_call[index] = flow[f"{graph.labels[edge.src]}>{target}"]
    zeros = replace(
        known, block_counts=[0.0] * len(graph.labels), edge_counts=[0.0] * len(graph.edges), per_call=per_call
    )
    return replace(profile, functions={**profile.functions, name: zeros})


def test_what_is_expected_of_one_call_is_known_of_functions_that_are_never_called() -> None:
    profile = _program(MEASURED)
    never = _estimated(profile, "loop", {"p>q": 1, "q>q": 9, "q>r": 1, "r>exit": 1})
    found = score(never, profile)
    assert {_weighted(each) for each in (*found.local_blocks.values(), *found.local_edges.values())} == {1}
    assert _weighted(found.global_blocks[20]) == 0
    assert _weighted(found.invocations[50]) < 1


def test_edges_are_scored_where_both_have_counted_them() -> None:
    facts = function("f", CROSSED, planner=every_block)
    edges = function("g", LOOP)
    crossed = {"a>b": 5, "a>c": 5, "b>d": 3, "b>e": 2, "c>d": 2, "c>e": 3, "d>exit": 5, "e>exit": 5}
    flows: Mapping[str, Flow] = {"f": crossed, "g": MEASURED["loop"]}
    blocks = profile_of(unit_of(facts), flows)
    found = score(blocks, blocks)
    assert _weighted(found.local_blocks[20]) == 1
    assert None in blocks.functions["f"].edge_counts
    assert (found.local_edges[20], found.global_edges[20], found.calls[20]) == (None, None, None)
    both = profile_of(unit_of(facts, edges), flows)
    assert score(both, both, percents=(100,)).global_edges[100] == Match(1, 1, 4)


def test_functions_that_are_not_in_both_are_left_out() -> None:
    profile = _program(MEASURED)
    other = profile_of(unit_of(function("main", BRANCH), function("loop", ONE)), MEASURED)
    found = score(other, profile)
    assert found.pairs == 1
    assert sorted((each.name, each.first) for each in found.unpaired) == [
        *(("loop", False), ("loop", True), ("tick", False))
    ]
    assert found.invocations[20] == Match(1, 1, 1)
    with pytest.raises(UsageError, match="no function in common"):
        score(profile_of(unit_of(function("f", ONE)), {}), profile)
