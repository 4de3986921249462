"""``trodden report``: the hottest functions, paths, blocks and edges."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

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
from trodden.commands.showing.presentation import TABLE, Answer, Presentation

if TYPE_CHECKING:
    from trodden.profile.reading import Reading
    from trodden.report.render.pieces import Page
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
@function_option
@process_option
@program_option
@filter_options
@output_options()
def report(
    file: str,
    top: int | None,
    function: str | None,
    process: str | None,
    program: str | None,
    view: Reading,
    shown: Presentation,
) -> None:
    """Show the profile FILE: how often functions, paths, blocks and edges were executed."""
    from trodden.report.render.plain import to_plain
    from trodden.report.views.summary import summarise

    rows = top or (TOP if shown.for_people else None)
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


def _page(summary: Summary, page: Page, brief: tuple[str, Presentation] | None) -> None:
    if brief is None:
        from trodden.report.render.terminal import print_tables

        print_tables(summary, page)
    else:
        from trodden.report.render.brief import print_brief

        file, shown = brief
        print_brief(summary, page, file, shown.screen.width, shown.screen.height)
