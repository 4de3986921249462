"""``trodden report``: the hottest functions, paths, blocks and edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from trodden.api.longer import load_for_longer, longer_paths
from trodden.api.profiles import load_process, reading
from trodden.commands.click_options import (
    Number,
    file_argument,
    function_option,
    output_options,
    process_option,
    program_option,
)
from trodden.commands.filter_options import filter_options
from trodden.commands.longer_options import longer_options
from trodden.commands.showing.presentation import TABLE, Answer, Presentation

if TYPE_CHECKING:
    from trodden.profile.reading import Reading
    from trodden.report.render.pieces import Page
    from trodden.report.views.longer_rows import LongerReport
    from trodden.report.views.summary import Summary

TOP = 10


@click.command()
@file_argument
@click.option(
    "--top",
    metavar="N",
    type=Number(1),
    help="All tables, with N rows each.  Without it a table format shows what fits a screen, markdown"
    f" {TOP} rows, and tsv and json have all.",
)
@longer_options
@function_option
@process_option
@program_option
@filter_options
@output_options()
def report(
    file: str,
    top: int | None,
    longer: bool,
    bounds: str,
    function: str | None,
    process: str | None,
    program: str | None,
    view: Reading,
    shown: Presentation,
) -> None:
    """Show the profile FILE: how often functions, paths, blocks and edges were executed."""
    rows = top or (TOP if shown.for_people else None)
    if longer:
        from trodden.report.views.longer_rows import report_longer

        with reading(file):
            profile = load_for_longer(file, process, program, view)
            found = report_longer(profile, longer_paths(profile, bounds, function), rows)
        shown.show(_longer_answer(found))
        return
    from trodden.report.render.plain import to_plain
    from trodden.report.views.summary import summarise

    with reading(file):
        summary = summarise(load_process(file, process, program, view), rows, function)
    brief = top is None and shown.format == TABLE
    shown.show(
        Answer(
            document=summary.to_document,
            rows=lambda: to_plain(summary),
            page=lambda page: _page(summary, page, (file, shown) if brief else None),
        )
    )


def _longer_answer(report: LongerReport) -> Answer:
    from trodden.report.render.longer import longer_rows, print_longer

    return Answer(
        document=report.to_document,
        rows=lambda: longer_rows(report),
        page=lambda page: print_longer(report, page),
    )


def _page(summary: Summary, page: Page, brief: tuple[str, Presentation] | None) -> None:
    if brief is None:
        from trodden.report.render.terminal import print_tables

        print_tables(summary, page)
    else:
        from trodden.report.render.brief import print_brief

        file, shown = brief
        print_brief(summary, page, file, shown.screen.width, shown.screen.height)
