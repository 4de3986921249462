"""``trodden diff``: where two runs diverge."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from trodden.api.profiles import load_process, reading
from trodden.commands.click_options import Number, function_option, output_options
from trodden.commands.filter_options import filter_options
from trodden.commands.longer_options import longer_options
from trodden.commands.showing.presentation import Answer, Presentation
from trodden.errors import UsageError

if TYPE_CHECKING:
    from trodden.profile.reading import Reading
    from trodden.report.render.pieces import Page
    from trodden.report.views.difference import DifferenceReport
    from trodden.report.views.longer_difference import LongerDifferenceReport

TOP = 10
DIFFERENT = 1


@click.command()
@click.argument("first", metavar="A", type=click.Path())
@click.argument("second", metavar="B", type=click.Path())
@click.option(
    "--top",
    metavar="N",
    type=Number(1),
    help=f"Differences of each kind to show ({TOP}, in tsv and json all).",
)
@longer_options
@function_option
@click.option(
    "--process",
    "processes",
    metavar="PID",
    multiple=True,
    help="Only the counts of this process; given twice, one of A and one of B.",
)
@click.option(
    "--program",
    "programs",
    metavar="NAME",
    multiple=True,
    help="Only this program or library; given twice, one of A and one of B.",
)
@filter_options
@output_options()
@click.option("--exit-code", is_flag=True, help="Exit with 1 if there are differences.")
def diff(
    first: str,
    second: str,
    top: int | None,
    longer: bool,
    bounds: str,
    function: str | None,
    processes: tuple[str, ...],
    programs: tuple[str, ...],
    view: Reading,
    shown: Presentation,
    exit_code: bool,
) -> int:
    """Compare the paths of the profiles A and B: how many they have in common, and where they diverge.

    Shares are compared, not counts, so the runs may differ in length.  Where profiles have no paths, edges
    are compared, or blocks.
    """
    from trodden.report.views.difference import report_difference
    from trodden.report.views.difference_formats import to_document, to_plain

    limit = TOP if top is None and shown.for_people else top
    for option, given in (("process", processes), ("program", programs)):
        if len(given) > 2:
            raise UsageError(f"--{option}: name one {option}, or one of A and one of B")
    process = (processes[0], processes[-1]) if processes else (None, None)
    program = (programs[0], programs[-1]) if programs else (None, None)
    if longer:
        with reading(first, second):
            parts = (first, process[0], program[0], view), (second, process[1], program[1], view)
            compared = _longer(parts, (first, second), bounds, function, limit)
        shown.show(_longer_answer(compared))
        differ = compared.found.differences or compared.found.unpaired
        return DIFFERENT if exit_code and differ else 0
    with reading(first, second):
        profiles = (
            load_process(first, process[0], program[0], view),
            load_process(second, process[1], program[1], view),
        )
        report = report_difference(profiles, (first, second), function, limit)
    report.need_related()
    shown.show(
        Answer(
            document=lambda: to_document(report),
            rows=lambda: to_plain(report),
            page=lambda page: _page(report, page),
        )
    )
    return DIFFERENT if exit_code and not report.found.same else 0


def _longer(
    parts: Sequence[tuple[str, str | None, str | None, Reading]],
    files: tuple[str, str],
    bounds: str,
    function: str | None,
    top: int | None,
) -> LongerDifferenceReport:
    from trodden.api.longer import load_for_longer, longer_paths
    from trodden.report.views.longer_difference import report_longer_difference

    one, other = (load_for_longer(*each) for each in parts)
    both = longer_paths(one, bounds, function), longer_paths(other, bounds, function)
    return report_longer_difference(other, both, files, top)


def _longer_answer(report: LongerDifferenceReport) -> Answer:
    from trodden.report.render.longer_difference import print_longer_difference
    from trodden.report.views.longer_difference import to_document, to_plain

    return Answer(
        document=lambda: to_document(report),
        rows=lambda: to_plain(report),
        page=lambda page: print_longer_difference(report, page),
    )


def _page(report: DifferenceReport, page: Page) -> None:
    from trodden.report.render.difference import print_difference

    print_difference(report, page)
