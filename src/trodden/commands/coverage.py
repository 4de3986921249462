"""``trodden coverage``: which paths were executed, and the nearest that were not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trodden.api.profiles import load_paths, reading
from trodden.commands.click_options import (
    Number,
    function_option,
    output_options,
    process_option,
    program_option,
)
from trodden.commands.showing.presentation import Answer, Presentation
from trodden.errors import TooLittleCovered

if TYPE_CHECKING:
    from trodden.report.render.pieces import Page
    from trodden.report.views.coverage import CoverageReport

TOP = 3
MOST_FUNCTIONS = 20


@click.command()
@click.argument("files", metavar="FILE...", type=click.Path(), nargs=-1, required=True)
@click.option(
    "--top",
    metavar="N",
    type=Number(0),
    default=TOP,
    show_default=True,
    help="Paths never executed to show for each function.",
)
@function_option
@process_option
@program_option
@output_options()
@click.option(
    "--fail-under",
    metavar="PERCENT",
    type=click.FloatRange(min=0, max=100),
    help="Fail if fewer of the possible paths were executed.",
)
def coverage(
    files: tuple[str, ...],
    top: int,
    function: str | None,
    process: str | None,
    program: str | None,
    shown: Presentation,
    fail_under: float | None,
) -> None:
    """Show how many of the possible paths were executed in the profiles FILE... taken together.

    Below are paths that were never executed but differ by one decision from one that was: what the next
    input should do.
    """
    from trodden.report.views.coverage import report_coverage, to_document, to_plain

    with reading(*files):
        profiles = [load_paths(file, process, program) for file in files]
        report = report_coverage(profiles, files, function, top)
    shown.show(
        Answer(
            document=lambda: to_document(report),
            rows=lambda: to_plain(report),
            page=lambda page: _page(report, page, None if function else MOST_FUNCTIONS),
        )
    )
    paths = report.found.paths
    if fail_under is not None and 100 * paths.covered < fail_under * paths.total:
        raise TooLittleCovered(
            f"{100 * paths.share:.4g}% of the possible paths were executed,"
            f" {paths.covered} of {paths.total}; {fail_under:g}% are required"
        )


def _page(report: CoverageReport, page: Page, most: int | None) -> None:
    from trodden.report.render.coverage import print_coverage

    print_coverage(report, page, most)
