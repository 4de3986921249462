"""Coverage and hit rate of each heuristic, beside the rates of WL94 Table 1."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from trodden.estimating.calibrate import Calibration
from trodden.report.fields import tabbed
from trodden.weigh.calibrate.observed import Accuracy
from trodden.weigh.heuristics.heuristic import Heuristic
from trodden.weigh.heuristics.rates import WL94, Measured
from trodden.weigh.heuristics.registry import HEURISTICS


def rows(found: Calibration) -> Iterator[tuple[Heuristic, Measured]]:
    """The measurements of the heuristics that applied, in the order of their table."""
    for heuristic in HEURISTICS:
        if heuristic.key in found.measured:
            yield heuristic, found.measured[heuristic.key]


def share_right(accuracy: Accuracy) -> float:
    """The share of executions that took the predicted edge."""
    return accuracy.right / accuracy.executions


def to_document(found: Calibration) -> dict[str, Any]:
    """All figures; ``rate`` is null for a heuristic that is not used, ``wl94`` for one not in the paper."""
    return {
        "rates": found.rates.name,
        "programs": list(found.rates.programs),
        "branches": found.branches,
        "right": {
            "wl94": share_right(found.with_paper),
            "rates": share_right(found.with_rates),
            "at_best": found.with_rates.best / found.with_rates.executions,
        },
        "heuristics": [
            {
                "key": heuristic.key,
                "short": heuristic.short,
                "says": heuristic.says,
                "branches": seen.branches,
                "coverage": seen.coverage,
                "hit_rate": seen.hit_rate,
                "rate": found.rates.taken.get(heuristic.key),
                "wl94": WL94.taken.get(heuristic.key),
            }
            for heuristic, seen in rows(found)
        ],
    }


def to_plain(found: Calibration) -> str:
    """A row for each heuristic, then the share of executions that each table of rates predicts correctly."""
    lines: list[Sequence[object]] = [
        ("#heuristic", "key", "branches", "coverage", "hit rate", "rate", "wl94", "says")
    ]
    for heuristic, seen in rows(found):
        rate, paper = found.rates.taken.get(heuristic.key), WL94.taken.get(heuristic.key)
        lines.append(
            (
                *("heuristic", heuristic.key, seen.branches, f"{seen.coverage:.4f}", f"{seen.hit_rate:.4f}"),
                *(_number(rate), _number(paper), heuristic.says),
            )
        )
    lines.append(("#right", "by", "share"))
    lines.append(("right", WL94.name, f"{share_right(found.with_paper):.4f}"))
    lines.append(("right", found.rates.name, f"{share_right(found.with_rates):.4f}"))
    best = found.with_rates.best / found.with_rates.executions
    lines.append(("right", "at best", f"{best:.4f}"))
    return tabbed(lines)


def _number(rate: float | None) -> str:
    return "" if rate is None else f"{rate:.4f}"
