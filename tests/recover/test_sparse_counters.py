from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trodden.recover.sparse_counters import SparseCounters, nonzero

numbers = st.lists(st.sampled_from([0, 0, 0, 1, 7, 2**64 - 1]), max_size=40)


@given(numbers, st.integers(-50, 50), st.integers(-50, 50))
def test_it_is_a_sequence_like_any_other(values: list[int], start: int, stop: int) -> None:
    counts = SparseCounters.of(values)
    assert (len(counts), list(counts), counts == values, counts == tuple(values)) == (
        len(values),
        values,
        True,
        True,
    )
    assert counts[start:stop] == values[start:stop]
    assert counts[start:] == values[start:]
    assert [counts[index] for index in range(-len(values), len(values))] == values * 2
    assert list(nonzero(counts)) == list(nonzero(values)) == [(i, v) for i, v in enumerate(values) if v]
    assert counts != [*values, 0]
    assert hash(counts) == hash(SparseCounters.of(values))


def test_what_is_not_there() -> None:
    counts = SparseCounters.of([1, 2])
    for index in (2, -3):
        with pytest.raises(IndexError):
            counts[index]
    with pytest.raises(ValueError, match="no step"):
        counts[::2]
    with pytest.raises(ValueError, match="out of range"):
        SparseCounters(2, {2: 1})
    assert counts != "12"


def test_zeros_take_no_room() -> None:
    counts = SparseCounters(1 << 40, {5: 1, 1 << 39: 2})
    assert list(nonzero(counts[3 : 1 << 40])) == [(2, 1), ((1 << 39) - 3, 2)]
