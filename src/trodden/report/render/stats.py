"""Statistics of a program's paths, for a terminal."""

from __future__ import annotations

from collections.abc import Mapping

from rich.table import Table
from rich.text import Text

from trodden.profile.analysis.stats import Lengths, Stats
from trodden.report.fields import counted, percent
from trodden.report.render.pieces import Page, note, table
from trodden.report.views.stats import StatsReport


def print_stats(report: StatsReport, console: Page, per_function: bool) -> None:
    """Print three small tables, or the rows of each function below those of the program."""
    rows = {report.program or "program": report.whole}
    if per_function:
        rows |= report.functions
    console.print(_executed(rows))
    console.print(_predicted(rows))
    whole = report.whole
    routines = table("Functions", ("executed", "most paths of one", "average"), ())
    routines.add_row(f"{whole.routines:,}", f"{whole.most_paths:,}", f"{whole.average_paths:.1f}")
    console.print(routines)
    console.print(note(f"lengths are in {report.instructions.words}"))
    if report.without:
        words = f"no paths were counted in {counted(len(report.without), 'function')}"
        console.print(note(words))


def _executed(rows: Mapping[str, Stats]) -> Table:
    headings = ("possible", "executed", "longest: edges", "instr.", "average: edges", "instr.")
    found = table("Executed paths; averages are weighted by frequency", headings, ("in",))
    for name, each in rows.items():
        found.add_row(f"{each.possible:,}", f"{each.paths:,}", *_shown(each.lengths), Text(name))
    return found


def _predicted(rows: Mapping[str, Stats]) -> Table:
    headings = ("entirely", "of executions", "longest: edges", "instr.", "average: edges", "instr.")
    found = table("Paths predicted by edge counts alone, up to the first misprediction", headings, ("in",))
    for name, each in rows.items():
        shares = percent(each.correct), percent(each.correct_walks)
        found.add_row(*shares, *_shown(each.predicted_lengths), Text(name))
    return found


def _shown(lengths: Lengths) -> tuple[str, str, str, str]:
    return (
        f"{lengths.longest_edges:,}",
        f"{lengths.longest_instructions:,}",
        f"{lengths.average_edges:,.1f}",
        f"{lengths.average_instructions:,.1f}",
    )
