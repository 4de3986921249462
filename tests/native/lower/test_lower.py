"""What the lowering makes of small functions, line by line."""

from __future__ import annotations

import pytest

from tests.native.lower.cases import Case, all_cases


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_lowered(case: Case) -> None:
    assert case.out
    assert case.lowered() == case.out


def test_settings_that_do_not_exist_are_rejected() -> None:
    case = Case("lower", "misspelt", "; flag: --trodden-profile=paths\n", "")
    with pytest.raises(ValueError, match=r"lower-misspelt: no such setting: flag"):
        case.options()
