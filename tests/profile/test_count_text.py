"""How counts are written: measured ones in full, estimates to their significant digits."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trodden.profile.count_text import amount


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0"),
        (999, "999"),
        (1234567, "1,234,567"),
        (10**20, "100,000,000,000,000,000,000"),
        (-1234, "-1,234"),
        (0.0, "0"),
        (1.0, "1"),
        (0.052, "0.052"),
        (4.2, "4.2"),
        (17.149, "17.1"),
        (999.6, "1,000"),
        (1234.0, "1,230"),
        (987654.0, "988,000"),
        (1.2e15, "1.2e+15"),
        (0.00123, "0.00123"),
        (0.0000523, "5.2e-05"),
    ],
)
def test_amounts(count: float, text: str) -> None:
    assert amount(count) == text
    assert amount(count, "") == text.replace(",", "")


@given(st.floats(0, 1e290))
def test_a_rounded_amount_is_near_its_value(count: float) -> None:
    assert float(amount(count, "")) == pytest.approx(count, rel=0.051)


@given(st.integers())
def test_what_was_counted_is_written_in_full(count: int) -> None:
    assert amount(count) == f"{count:,}"
