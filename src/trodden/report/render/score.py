"""How well one profile predicts another, for a terminal."""

from __future__ import annotations

from rich.text import Text

from trodden.compare.matching import Match
from trodden.report.fields import counted
from trodden.report.render.pieces import Page, note, table
from trodden.report.views.score import PAPER, PAPER_PERCENT, ScoreReport


def print_score(report: ScoreReport, console: Page) -> None:
    """Print one table, with the scores of the paper beside those that they compare to."""
    kinds, scores = report.scores.kinds, report.scores
    percents = list(next(iter(kinds.values())))
    headings = [f"top {percent}%" for percent in percents]
    found = table(f"How well {report.files[0]} predicts {report.files[1]}", [*headings, "WL94"], ("what",))
    for kind, matches in kinds.items():
        figures = [_shown(matches[percent]) for percent in percents]
        found.add_row(
            *figures,
            f"{PAPER[kind]:.2f}",
            Text(kind.replace("_", " ")),
            style=None if any(figures) else "dim",
        )
    console.print(found)
    words = (
        f"{counted(scores.pairs, 'function')} in both; scores weighted by counts, in brackets unweighted; "
        f"WL94 is the paper's score for the top {PAPER_PERCENT}%"
    )
    console.print(Text(words, style="dim"))
    if scores.unpaired:
        left = len({each.name for each in scores.unpaired})
        is_ = "is" if left == 1 else "are"
        console.print(note(f"{counted(left, 'function')} {is_} not in both profiles and {is_} left out"))


def _shown(match: Match | None) -> str:
    return "" if match is None else f"{match.weighted:.2f} ({match.unweighted:.2f})"
