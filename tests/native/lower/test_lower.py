"""What the lowering makes of small functions, line by line."""

from __future__ import annotations

import pytest

from tests.native.lower.cases import Case, all_cases


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_lowered(case: Case) -> None:
    assert case.out
    assert case.lowered() == case.out
