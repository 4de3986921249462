"""Bounds by row and column, held against linear programs and against counts that have the same sums."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.graphs import seeds
from trodden.recover.bounds.fixed_point import fixed_point
from trodden.recover.bounds.linear import tightest_bounds
from trodden.recover.bounds.margins import Margins
from trodden.recover.bounds.system import Range


def around(value: int, rng: random.Random, slack: int) -> Range:
    return Range(max(value - rng.randint(0, slack), 0), value + rng.randint(0, slack))


def table(rng: random.Random, rows: int, columns: int) -> dict[tuple[int, int], int]:
    return {
        (row, column): rng.choice([0, 0, 1, 3, rng.randint(0, 50)])
        for row in range(rows)
        for column in range(columns)
    }


def margins_of(counts: dict[tuple[int, int], int], rng: random.Random, slack: int) -> Margins[int, int]:
    rows: dict[int, int] = {}
    columns: dict[int, int] = {}
    for (row, column), count in counts.items():
        rows[row] = rows.get(row, 0) + count
        columns[column] = columns.get(column, 0) + count
    total = sum(counts.values())
    return Margins(
        {row: around(count, rng, slack) for row, count in rows.items()},
        {column: around(count, rng, slack) for column, count in columns.items()},
        rng.choice([None, Range(total, total), around(total, rng, slack)]),
    )


def random_margins(seed: int, slack: int) -> tuple[Margins[int, int], dict[tuple[int, int], int]]:
    rng = random.Random(seed)
    counts = table(rng, rng.randint(1, 4), rng.randint(1, 4))
    return margins_of(counts, rng, slack), counts


@settings(max_examples=300)
@given(seeds(), st.sampled_from([0, 0, 1, 5, 40]))
def test_the_bounds_are_those_of_linear_programs(seed: int, slack: int) -> None:
    margins, counts = random_margins(seed, slack)
    solved = tightest_bounds(margins.system())
    by_pair = solved.by_pair()
    for (row, column), count in counts.items():
        low, high = margins.bounds(row, column)
        assert low <= count <= high
        assert by_pair.get((row, column), Range(0, 0)) == (low, high)
    assert margins.definite_flow == solved.definite_flow
    assert margins.potential_flow == solved.potential_flow
    assert margins.exact == sum(low == high > 0 for low, high in by_pair.values())
    assert not margins.contradictory


@settings(max_examples=200)
@given(seeds())
def test_exact_sums_leave_nothing_to_be_gained_over_the_equations(seed: int) -> None:
    rng = random.Random(seed)
    counts = table(rng, rng.randint(1, 5), rng.randint(1, 5))
    margins = margins_of(counts, rng, 0)
    for pair, known in fixed_point(margins.system()).by_pair().items():
        assert known == margins.bounds(*pair)


@settings(max_examples=200)
@given(seeds(), st.sampled_from([0, 3]))
def test_pairs_come_in_the_order_of_their_upper_bounds(seed: int, slack: int) -> None:
    margins, counts = random_margins(seed, slack)
    found = list(margins.hottest())
    uppers = [bounds.most for _, _, bounds in found]
    assert uppers == sorted(uppers, reverse=True)
    pairs = [(first, second) for first, second, _ in found]
    assert len(set(pairs)) == len(pairs) == margins.pairs
    assert {pair for pair, count in counts.items() if count} <= set(pairs)
    assert margins.certain.keys() == {(f, s) for f, s, bounds in found if bounds.least}
    assert all(margins.bounds(*pair) == bounds for pair, bounds in margins.certain.items())


def test_sums_that_no_counts_have_are_a_contradiction() -> None:
    assert Margins({1: Range(3, 3)}, {1: Range(2, 2)}).contradictory
    assert Margins({1: Range(3, 3)}, {1: Range(0, 5)}, Range(4, 4)).contradictory
    assert not Margins({1: Range(3, 3)}, {1: Range(0, 5)}).contradictory


def test_a_million_paths_make_no_pairs() -> None:
    many = {number: Range(1 + number % 7, 1 + number % 7) for number in range(200_000)}
    margins = Margins(many, many)
    assert margins.pairs == 200_000**2
    assert margins.definite_flow == 0
    assert margins.potential_flow > 200_000**2
    hottest = margins.hottest()
    assert [next(hottest)[2] for _ in range(1000)] == [Range(0, 7)] * 1000
