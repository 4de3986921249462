"""``trodden report``: the hottest functions, paths, blocks and edges."""

from __future__ import annotations

import json
import sys

import click

from trodden.api.profiles import load_process
from trodden.commands.click_options import function_option, json_option, process_option
from trodden.commands.output import put

TOP = 20


@click.command()
@click.argument("file", metavar="FILE", type=click.Path())
@click.option(
    "--top", metavar="N", type=click.IntRange(min=1), help=f"Rows per table ({TOP} at a terminal, else all)."
)
@function_option
@process_option
@json_option
def report(file: str, top: int | None, function: str | None, process: str | None, as_json: bool) -> None:
    """Show the profile FILE; columns are separated by tabs when the output is not a terminal."""
    from trodden.report.views.summary import summarise

    tables = sys.stdout.isatty() and not as_json
    summary = summarise(load_process(file, process), top or (TOP if tables else None), function)
    if as_json:
        put(json.dumps(summary.to_document(), indent=1) + "\n")
    elif tables:
        from trodden.report.render.pieces import Terminal
        from trodden.report.render.terminal import print_tables

        print_tables(summary, Terminal())
    else:
        from trodden.report.render.plain import to_plain

        put(to_plain(summary))
