"""Longer paths that two runs executed in different shares, for a terminal."""

from __future__ import annotations

from rich.padding import Padding
from rich.text import Text

from trodden.report.fields import counted
from trodden.report.render.longer import two_parts
from trodden.report.render.pieces import Page, note
from trodden.report.views.longer_difference import LongerDifferenceReport

_MOST_NAMES = 10


def print_longer_difference(report: LongerDifferenceReport, page: Page) -> None:
    """Print it, what only one of the runs did at the top."""
    found = report.found
    page.print(Text.assemble(("A ", "bold"), report.files[0], ("  B ", "bold"), report.files[1]))
    if report.rows:
        page.print(Text("Longer paths whose shares have certainly changed", style="bold"))
    for row in report.rows:
        colour = "bold red" if not row.found.first.count.most else "bold"
        where = f"  {row.place}: {row.sentence}"
        page.print(Text.assemble((f"{row.rank:>4} ", colour), (row.found.crossing.function, "bold"), where))
        text = two_parts(row.first, row.second)
        text.plain = text.plain.lstrip("\n")
        page.print(Padding(text, (0, 0, 0, 5)))
    if not found.differences:
        page.print(Text("No longer path has certainly changed", style="bold"))
    hidden = len(found.differences) - len(report.rows)
    if hidden:
        page.print(note(f"{counted(hidden, 'more difference')}; see --top"))
    if found.unknown:
        whether = "may have changed or not: their bounds overlap"
        page.print(note(f"{counted(found.unknown, 'longer path')} {whether}"))
    for each in found.unpaired[:_MOST_NAMES]:
        page.print(note(f"{each.name} of {'A' if each.first else 'B'} cannot be compared: {each.reason}"))
    if len(found.unpaired) > _MOST_NAMES:
        more = counted(len(found.unpaired) - _MOST_NAMES, "more function")
        page.print(note(f"{more} cannot be compared"))
