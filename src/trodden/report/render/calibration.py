"""The results of calibration, for a terminal."""

from __future__ import annotations

from rich.text import Text

from trodden.estimating.calibrate import Calibration
from trodden.report.fields import percent
from trodden.report.render.pieces import Page, table
from trodden.report.views.calibration import rows, share_right
from trodden.weigh.heuristics.rates import WL94


def print_calibration(found: Calibration, console: Page) -> None:
    """Print one table of the heuristics that applied, the paper's first."""
    headings = ("branches", "coverage", "hit rate", "rate", "WL94")
    shown = table("Heuristics on the executed branches", headings, ("heuristic", "says"))
    for heuristic, seen in rows(found):
        rate, paper = found.rates.taken.get(heuristic.key), WL94.taken.get(heuristic.key)
        shown.add_row(
            f"{seen.branches:,}",
            percent(seen.coverage),
            percent(seen.hit_rate),
            "" if rate is None else f"{rate:.2f}",
            "" if paper is None else f"{paper:.2f}",
            Text(f"{heuristic.key} {heuristic.short}".strip()),
            Text(heuristic.says),
            style=None if rate is not None else "dim",
        )
    console.print(shown)
    best = found.with_rates.best / found.with_rates.executions
    console.print(
        Text(
            f"{found.branches:,} branch{'' if found.branches == 1 else 'es'}; predicted correctly: "
            f"{percent(share_right(found.with_rates))} of executions by these rates, "
            f"{percent(share_right(found.with_paper))} by those of WL94, {percent(best)} at best",
            style="dim",
        )
    )
