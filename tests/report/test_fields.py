"""How reports write numbers."""

from __future__ import annotations

from trodden.report.fields import percent


def test_percentages_do_not_round_away_what_matters() -> None:
    assert [percent(x) for x in (0, 0.0001, 0.5, 0.99999, 1)] == [
        "0.0%",
        "<0.1%",
        "50.0%",
        ">99.9%",
        "100.0%",
    ]
