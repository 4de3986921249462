"""The permutation program of WL94 Appendix A: its functions, its call sites, and Table 11.

The graphs and their branch probabilities are in ``cases/wl94.cfg``.
"""

from __future__ import annotations

from dataclasses import dataclass

from tests.cases import Case, cases
from trodden.graph.cfg import build

FUNCTIONS: dict[str, Case] = {
    str(case): case for case in cases("wl94.cfg") if not str(case).startswith("figure")
}

MAIN = build("main", ["b0", "EXIT"], [(0, 1)])
"""It calls ``atoi`` and ``permute`` once each."""

CALLS: dict[str, dict[str, tuple[str, ...]]] = {
    "main": {"b0": ("atoi", "permute")},
    "atoi": {"b5": ("printf",)},
    "permute": {"b1": ("report_one",), "b2": ("permute_next_pos",)},
    "permute_next_pos": {"b1": ("in_prefix",), "b2": ("permute",)},
    "in_prefix": {},
    "report_one": {"b1": ("printf",), "b3": ("printf",)},
}
"""What the blocks call.  The paper does not show what ``report_one`` prints; nothing else depends on it."""


@dataclass(frozen=True)
class Row:
    """One line of Table 11, as printed, except for two misprints that the comments name.

    The numbers hold within one of their last digit, or else to the relative precision ``slack``.
    """

    function: str
    source: str
    target: str
    local: str
    invocations: str
    total: str
    slack: float = 0.0


def _rows(function: str, invocations: str, *lines: str, slack: float = 0.0) -> list[Row]:
    rows = []
    for edge, local, total in map(str.split, lines):
        source, target = edge.split("->")
        rows.append(Row(function, source, target, local, invocations, total, slack))
    return rows


TABLE_11 = [
    *_rows(
        "report_one",
        "2.1",
        "b0->b3 .02 .05",
        "b0->b5 .98 2.1",
        "b1->b3 .98 2.1",
        "b1->b1 7.2 15.0",
        "b5->b1 .98 2.1",
    ),
    # More leaves this loop in the paper (.29 + .70) than enters it (.98): no probabilities give all of these.
    # For the second the paper prints 10.0; Table 12 has 100.0, which is what 5.9 times 17.1 makes.
    *_rows("in_prefix", "17.1", "b1->b2 .29 4.9", slack=0.05),
    *_rows("in_prefix", "17.1", "b1->b3 5.9 100.0", "b3->b1 5.2 88.0", slack=0.02),
    *_rows(
        "in_prefix",
        "17.1",
        "b0->b5 .02 .41",
        "b0->b7 .98 16.7",
        "b3->b5 .70 12.0",
        "b7->b1 .98 16.7",
    ),
    *_rows(
        "permute_next_pos",
        "2.1",
        "b0->b5 .02 .05",
        "b0->b7 .98 2.1",
        "b1->b2 1.5 3.2",
        "b1->b3 6.6 13.9",
        "b2->b3 1.5 3.2",
        "b3->b5 .98 2.1",
        "b3->b1 7.2 15.0",
        "b7->b1 .98 2.1",
    ),
    # The paper has "10" invocations in the fourth of these.
    *_rows(
        "atoi",
        "1.0",
        "b0->b1 .95 .95",
        "b0->b5 .05 .05",
        "b1->b4 .11 .11",
        "b1->b2 .84 .84",
        "b2->b3 .84 .84",
        "b3->b3 6.2 6.2",
        "b3->b4 .84 .84",
    ),
    *_rows("permute", "4.2", "b0->b1 .50 2.1", "b0->b2 .50 2.1"),
]
