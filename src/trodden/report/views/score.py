"""How well one profile predicts another: the figures of WL94 §7."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trodden.compare.matching import Match, Scores
from trodden.report.fields import tabbed

PAPER = {
    "local_blocks": 0.82,
    "local_edges": 0.69,
    "invocations": 0.85,
    "calls": 0.72,
    "global_blocks": 0.77,
    "global_edges": 0.78,
}
"""The weighted scores of the top 20% that WL94 Table 9 gives for SPEC92, for comparison."""
PAPER_PERCENT = 20


@dataclass(frozen=True)
class ScoreReport:
    """The scores of one profile against another; ``files`` are their names."""

    files: tuple[str, str]
    scores: Scores


def to_document(report: ScoreReport) -> dict[str, Any]:
    """The scores by what they are about and by percentage; ``null`` where there was nothing to score."""
    return {
        kind: {
            str(percent): {
                "weighted": None if match is None else match.weighted,
                "unweighted": None if match is None else match.unweighted,
            }
            for percent, match in matches.items()
        }
        for kind, matches in report.scores.kinds.items()
    }


def to_plain(report: ScoreReport) -> str:
    """A row for each score, then one for each function that is not in both profiles."""
    rows: list[Sequence[object]] = [("#score", "of", "percent", "weighted", "unweighted", "items")]
    for kind, matches in report.scores.kinds.items():
        rows += [("score", kind, percent, *_figures(match)) for percent, match in matches.items()]
    rows.append(("#unpaired", "function", "profile", "reason"))
    rows += [
        ("unpaired", each.name, report.files[0 if each.first else 1], each.reason)
        for each in report.scores.unpaired
    ]
    return tabbed(rows)


def _figures(match: Match | None) -> tuple[object, ...]:
    return ("", "", "") if match is None else (f"{match.weighted:.6f}", f"{match.unweighted:.6f}", match.m)
