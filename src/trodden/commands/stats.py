"""``trodden stats``: the number and length of paths, and how many an edge profile predicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trodden.api.profiles import load_paths, reading
from trodden.commands.click_options import (
    file_argument,
    function_option,
    output_options,
    process_option,
    program_option,
)
from trodden.commands.showing.presentation import Answer, Presentation

if TYPE_CHECKING:
    from trodden.report.render.pieces import Page
    from trodden.report.views.stats import StatsReport


@click.command()
@file_argument
@click.option("--per-function", is_flag=True, help="Also a row for each function that was executed.")
@function_option
@process_option
@program_option
@output_options()
def stats(
    file: str,
    per_function: bool,
    function: str | None,
    process: str | None,
    program: str | None,
    shown: Presentation,
) -> None:
    """Show how many paths the profile FILE has, how long they are, and how many branch counts predict.

    A path is predicted if it takes the most frequent edge out of each of its blocks.  The columns are those
    of Table 2 in Ball and Larus, Efficient Path Profiling (1996).
    """
    from trodden.report.views.stats import report_stats, to_document, to_plain

    with reading(file):
        report = report_stats(load_paths(file, process, program), function)
    shown.show(
        Answer(
            document=lambda: to_document(report, per_function),
            rows=lambda: to_plain(report, per_function),
            page=lambda page: _page(report, page, per_function),
        )
    )


def _page(report: StatsReport, page: Page, per_function: bool) -> None:
    from trodden.report.render.stats import print_stats

    print_stats(report, page, per_function)
