"""Two runs side by side for a terminal: what is common, where they diverge, which shares changed."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from trodden.compare.difference import Basis
from trodden.compare.evidence import CONVINCING
from trodden.compare.model import Difference, Kind
from trodden.profile.count_text import amount
from trodden.profile.estimated import mark
from trodden.report.fields import counted, percent
from trodden.report.render.pieces import Page, described, note, table
from trodden.report.views.difference import DifferenceReport, common_rows, sentence

_MOST_NAMES = 10


def print_difference(report: DifferenceReport, console: Page) -> None:
    """Print it, the branches where the runs diverge at the top."""
    found = report.found
    console.print(Text.assemble(("A ", "bold"), report.files[0], ("  B ", "bold"), report.files[1]))
    for run, estimate in report.marks():
        console.print(note(f"{run} is an {mark(estimate)}; shares of branches are compared, not counts"))
    if found.common:
        console.print(_common(report))
    if Basis.PATHS not in found.common and found.common:
        console.print(note("there are no paths to compare; edges or blocks are compared instead"))
    shown = [(rank, each) for rank, each in report.shown if not _by_chance(each)]
    shifted = [(rank, each) for rank, each in shown if each.kind is Kind.SHIFTS]
    wrong = [(rank, each) for rank, each in shown if each.kind is Kind.EXPECTS]
    alone = [(rank, each) for rank, each in shown if each.kind not in (Kind.SHIFTS, Kind.EXPECTS)]
    if alone:
        _print_list("Where the runs diverge", alone, report, console)
    if shifted:
        _print_list("Shares that changed by more than chance", shifted, report, console)
    if wrong:
        _print_list("Branches that deviate from the estimate", wrong, report, console)
    by_chance = sum(map(_by_chance, found.differences))
    if by_chance:
        shares = counted(by_chance, "more share")
        console.print(note(f"{shares} changed, but so little that it may be chance"))
    hidden = len(found.differences) - by_chance - len(alone) - len(shifted) - len(wrong)
    if hidden:
        console.print(note(f"{counted(hidden, 'more difference')}; see --top"))
    if not found.differences:
        console.print(Text("No difference", style="bold"))
    for each in found.unpaired[:_MOST_NAMES]:
        console.print(note(f"{each.name} of {'A' if each.first else 'B'} cannot be compared: {each.reason}"))
    if len(found.unpaired) > _MOST_NAMES:
        console.print(
            note(f"{counted(len(found.unpaired) - _MOST_NAMES, 'more function')} cannot be compared")
        )
    if found.by_counts:
        names = ", ".join(found.by_counts[:_MOST_NAMES])
        console.print(note(f"compared by counts, since the runs did not count the same paths: {names}"))
    for what in report.notes:
        console.print(note(what))


def _by_chance(each: Difference) -> bool:
    """Whether chance explains a difference of shares; what only one run did is never left to chance.

    Between two estimates there is no chance.
    """
    if each.kind is Kind.EXPECTS and isinstance(each.what.first_of, float):
        return not isinstance(each.what.second_of, float) and abs(each.evidence) < CONVINCING
    return each.kind in (Kind.SHIFTS, Kind.EXPECTS) and abs(each.evidence) < CONVINCING


def _common(report: DifferenceReport) -> Table:
    headings = ("common", "of B", "of B's executions", "instructions", "of B's", "only in A", "only in B")
    title = f"In common, and the {report.instructions.words} that B executed along it"
    common = table(title, headings, ("what",))
    for basis, each in common_rows(report.found):
        common.add_row(
            f"{each.common:,}",
            percent(each.static),
            percent(each.dynamic),
            amount(each.common_instructions),
            percent(each.dynamic_instructions),
            f"{each.first - each.common:,}",
            f"{each.second - each.common:,}",
            basis.value,
        )
    return common


def _print_list(
    title: str, rows: Sequence[tuple[int, Difference]], report: DifferenceReport, console: Page
) -> None:
    console.print(Text(title, style="bold"))
    for rank, each in rows:
        colour = "bold red" if each.only_second else "bold"
        words = sentence(report, each, short=True)
        console.print(Text.assemble((f"{rank:>4} ", colour), (each.name, "bold"), f": {words}"))
        if each.path is not None:
            console.print(described(report.branches, each.function, each.path, 5))
            if each.more and each.kind is not Kind.FOLLOWS:
                console.print(Text(f"     and {counted(len(each.more), 'more path')} like it", style="dim"))
    console.print()
